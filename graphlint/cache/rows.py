"""Findings, regions and accounts as plain lists, which is all that JSON can hold, and back.

What cannot be understood raises `ValueError`, `TypeError`, `KeyError` or `IndexError`, never anything else.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from graphlint.account import Account, Effects, Judged, Lines, Own
from graphlint.merge import Place
from graphlint.pages import Page
from graphlint.suppress import Mark, Marks
from graphlint.types import Confidence, Edit, Effect, Finding, Fix, Region, RegionReport, Span, Step

Row = list[Any]
"""What JSON reads back as a list; each function below says what is in it by taking it apart."""

WRONG = (ValueError, TypeError, KeyError, IndexError, AttributeError)
EFFECTS = {each.value: each for each in Effect}
SURE = tuple(Confidence)


def _effects(row: Iterable[Row]) -> Effects:
    return tuple((name, EFFECTS[effect]) for name, effect in row)


def finding_row(each: Finding) -> Row:
    fix = each.fix
    return [
        each.code,
        each.rule,
        each.span,
        each.message,
        each.effect,
        each.effects,
        each.confidence,
        each.help,
        each.region,
        each.trail,
        None if fix is None else [fix.title, fix.safety, [[edit.span, edit.text] for edit in fix.edits]],
        each.fingerprint,
        each.regions,
    ]


def finding(row: Row) -> Finding:
    code, rule, span, message, effect, effects, sure, help, region, trail, fix, fingerprint, regions = row
    return Finding(
        code,
        rule,
        Span(*span),
        message,
        EFFECTS[effect],
        _effects(effects),
        SURE[sure],
        help,
        region,
        tuple(Step(Span(*place), function) for place, function in trail),
        None if fix is None else _fix(*fix),
        fingerprint,
        tuple(regions),
    )


def _fix(title: str, safety: str, edits: Iterable[Row]) -> Fix:
    return Fix(title, safety, tuple(Edit(Span(*span), text) for span, text in edits))


def region_row(each: RegionReport) -> Row:
    region = each.region
    return [region.name, region.kind, region.span, each.verdict, each.findings, each.unknown_calls, each.counts]


def region(row: Row) -> RegionReport:
    name, kind, span, verdict, findings, unknown, counts = row
    told = tuple((effect, number) for effect, number in counts)
    return RegionReport(Region(name, kind, Span(*span)), verdict, findings, unknown, told)


def page_row(each: Page) -> Row:
    unchecked = sorted([place.span, place.code] for place in each.unchecked)
    return [list(map(finding_row, each.findings)), each.suppressed, each.hidden, each.limits, unchecked]


def page(row: Row) -> Page:
    findings, suppressed, hidden, limits, unchecked = row
    places = frozenset(Place(Span(*span), code) for span, code in unchecked)
    return Page(tuple(map(finding, findings)), suppressed, hidden, limits, places)


def account_row(each: Account) -> Row:
    marks = None if each.marks is None else [each.marks.marks, list(map(finding_row, each.marks.notices))]
    return [
        each.file,
        list(map(finding_row, each.found)),
        list(map(finding_row, each.broken)),
        [_judged_row(judged) for judged in each.regions],
        lines_row(each.lines),
        marks,
        each.cells,
        sorted(each.compiled),
        sorted(each.captured),
        sorted(each.used),
    ]


def account(row: Row) -> Account:
    file, found, broken, regions, lines, marks, cells, compiled, captured, used = row
    return Account(
        file,
        tuple(map(finding, found)),
        tuple(map(finding, broken)),
        tuple(_judged(*judged) for judged in regions),
        lines_of(lines),
        None if marks is None else _marks(*marks),
        tuple((line, cell) for line, cell in cells),
        frozenset(compiled),
        frozenset(captured),
        frozenset(used),
    )


def lines_row(lines: Lines) -> Row:
    return [[file, list(some.items())] for file, some in lines.items()]


def lines_of(row: Row) -> dict[str, dict[int, str]]:
    return {file: dict(some) for file, some in row}


def _judged_row(each: Judged) -> Row:
    region = each.region
    return [region.name, region.kind, region.span, each.own, each.unknown_calls, each.finished]


def _judged(name: str, kind: str, span: Row, own: Iterable[Row], unknown: int, finished: bool) -> Judged:
    mine = tuple(Own(number, _effects(effects), SURE[sure]) for number, effects, sure in own)
    return Judged(Region(name, kind, Span(*span)), mine, unknown, finished)


def _marks(marks: Iterable[Row], notices: Iterable[Row]) -> Marks:
    read = tuple(Mark(code, first, last, Span(*span), word) for code, first, last, span, word in marks)
    return Marks(read, tuple(map(finding, notices)))
