"""Accounts become pages: what is told of one file, whichever files it was found from, after the choices of the user.

A page needs only what was found in its own file and the comments there, so pages are made one by one.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from graphlint import baseline, suppress
from graphlint.account import Account, Judged, Lines, Part
from graphlint.config import Config
from graphlint.discover import Found, excludes
from graphlint.merge import BITS, Place, merged, narrowed, place
from graphlint.notices import INTERNAL, LIMIT, UNREADABLE, Notice
from graphlint.record import Record, frozen
from graphlint.registry import Registry, is_chosen, worst
from graphlint.rule import Rule
from graphlint.source import Source
from graphlint.types import Effect, Finding, RegionReport, Target

ALWAYS = frozenset({UNREADABLE.code, INTERNAL.code})


@frozen
class Page(Record):
    """What is told of one file; `findings` have fingerprints, `hidden` and `limits` count what is left out.

    `unchecked` are the findings that say what was not looked at.
    """

    findings: tuple[Finding, ...] = ()
    suppressed: int = 0
    hidden: int = 0
    limits: int = 0
    unchecked: frozenset[Place] = frozenset()


@frozen
class Entries(Record):
    """Everything that was found in one file, from any file, with its comments."""

    found: list[Finding] = field(default_factory=list)
    broken: list[Finding] = field(default_factory=list)
    marks: list[suppress.Marks] = field(default_factory=list)


def entries(accounts: Iterable[Account]) -> dict[str, Entries]:
    """What was found, by the file in which it was found."""
    by_file: dict[str, Entries] = {}
    for account in accounts:
        if account.marks is not None and any(account.marks):
            by_file.setdefault(account.file, Entries()).marks.append(account.marks)
        for each in account.found:
            by_file.setdefault(each.span.file, Entries()).found.append(each)
        for each in account.broken:
            by_file.setdefault(each.span.file, Entries()).broken.append(each)
    return by_file


def inside(said: Iterable[Part]) -> Entries:
    """What several accounts say of one file."""
    every = Entries()
    for each in said:
        every.found.extend(each.found)
        every.broken.extend(each.broken)
        every.marks.extend([] if each.marks is None else [each.marks])
    return every


@dataclass(frozen=True, eq=False, repr=False)
class Chooser:
    """The choices of the user: what is selected, shown and accepted; `path` says where a reported file is."""

    config: Config
    registry: Registry
    path: Callable[[str], str]
    sources: Mapping[str, Source]

    @cached_property
    def active(self) -> frozenset[str]:
        """The codes that could have been found in this run."""
        return frozenset(page.code for page in self.registry.pages if self._is_active(page))

    @cached_property
    def ignored(self) -> Callable[[str], tuple[str, ...]]:
        """The codes that the configuration leaves out in a file, by the file's path."""
        if not self.config.per_file_ignores:
            return lambda path: ()
        from graphlint import perfile  # here because few configurations leave anything out

        return perfile.ignored(self.config)

    def page(self, file: str, inside: Entries, lines: Lines) -> Page:
        """Put together and choose from what was found in one file."""
        selected = self._selected(merged([*inside.found, *inside.broken]))
        left = [each.code for each in selected if not self._is_shown(each)]
        kept = self._accepted(file, selected, inside.marks[0] if inside.marks else None)
        text = lines.get(file, {})
        told = baseline.fingerprinted(kept.findings, lambda span: text.get(span.line, ""), self.home)
        return Page(
            told,
            kept.suppressed,
            len(left) - left.count(LIMIT.code),
            sum(each.code == LIMIT.code for each in selected),
            frozenset(map(place, inside.broken)),
        )

    def regions(self, account: Account, kept: Callable[[Place], bool]) -> Iterator[RegionReport]:
        """What is predicted for the regions of a file, of what was kept."""
        for each in account.regions:
            told = self._region(each, account, kept)
            # One that was not looked at to its end is never called clean.
            if each.finished or told.findings:
                yield told

    def _region(self, judged: Judged, account: Account, kept: Callable[[Place], bool]) -> RegionReport:
        effects: list[Effect] = []
        for number, own, confidence in judged.own:
            finding = account.found[number]
            if confidence >= self.config.min_confidence or self._is_asked(finding):
                live = narrowed(finding, own, self.config.target)
                if live is not None and self._is_chosen(finding) and kept(place(finding)):
                    effects.append(live.effect)
        counts, away = counted(effects), counted(self._away(judged))
        faults = [Effect(effect) for effect, _ in (*counts, *away)]
        verdict = worst(faults).value if faults else "clean"
        number = sum(number for _, number in counts)
        return RegionReport(judged.region, verdict, number, judged.unknown_calls, counts, away)

    def _away(self, judged: Judged) -> Iterator[Effect]:
        """The effects of what a region leads to in files that the run does not check, as far as the user asks for it."""
        for each in judged.away:
            live = [effect for name, effect in each.effects if BITS[name] & self.config.target]
            if live and each.confidence >= self.config.min_confidence and self._is_wanted(each.code, each.rule, each.file):
                if not self._is_left_out(each.file):
                    yield live[0]

    def _is_left_out(self, file: str) -> bool:
        known, exclude = self._left_out, self.config.exclude
        if exclude and file not in known:
            known[file] = excludes(Found(Path(file), file), exclude, self.config.root)
        return known.get(file, False)

    @cached_property
    def _left_out(self) -> dict[str, bool]:
        """Of files that the run does not check, whether `exclude` leaves them out: patterns take long to compile."""
        return {}

    def home(self, file: str) -> str:
        """The name of a file relative to the root of the configuration, wherever the run started."""
        return home(file, self.path(file), self.config)

    def _selected(self, findings: Iterable[Finding]) -> tuple[Finding, ...]:
        live = (narrowed(each, each.effects, self.config.target) for each in findings if self._is_chosen(each))
        return tuple(each for each in live if each is not None)

    def _is_chosen(self, finding: Finding) -> bool:
        return self._is_wanted(finding.code, finding.rule, self.path(finding.span.file))

    def _is_wanted(self, code: str, rule: str, path: str) -> bool:
        select = () if code in ALWAYS else self.config.select
        left_out = self.ignored(path)
        return is_chosen(code, rule, select, self.config.ignore) and (not left_out or is_chosen(code, rule, (), left_out))

    def _is_shown(self, finding: Finding) -> bool:
        """Sure enough, or a limit that was asked for by its code: limits are many, so they are only counted otherwise."""
        return finding.confidence >= self.config.min_confidence or self._is_asked(finding)

    def _is_asked(self, finding: Finding) -> bool:
        return finding.code == LIMIT.code and (LIMIT.code in self.config.select or LIMIT.name in self.config.select)

    def _accepted(self, file: str, findings: tuple[Finding, ...], marks: suppress.Marks | None) -> suppress.Kept:
        """Honour the comments of a file, and add notices about comments that are wrong or useless.

        Comments may speak of findings that are hidden; only those that are shown are counted and kept.
        """
        read = {file: marks} if marks is not None else {}
        kept = suppress.apply(findings, read)
        about = [each for found in read.values() for each in found.notices]
        about += suppress.unused(kept.unused, self.active, self.sources)
        shown = [each for each in kept.findings if self._is_shown(each)]
        suppressed = sum(map(self._is_shown, findings)) - len(shown)
        said = [each for each in self._selected(about) if self._is_shown(each)]
        return suppress.Kept(tuple(sorted((*shown, *said), key=place)), suppressed, kept.unused)

    def _is_active(self, page: Rule | Notice) -> bool:
        if isinstance(page, Rule):
            effects = ((Target.GRAPH, page.predicts), (Target.COMPILE, page.compile))
            if not any(effect and target & self.config.target for target, effect in effects):
                return False
        return is_chosen(page.code, page.name, self.config.select, self.config.ignore)


