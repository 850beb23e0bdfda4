"""Findings, regions and accounts as plain lists, which is all that JSON can hold, and back.

Most text is said again and again (files, functions, regions, cures), so it is kept once in a table and referred to by
number.  What cannot be understood raises one of `WRONG`, never anything else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from graphlint.account import Account, Away, Effects, Judged, Lines, Own, Part
from graphlint.merge import Place
from graphlint.pages import Page
from graphlint.suppress import Mark, Marks
from graphlint.types import Confidence, Edit, Effect, Finding, Fix, Region, RegionReport, Span, Step

Row = list[Any]
"""What JSON reads back as a list; each function below says what is in it by taking it apart."""

WRONG = (ValueError, TypeError, KeyError, IndexError, AttributeError)
EFFECTS = {each.value: each for each in Effect}
SURE = tuple(Confidence)


class Table:
    """Texts by number."""

    def __init__(self, texts: Sequence[str] = ()) -> None:
        self.texts = list(texts)
        self._numbers = {text: number for number, text in enumerate(self.texts)}
        self._effects: dict[int, Effects] = {}

    def number(self, text: str) -> int:
        """The place of a text in the table, where it is entered if it is new."""
        found = self._numbers.get(text)
        if found is None:
            found = self._numbers[text] = len(self.texts)
            self.texts.append(text)
        return found

    def span_row(self, span: Span) -> Row:
        return [self.number(span.file), *span[1:]]

    def span(self, row: Row) -> Span:
        file, line, column, end_line, end_column = row
        return Span(self.texts[file], line, column, end_line, end_column)

    def effects_row(self, effects: Effects) -> int:
        return self.number(" ".join(f"{name} {effect.value}" for name, effect in effects))

    def effects(self, number: int) -> Effects:
        """The effects that `effects_row` wrote; those of many findings are one object."""
        if number not in self._effects:
            words = self.texts[number].split(" ")
            self._effects[number] = tuple((name, EFFECTS[effect]) for name, effect in zip(words[::2], words[1::2]))
        return self._effects[number]

    def finding_row(self, each: Finding) -> Row:
        """A finding in numbers and texts that JSON holds; `finding` reads it back."""
        fix = each.fix
        return [
            self.number(each.code),
            self.number(each.rule),
            self.span_row(each.span),
            each.message,
            self.effects_row(each.effects),
            each.confidence,
            self.number(each.help),
            self.number(each.region),
            [[*self.span_row(step.span), self.number(step.function)] for step in each.trail],
            [] if fix is None else [fix.title, fix.safety, [[self.span_row(edit.span), edit.text] for edit in fix.edits]],
            each.fingerprint,
            list(map(self.number, each.regions)),
        ]

    def finding(self, row: Row) -> Finding:
        """The finding that `finding_row` wrote."""
        code, rule, span, message, effects, sure, help, region, trail, fix, fingerprint, regions = row
        texts, known = self.texts, self.effects(effects)
        return Finding(
            texts[code],
            texts[rule],
            self.span(span),
            message,
            known[0][1],
            known,
            SURE[sure],
            texts[help],
            texts[region],
            tuple(Step(self.span(step[:5]), texts[step[5]]) for step in trail),
            self._fix(*fix) if fix else None,
            fingerprint,
            tuple(map(texts.__getitem__, regions)),
        )

    def _fix(self, title: str, safety: str, edits: Iterable[Row]) -> Fix:
        return Fix(title, safety, tuple(Edit(self.span(span), text) for span, text in edits))

    def page_row(self, each: Page) -> Row:
        unchecked = sorted((self.span_row(place.span), place.code) for place in each.unchecked)
        return [self.all(each.findings), each.suppressed, each.hidden, each.limits, unchecked]

    def page(self, row: Row) -> Page:
        findings, suppressed, hidden, limits, unchecked = row
        places = frozenset(Place(self.span(span), code) for span, code in unchecked)
        return Page(tuple(map(self.finding, findings)), suppressed, hidden, limits, places)

    def lines_row(self, lines: Lines) -> Row:
        return [[self.number(file), list(some.items())] for file, some in lines.items()]

    def lines(self, row: Row) -> dict[str, dict[int, str]]:
        return {self.texts[file]: dict(some) for file, some in row}

    def judged_row(self, each: Judged, found: Sequence[Finding]) -> Row:
        region = each.region
        own = [self._own_row(one, found[one.number]) for one in each.own]
        row = [self.number(region.name), region.kind, self.span_row(region.span), own, each.unknown_calls, each.finished]
        return [*row, [self._away_row(one) for one in each.away]]

    def _own_row(self, own: Own, finding: Finding) -> int | Row:
        """Mostly a region has a finding just as the whole file has it."""
        if (own.effects, own.confidence) == (finding.effects, finding.confidence):
            return own.number
        return [own.number, self.effects_row(own.effects), own.confidence]

    def judged(self, row: Row, found: Sequence[Finding]) -> Judged:
        name, kind, span, own, unknown, finished, away = row
        mine = tuple(self._own(each, found) for each in own)
        region = Region(self.texts[name], kind, self.span(span))
        return Judged(region, mine, unknown, finished, tuple(map(self._away, away)))

    def _away_row(self, each: Away) -> Row:
        return [*map(self.number, (each.code, each.rule, each.file)), self.effects_row(each.effects), each.confidence]

    def _away(self, row: Row) -> Away:
        code, rule, file, effects, sure = row
        return Away(self.texts[code], self.texts[rule], self.texts[file], self.effects(effects), SURE[sure])

    def _own(self, row: int | Row, found: Sequence[Finding]) -> Own:
        if isinstance(row, int):
            return Own(row, found[row].effects, found[row].confidence)
        number, effects, sure = row
        return Own(number, self.effects(effects), SURE[sure])

    def marks_row(self, each: Marks) -> Row:
        return [[[*mark[:3], self.span_row(mark.span), mark.word] for mark in each.marks], self.all(each.notices)]

    def marks(self, row: Row) -> Marks:
        marks, notices = row
        read = tuple(Mark(code, first, last, self.span(span), word) for code, first, last, span, word in marks)
        return Marks(read, tuple(map(self.finding, notices)))

    def all(self, findings: Iterable[Finding]) -> Row:
        return list(map(self.finding_row, findings))


def account_rows(each: Account, parts: Mapping[str, Part]) -> list[Row]:
    """The regions of an account, then its parts, each with a table of its own."""
    table = Table()
    regions = [table.judged_row(judged, each.found) for judged in each.regions]
    return [[table.texts, each.file, regions], *map(part_row, parts.values())]


def account(row: Row, parts: Iterable[Part]) -> Account:
    """The regions of a file with what was found in them."""
    texts, file, regions = row
    found = tuple(each for part in parts for each in part.found)
    return Account(file, found, regions=tuple(Table(texts).judged(judged, found) for judged in regions))


def part_row(each: Part) -> Row:
    table = Table()
    own = [table.all(each.found), table.all(each.broken), table.lines_row(each.lines)]
    return [table.texts, *own, [] if each.marks is None else table.marks_row(each.marks)]


def part(row: Row) -> Part:
    """What `part_row` wrote, each with a table of its own."""
    texts, found, broken, lines, marks = row
    table = Table(texts)
    read = table.marks(marks) if marks else None
    return Part(tuple(map(table.finding, found)), tuple(map(table.finding, broken)), table.lines(lines), read)


def page_row(each: Page, lines: Lines) -> Row:
    """A page with the lines that it shows."""
    table = Table()
    own = table.page_row(each)
    return [table.texts, own, table.lines_row(lines)]


def page(row: Row) -> tuple[Page, dict[str, dict[int, str]]]:
    """The page that `page_row` wrote, and the lines that it shows by file and number."""
    texts, own, lines = row
    table = Table(texts)
    return table.page(own), table.lines(lines)


def region_row(each: RegionReport, file: str) -> Row:
    """A region as a file tells of it; its own name is left empty."""
    region = each.region
    where = "" if region.span.file == file else region.span.file
    told = [each.verdict, each.findings, each.unknown_calls, each.counts, each.elsewhere]
    return [region.name, region.kind, where, *region.span[1:], *told]


def region(row: Row, file: str) -> RegionReport:
    """The region that `region_row` wrote, as that file tells of it."""
    name, kind, where, line, column, end_line, end_column, verdict, findings, unknown, counts, away = row
    told, elsewhere = (tuple((effect, number) for effect, number in each) for each in (counts, away))
    place = Span(where or file, line, column, end_line, end_column)
    return RegionReport(Region(name, kind, place), verdict, findings, unknown, told, elsewhere)
