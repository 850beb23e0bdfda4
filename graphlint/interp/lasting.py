"""A project that lasts over the batches of one run, with everything that was computed over it.

What the models of a library share is read and run once a process: a process that is forked finds what was known before.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path

from graphlint.interp.readout import Reader, RegionEvents
from graphlint.interp.told import Told
from graphlint.project import Module, Project
from graphlint.record import NamedTuple
from graphlint.roots import Roots
from graphlint.source import Source

Read = Callable[[Path, str], Source]
Regions = Callable[[Module], Iterator[RegionEvents]]


class Ground(NamedTuple):
    """What a project stands on beside its files: see `interpret`."""

    reader: Read
    names: Mapping[str, str]
    roots: Roots | None
    named: Collection[str]
    told: Told


class Lasting:
    """The project of the files that were asked for so far; nothing may change on disk while it lasts."""

    def __init__(self) -> None:
        self._key: tuple[object, ...] = ()
        self._project = Project(())
        self._reader = Reader(self._project)

    def over(self, sources: Sequence[Source], ground: Ground) -> tuple[Project, Regions]:
        """The project with some files in it, and what reads their regions."""
        reader, names, roots, named, told = ground
        key = (roots, names, tuple(named), told.said)
        if roots is None or key != self._key or not self._project.take(sources):
            self._project = Project(sources, reader, names, roots)
            self._reader = Reader(self._project, named, told)
            self._key = key
        return self._project, self._reader.regions
