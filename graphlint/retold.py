"""The report of a run that starts from what is kept: numbers at once, everything else when somebody asks for it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from heapq import nsmallest

from graphlint import baseline, pages
from graphlint.cache import rows, tree
from graphlint.cache.shelf import Shelf
from graphlint.cache.tree import Entry, Told
from graphlint.check import assembled, by_cell, by_place, together
from graphlint.later import Findings, LaterLines, Lines, Regions, rank
from graphlint.merge import Place, place
from graphlint.pages import Page
from graphlint.types import Finding, RegionReport, Report

Shown = tuple[Page, dict[str, dict[int, str]]]
Row = tuple[str, rows.Row]
"""The name of a file and the row of a region in it."""


@dataclass(eq=False, repr=False)
class Retold:
    """What is told of a tree; `anew` is a report from nothing, should anything kept turn out to be damaged."""

    pages: Mapping[str, Told]
    entries: Mapping[str, Entry]
    shelf: Shelf
    basis: str
    anew: Callable[[], Report]
    read: dict[str, Shown] = field(init=False, default_factory=dict)
    places: dict[str, frozenset[Place]] = field(init=False, default_factory=dict)

    def page(self, file: str) -> Shown:
        """What is told of a file, and the lines that are shown with it; raises `rows.WRONG`."""
        if file not in self.read:
            self.read[file] = tree.page(self.shelf.read(self.pages[file].text))
        return self.read[file]

    def has(self, at: Place) -> bool:
        """Whether something is told of a place; raises `rows.WRONG`."""
        file = at.span.file
        if file not in self.places:
            self.places[file] = frozenset(map(place, self.page(file)[0].findings)) if file in self.pages else frozenset()
        return at in self.places[file]

    def findings(self) -> list[Finding]:
        """Everything that is told; raises `rows.WRONG`."""
        return [each for file in self.pages for each in self.page(file)[0].findings]

    def report(self) -> Report:
        """The report on everything; raises `rows.WRONG`."""
        told = self.pages.values()
        if any(each.cells for each in self.entries.values()):
            return self.compared(baseline.Compared(tuple(self.findings()), 0, ()))
        pieces = [Piece(file, each, self) for file, each in self.pages.items()]
        return Report(
            findings=Findings(pieces),
            files=len(self.entries),
            regions=self._regions(),
            suppressed=sum(each.suppressed for each in told),
            unread=tuple(file for file, each in self.pages.items() if each.unread),
            hidden=sum(each.hidden for each in told),
            limits=sum(each.limits for each in told),
            lines=LaterLines(lambda: by_cell(together(each.numbered for each in pieces), {})),
        )

    def compared(self, fresh: baseline.Compared) -> Report:
        """The report on everything after a comparison with a baseline; raises `rows.WRONG`."""
        shown = list(map(self.page, self.pages))
        cells = {name: tuple((line, cell) for line, cell in e.cells) for name, e in self.entries.items() if e.cells}
        regions = [rows.region(row, name) for name, each in self.entries.items() for row in each.regions]
        lines = together(each for _, each in shown)
        return assembled([each for each, _ in shown], fresh, regions, len(self.entries), cells, lines)

    def again(self, file: str) -> Shown:
        """What is told of a file, found anew."""
        report = self._anew
        lines = {name: dict(enumerate(text, 1)) for name, text in report.lines.items()}
        return Page(tuple(each for each in report.findings if each.span.file == file)), lines

    @cached_property
    def _anew(self) -> Report:
        return self.anew()

    def _regions(self) -> Regions:
        every = joined((name, row) for name, each in self.entries.items() for row in each.regions)
        faulty = [each for each in every if each[1][VERDICT] != "clean"]

        def made() -> Iterator[RegionReport]:
            yield from sorted((rows.region(row, name) for name, row in every), key=by_place)

        def some(number: int) -> Sequence[RegionReport]:
            return [
                rows.region(row, name)
                for name, row in nsmallest(number, faulty if number <= len(faulty) else every, key=_rank)
            ]

        beyond = sum(bool(row[ELSEWHERE]) for _, row in faulty)
        return Regions(made, len(every), len(every) - len(faulty), beyond, some)


NAME, FILE, LINE, VERDICT, FINDINGS, ELSEWHERE = 0, 2, 3, 7, 8, 11


def joined(every: Iterator[Row]) -> list[Row]:
    """One row a region, as `pages.joined` has one report a region."""
    first: dict[tuple[str, str, int], Row] = {}
    more: dict[tuple[str, str, int], list[Row]] = {}
    for each in every:
        name, row = each
        key = row[NAME], row[FILE] or name, row[LINE]
        if first.setdefault(key, each) is not each:
            more.setdefault(key, [first[key]]).append(each)
    for key, group in more.items():
        (one,) = pages.joined(rows.region(row, name) for name, row in group)
        first[key] = one.region.span.file, rows.region_row(one, one.region.span.file)
    return list(first.values())


def _rank(each: Row) -> tuple[tuple[int, int, str], str, int]:
    name, row = each
    return rank(row[VERDICT], row[FINDINGS], row[NAME]), row[FILE] or name, row[LINE]


@dataclass(frozen=True, eq=False, repr=False)
class Piece:
    """What is told of one file."""

    file: str
    told: Told
    whole: Retold

    @property
    def key(self) -> str:
        """What the text of this piece rests on: what is told, and graphlint itself, which words it."""
        return self.whole.basis + self.told.text.digest

    @property
    def effects(self) -> Mapping[str, int]:
        return self.told.effects

    @property
    def codes(self) -> Collection[str]:
        return self.told.codes

    @property
    def findings(self) -> Sequence[Finding]:
        return self._shown[0].findings

    @property
    def numbered(self) -> Mapping[str, Mapping[int, str]]:
        """The lines that are shown, by number."""
        return self._shown[1]

    @cached_property
    def lines(self) -> Lines:
        return by_cell(self.numbered, {})

    @cached_property
    def _shown(self) -> Shown:
        try:
            return self.whole.page(self.file)
        except rows.WRONG:
            return self.whole.again(self.file)
