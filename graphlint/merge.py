"""Findings of many regions become one finding a place.

A helper that several regions reach is reported once, at its faulty line, with the shortest trail that leads there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from graphlint.record import NamedTuple
from graphlint.registry import worst
from graphlint.types import Confidence, Effect, Finding, Span, Step, Target

Effects = tuple[tuple[str, Effect], ...]
BITS = {"graph": Target.GRAPH, "compile": Target.COMPILE}


class Place(NamedTuple):
    """What makes two findings one: where they are, and what they are about."""

    span: Span
    code: str


def place(finding: Finding) -> Place:
    return Place(finding.span, finding.code)


def merged(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """One finding a place, sorted by place; what has been merged may be merged again."""
    groups: dict[Place, list[Finding]] = {}
    for each in findings:
        groups.setdefault(place(each), []).append(each)
    return tuple(_one(groups[each]) for each in sorted(groups))


def _one(group: Sequence[Finding]) -> Finding:
    first = min(group, key=_nearness) if len(group) > 1 else group[0]
    effects = _united(group)
    named = {name for each in group for name in each.regions or (each.region,) if name}
    sure = max(each.confidence for each in group)
    return replace(first, effects=effects, effect=effects[0][1], confidence=sure, regions=tuple(sorted(named)))


def stands(told: Iterable[Finding], before: Sequence[Finding], now: Sequence[Finding]) -> bool:
    """Whether findings stand as they were merged, although one of those that were merged now says something else.

    They do if only the calls that lead there are others, and somebody else leads there on a shorter way, as most do where
    a file is edited that is one of many with the same helpers.
    """
    if list(map(_known, before)) != list(map(_known, now)):
        return False
    shown = {place(each): each for each in told}
    return all(_is_behind(each, shown[place(each)]) for each in now if place(each) in shown)


def _known(finding: Finding) -> tuple[object, ...]:
    """What counts of a finding whichever of its group is told."""
    return place(finding), finding.rule, finding.effects, finding.confidence, finding.region, finding.regions


def _is_behind(finding: Finding, first: Finding) -> bool:
    return first.region not in (finding.region, *finding.regions) and _nearness(first) < _nearness(finding)


def _nearness(finding: Finding) -> tuple[bool, int, tuple[Step, ...], str, str]:
    """What is merely possible in a region is hidden there, so that region leads to a finding only if no other does."""
    doubtful = finding.confidence is Confidence.POSSIBLE
    return doubtful, len(finding.trail), finding.trail, finding.region, finding.message


def _united(group: Sequence[Finding]) -> tuple[tuple[str, Effect], ...]:
    """The gravest effect a target; raw capture comes first, as it makes the headline."""
    pairs = [pair for each in group for pair in each.effects]
    names = [name for name in BITS if any(name == each for each, _ in pairs)]
    return tuple((name, worst(effect for each, effect in pairs if each == name)) for name in names)


def narrowed(finding: Finding, effects: Effects, target: Target) -> Finding | None:
    """A finding with some effects as far as they are on the targets asked for; None if none of them is."""
    live = tuple((name, effect) for name, effect in effects if BITS[name] & target)
    if live == finding.effects and live:
        return finding
    return replace(finding, effects=live, effect=live[0][1]) if live else None