def counted(effects: Iterable[Effect]) -> tuple[tuple[str, int], ...]:
    """Faults by effect, the gravest first."""
    found = Counter(effects)
    return tuple((effect.value, found[effect]) for effect in Effect if found[effect] and effect is not Effect.NOTE)


def home(file: str, path: str, config: Config) -> str:
    """The name of a file at a path relative to the root of the configuration, if it is below that."""
    root = os.path.join(os.path.abspath(config.root), "")
    full = os.path.abspath(path)
    return full.removeprefix(root).replace(os.sep, "/") if full.startswith(root) else file


def joined(reports: Iterable[RegionReport]) -> Iterator[RegionReport]:
    """One report a region: what is done to it from outside may have been found in another file than what it does."""
    same: dict[tuple[str, str, int], list[RegionReport]] = {}
    for each in reports:
        span = each.region.span
        same.setdefault((each.region.name, span.file, span.line), []).append(each)
    for group in same.values():
        yield group[0] if len(group) == 1 else _sum(group)


def _sum(group: Sequence[RegionReport]) -> RegionReport:
    told = _added(each.counts for each in group)
    away = _added(each.elsewhere for each in group)
    faults = [Effect(effect) for effect, _ in (*told, *away)]
    return RegionReport(
        min((each.region for each in group), key=lambda region: (region.kind, region.span)),
        worst(faults).value if faults else "clean",
        sum(each.findings for each in group),
        sum(each.unknown_calls for each in group),
        told,
        away,
    )


def _added(several: Iterable[tuple[tuple[str, int], ...]]) -> tuple[tuple[str, int], ...]:
    every = [dict(each) for each in several]
    numbers = ((effect.value, sum(each.get(effect.value, 0) for each in every)) for effect in Effect)
    return tuple((effect, number) for effect, number in numbers if number)
