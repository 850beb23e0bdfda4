"""Work through many files in batches, on all processors where that pays.

A batch is read, interpreted and judged by itself and then forgotten, so memory does not grow with the tree.  What a
batch finds does not depend on the others: the result is the same for any size of batch and number of processes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from graphlint.discover import Found
from graphlint.errors import Unreadable
from graphlint.source import Source, content, lines

R = TypeVar("R")
Job = Callable[[Sequence[Found]], R]

BATCH = 16
"""Files in a batch: enough to share what a library's models have in common, few enough to stay small."""

WORTHWHILE = 3 * BATCH
"""Files from which on processes are started: fewer take less time than importing `multiprocessing`."""

SAMPLE = 12
"""Files that are worked through before any process is forked, so that all of them begin with what these share."""

LOOKED_AT = 8 * SAMPLE
"""Files that are looked at to find these."""


def batches(files: Sequence[Found]) -> list[Sequence[Found]]:
    """The files in their order, in groups."""
    return [files[start : start + BATCH] for start in range(0, len(files), BATCH)]


def spread(files: Sequence[Found], job: Job[R]) -> Iterator[R]:
    """The result of `job` for every batch, in order; raises `Killed` if a process that works on it is."""
    if len(files) < WORTHWHILE or not hasattr(os, "fork"):
        yield from map(job, batches(files))
        return
    from graphlint.forked import forked  # 16 ms, which a small run would feel

    yield from forked(batches(files), _sample(files), job, processors())


def _sample(files: Sequence[Found]) -> Sequence[Found]:
    some = [each for each in files[:: len(files) // LOOKED_AT + 1] if _holds_model(each)]
    return some[:: len(some) // SAMPLE + 1]


def _holds_model(found: Found) -> bool:
    """Whether a file looks like one that takes long."""
    try:
        return b"def forward(" in content(found.path)
    except Unreadable:
        return False


def processors() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Texts(Mapping[str, Source]):
    """The files of a run by their reported names, parsed again when somebody asks for one."""

    def __init__(
        self,
        files: Sequence[Found],
        read: Callable[[Found], Source],
        known: Mapping[str, Source] | None = None,
        plain: Callable[[Found], str] | None = None,
    ) -> None:
        self._files = {each.name: each for each in files}
        self._read = read
        self._plain = plain or (lambda found: read(found).text)
        self._lines: dict[str, tuple[str, ...]] = {}
        self._known: dict[str, Source | None] = dict(known or {})

    def __getitem__(self, name: str) -> Source:
        if name not in self._known:
            try:
                self._known[name] = self._read(self._files[name])
            except Unreadable:
                self._known[name] = None
        source = self._known[name]
        if source is None:
            raise KeyError(name)
        return source

    def some(self, name: str, numbers: Iterable[int]) -> dict[int, str]:
        """Some lines of a file, which is not parsed for them; none of a file that cannot be read."""
        if name not in self._lines:
            source = self._known.get(name)
            self._lines[name] = lines(source) if source is not None else self._text(name)
        text = self._lines[name]
        return {number: text[number - 1] for number in sorted(numbers) if 0 < number <= len(text)}

    def _text(self, name: str) -> tuple[str, ...]:
        try:
            return tuple(self._plain(self._files[name]).split("\n")) if name in self._files else ()
        except Unreadable:
            return ()

    def __contains__(self, name: object) -> bool:
        return name in self._files or name in self._known

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys([*self._files, *self._known]))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def path(self, name: str) -> str:
        """Where a file is, without reading it."""
        found = self._files.get(name)
        return name if found is None else str(found.path)
