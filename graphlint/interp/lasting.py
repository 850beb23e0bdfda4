"""A project that lasts over the batches of one run, with everything that was computed over it.

What the models of a library share is read and run once a process: a process that is forked finds what was known before.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path

from graphlint.interp.readout import Reader, RegionEvents
from graphlint.interp.told import Told
from graphlint.project import Module, Project
from graphlint.roots import Roots
from graphlint.source import Source

Read = Callable[[Path, str], Source]


class Lasting:
    """The project of the files that were asked for so far; nothing may change on disk while it lasts."""

    def __init__(self) -> None:
        self._ground: tuple[object, ...] = ()
        self._project = Project(())
        self._reader = Reader(self._project)

    def over(
        self,
        sources: Sequence[Source],
        reader: Read,
        names: Mapping[str, str],
        roots: Roots | None,
        named: Collection[str],
        told: Told,
    ) -> tuple[Project, Callable[[Module], Iterator[RegionEvents]]]:
        """The project with some files in it, and what reads their regions."""
        ground = (roots, names, tuple(named), told.said)
        if roots is None or ground != self._ground or not self._project.take(sources):
            self._project = Project(sources, reader, names, roots)
            self._reader = Reader(self._project, named, told)
            self._ground = ground
        return self._project, self._reader.regions
