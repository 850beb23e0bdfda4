"""Findings and regions of a report that are made when somebody looks at them: of a large tree most stay as they are kept.

The numbers of a report need none of them, and a report for people is put together from pieces that were printed before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Protocol, TypeVar, overload

from graphlint.types import Effect, Finding, RegionReport

T = TypeVar("T")
Lines = Mapping[str, tuple[str, ...]]
RANK = ("breaks", "stale", "defeats", "clean")


class Later(Sequence[T]):
    """A sequence that is equal to the tuple it becomes."""

    def __init__(self, make: Callable[[], Iterable[T]]) -> None:
        self._make = make

    @cached_property
    def made(self) -> tuple[T, ...]:
        return tuple(self._make())

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[T, ...]: ...
    def __getitem__(self, index: int | slice) -> T | tuple[T, ...]:
        return self.made[index]

    def __len__(self) -> int:
        return len(self.made)

    def __iter__(self) -> Iterator[T]:
        return iter(self.made)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and self.made == tuple(other)

    def __hash__(self) -> int:
        return hash(self.made)


class LaterLines(Mapping[str, tuple[str, ...]]):
    """Lines by file that are put together when somebody asks for one."""

    def __init__(self, make: Callable[[], Lines]) -> None:
        self._make = make

    @cached_property
    def made(self) -> Lines:
        return self._make()

    def __getitem__(self, file: str) -> tuple[str, ...]:
        return self.made[file]

    def __len__(self) -> int:
        return len(self.made)

    def __iter__(self) -> Iterator[str]:
        return iter(self.made)


class Piece(Protocol):
    """What is told of one file, in numbers and in full; two pieces with the same key say the same."""

    @property
    def key(self) -> str: ...
    @property
    def effects(self) -> Mapping[str, int]: ...
    @property
    def codes(self) -> Collection[str]: ...
    @property
    def findings(self) -> Sequence[Finding]: ...
    @property
    def lines(self) -> Lines: ...


class Findings(Later[Finding]):
    """The findings of several files."""

    def __init__(self, pieces: Sequence[Piece]) -> None:
        super().__init__(lambda: (finding for each in pieces for finding in each.findings))
        self.pieces = pieces

    def __len__(self) -> int:
        return sum(sum(each.effects.values()) for each in self.pieces)


class Regions(Later[RegionReport]):
    """The regions of several files; `some` gives the worst of them.

    `clean` is the number of those without findings, `beyond` of those that lead to some in files that were not given.
    """

    def __init__(
        self,
        make: Callable[[], Iterable[RegionReport]],
        number: int,
        clean: int,
        beyond: int,
        some: Callable[[int], Sequence[RegionReport]],
    ) -> None:
        super().__init__(make)
        self._number = number
        self.clean = clean
        self.beyond = beyond
        self.some = some

    def __len__(self) -> int:
        return self._number


def by_effect(findings: Iterable[Finding]) -> dict[str, int]:
    """Findings of each effect, the gravest first, zeros included."""
    counted: Counter[str] = Counter()
    if isinstance(findings, Findings):
        for piece in findings.pieces:
            counted.update(piece.effects)
    else:
        counted.update(each.effect.value for each in findings)
    return {effect.value: counted[effect.value] for effect in Effect}


def codes(findings: Iterable[Finding]) -> frozenset[str]:
    """The codes of some findings."""
    if isinstance(findings, Findings):
        return frozenset(code for each in findings.pieces for code in each.codes)
    return frozenset(each.code for each in findings)


def clean(regions: Iterable[RegionReport]) -> int:
    """How many regions have no findings."""
    return regions.clean if isinstance(regions, Regions) else sum(each.verdict == "clean" for each in regions)


def beyond(regions: Iterable[RegionReport]) -> int:
    """How many regions lead to findings in files that were not given."""
    return regions.beyond if isinstance(regions, Regions) else sum(bool(each.elsewhere) for each in regions)


def worst(regions: Sequence[RegionReport], number: int) -> Sequence[RegionReport]:
    """The worst of some regions, the very worst first."""
    if isinstance(regions, Regions):
        return regions.some(number)
    return sorted(regions, key=lambda each: rank(each.verdict, each.findings, each.region.name))[:number]


def rank(verdict: str, findings: int, name: str) -> tuple[int, int, str]:
    """What sorts regions, the worst first."""
    return RANK.index(verdict), -findings, name
