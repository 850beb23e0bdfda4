"""A project that stays while files change under an editor's hands, with everything that was computed over it.

Only what rests on a changed file is dropped.  Where nothing else does, as with most models, what all other code does is
known already; the changed file is then like one more file of a batch.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from graphlint.effects import table
from graphlint.interp.lasting import Ground, Regions
from graphlint.interp.readout import Reader, RegionEvents
from graphlint.interp.told import Told
from graphlint.project import Module, Project
from graphlint.roots import Roots
from graphlint.source import Source
from graphlint.values.base import forget, known

MOST = 100
"""Changes after which everything is dropped: results of code that is gone stay in memory until then."""

Looks = dict[str, tuple[int, ...]]


class Standing:
    """The project of a server between two checks; one a process, as beginning anew drops the values of all others."""

    def __init__(self) -> None:
        self._values = known()
        self._key: tuple[object, ...] = ()
        self._project = Project(())
        self._reader = Reader(self._project)
        self._given: dict[Path, Module] = {}
        self._events: dict[Module, list[RegionEvents]] = {}
        self._read: Looks = {}
        self._folders: Looks = {}
        self._changes = 0

    def over(self, sources: Sequence[Source], ground: Ground) -> tuple[Project, Regions]:
        """The project of some files as they are now, and what reads their regions."""
        _, names, roots, named, told = ground
        roots = roots or Roots((each.path for each in sources), table.parts)
        key = (tuple(sorted(names.items())), roots.folders, tuple(named), told.said)
        if key != self._key or self._changes > MOST or not self._stands() or not self._renew(sources, named, told):
            self._begin(sources, ground._replace(roots=roots))
            self._key = key
        return self._project, self._regions

    def _begin(self, sources: Sequence[Source], ground: Ground) -> None:
        self._events, self._read, self._folders, self._changes = {}, {}, {}, 0
        forget(self._values)

        def noted(path: Path, name: str) -> Source:
            self._read[str(path)] = _look(str(path))
            return ground.reader(path, name)

        self._project = Project(sources, noted, ground.names, ground.roots)
        self._reader = Reader(self._project, ground.named, ground.told)
        self._given = {module.source.path: module for module in self._project.given}
        gc.unfreeze()  # what the desk set aside is garbage now
        gc.collect()

    def _stands(self) -> bool:
        """Whether what was read from disk is as it was, and no name can have come to stand for another file."""
        return all(_look(path) == seen for seen_all in (self._read, self._folders) for path, seen in seen_all.items())

    def _renew(self, sources: Sequence[Source], named: Collection[str], told: Told) -> bool:
        """Take the changed files in, and drop what rested on them; false if they cannot be taken in.

        A file that cannot be parsed for a moment is left out, if nobody else looks into it, and comes back later.
        """
        paths = {each.path for each in sources}
        lost = [module for path, module in self._given.items() if path not in paths]
        if not paths <= self._given.keys() or len(self._project.rests_on(lost)) > len(lost):
            return False
        changed = {known: each for each in sources if (known := self._given[each.path]).source is not each}
        if changed:
            fresh = self._project.renew(changed)
            self._changes += len(changed)
            self._given = {path: fresh.get(module, module) for path, module in self._given.items()}
            self._events = {module: found for module, found in self._events.items() if module not in fresh}
            if len(fresh) > len(changed):
                self._reader = Reader(self._project, named, told)
        self._project.given = [self._given[each.path] for each in sources]
        return True

    def _regions(self, module: Module) -> Iterator[RegionEvents]:
        """The regions of a file, from what is known if nothing they rest on has changed."""
        found = self._events.get(module)
        if found is not None:
            yield from found
            return
        fresh: list[RegionEvents] = []
        for each in self._reader.regions(module):
            fresh.append(each)
            yield each
        self._events[module] = fresh
        self._folders.update((path, _look(path)) for path in self._project.folders() if path not in self._folders)


def _look(path: str) -> tuple[int, ...]:
    try:
        status = os.stat(path)
    except OSError:
        return ()
    size = status.st_size if not os.path.isdir(path) else 0
    return status.st_mtime_ns, status.st_ctime_ns, status.st_ino, size
