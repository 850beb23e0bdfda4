"""What the analysis of one file led to, by itself: everything a report needs of it, with nothing of other files in it.

An account is plain data.  It depends on the file, on what its code looks into, on the rules and on those settings that
say what is a region; the settings that choose among findings come after it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Protocol

from graphlint.merge import merged, place
from graphlint.record import NamedTuple, Record, frozen
from graphlint.suppress import Marks
from graphlint.types import Confidence, Effect, Finding, Region, Span

Effects = tuple[tuple[str, Effect], ...]
Lines = Mapping[str, Mapping[int, str]]
"""The text of lines by file and number."""


class Own(NamedTuple):
    """A finding as one region has it: its number among those of the file, with this region's effects and confidence."""

    number: int
    effects: Effects
    confidence: Confidence


class Away(NamedTuple):
    """A finding of a region in a file that the run does not check: what is needed to count it."""

    code: str
    rule: str
    file: str
    effects: Effects
    confidence: Confidence


@frozen
class Judged(Record):
    """A region with what its events led to; `finished` is false where the analysis failed in it.

    `away` is what it led to in files that the run does not check.
    """

    region: Region
    own: tuple[Own, ...]
    unknown_calls: int
    finished: bool = True
    away: tuple[Away, ...] = ()


@frozen
class Account(Record):
    """What one file led to.

    `found` has one finding a place, in this file or in another; `broken` says what was not looked at.  `lines` are those
    that the findings point to.  `cells` is that of the source.  `used` are the classes of this file whose `forward` was
    taken to be compiled only, because of what this file does (`compiled`, `captured`: classes of any file) or others do.
    """

    file: str
    found: tuple[Finding, ...] = ()
    broken: tuple[Finding, ...] = ()
    regions: tuple[Judged, ...] = ()
    lines: Lines = field(default_factory=dict)
    marks: Marks | None = None
    cells: tuple[tuple[int, int], ...] = ()
    compiled: frozenset[str] = frozenset()
    captured: frozenset[str] = frozenset()
    used: frozenset[str] = frozenset()


class Part(NamedTuple):
    """What an account says of one file; `lines` are those that are shown with it, `marks` those of the file itself."""

    found: tuple[Finding, ...]
    broken: tuple[Finding, ...]
    lines: Lines
    marks: Marks | None


def parts(account: Account) -> dict[str, Part]:
    """An account by the files that it says something of, in the order of its findings."""
    said: dict[str, tuple[list[Finding], list[Finding]]] = {}
    for each in account.found:
        said.setdefault(each.span.file, ([], []))[0].append(each)
    for each in account.broken:
        said.setdefault(each.span.file, ([], []))[1].append(each)
    if account.marks is not None and any(account.marks):
        said.setdefault(account.file, ([], []))
    return {
        file: Part(
            tuple(found),
            tuple(broken),
            needed((*found, *broken), account.lines, marked(account) if file == account.file else ()),
            account.marks if file == account.file else None,
        )
        for file, (found, broken) in said.items()
    }


def needed(findings: Iterable[Finding], lines: Lines, besides: Iterable[Span] = ()) -> dict[str, dict[int, str]]:
    """The lines that findings, and other places, point to, of those at hand."""
    wanted: dict[str, dict[int, str]] = {}
    for span in (*(span for each in findings for span in spans(each)), *besides):
        text = lines.get(span.file, {})
        wanted.setdefault(span.file, {}).update((each, text[each]) for each in (span.line, span.end_line) if each in text)
    return wanted


def marked(account: Account) -> Iterator[Span]:
    """The places of a file's marks, of which something may have to be said."""
    if account.marks is not None:
        yield from (each.span for each in account.marks.marks)
        yield from (each.span for each in account.marks.notices)


def spans(finding: Finding) -> Iterator[Span]:
    """Every place that a finding speaks of."""
    yield finding.span
    yield from (step.span for step in finding.trail)
    yield from (edit.span for edit in finding.fix.edits) if finding.fix is not None else ()


class Told(NamedTuple):
    """A region with its findings as the rules gave them; `away` are those in files that the run does not check."""

    region: Region
    findings: tuple[Finding, ...]
    unknown_calls: int
    finished: bool = True
    away: tuple[Finding, ...] = ()


def joined(told: Iterable[Told]) -> tuple[tuple[Finding, ...], tuple[Judged, ...]]:
    """The findings of some regions, one a place, and the regions with references to them.

    A capture that several functions lead to is told once by each: it is one region, with one finding a place.
    """
    same: dict[tuple[str, str, int], list[Told]] = {}
    for each in told:
        span = each.region.span
        same.setdefault((each.region.name, span.file, span.line), []).append(each)
    regions = [(_one(group), merged(one for each in group for one in each.findings)) for group in same.values()]
    found = merged(finding for _, own in regions for finding in own)
    number = {place(each): index for index, each in enumerate(found)}
    return found, tuple(
        Judged(
            each.region,
            tuple(Own(number[place(one)], one.effects, one.confidence) for one in own),
            each.unknown_calls,
            each.finished,
            tuple(Away(one.code, one.rule, one.span.file, one.effects, one.confidence) for one in each.away),
        )
        for each, own in regions
    )


def _one(group: Sequence[Told]) -> Told:
    """A region that was told several times: the calls that are not understood in it are the same each time."""
    if len(group) == 1:
        return group[0]
    return Told(
        min((each.region for each in group), key=lambda region: (region.kind, region.span)),
        (),
        max(each.unknown_calls for each in group),
        all(each.finished for each in group),
        merged(one for each in group for one in each.away),
    )


class Runs(Protocol):
    """Whatever tells which classes a file compiles and which it captures."""

    @property
    def compiled(self) -> Collection[str]: ...
    @property
    def captured(self) -> Collection[str]: ...


def only_compiled(files: Iterable[Runs]) -> frozenset[str]:
    """The classes whose `forward` is compiled somewhere and captured nowhere."""
    known = list(files)
    compiled = frozenset(name for each in known for name in each.compiled)
    return compiled - frozenset(name for each in known for name in each.captured) if compiled else compiled
