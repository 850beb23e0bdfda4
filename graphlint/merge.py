"""Findings of many regions become one finding a place.

A helper that several regions reach is reported once, at its faulty line, with the shortest trail that leads there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import groupby
from typing import NamedTuple

from graphlint.registry import worst
from graphlint.types import Effect, Finding, Span, Target

BITS = {"graph": Target.GRAPH, "compile": Target.COMPILE}


class Place(NamedTuple):
    """What makes two findings one: where they are, and what they are about."""

    span: Span
    code: str


def place(finding: Finding) -> Place:
    return Place(finding.span, finding.code)


def merged(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """One finding a place, sorted by place."""
    ordered = sorted(findings, key=lambda each: (place(each), len(each.trail), each.trail, each.region, each.message))
    return tuple(_one(list(group)) for _, group in groupby(ordered, key=place))


def _one(group: Sequence[Finding]) -> Finding:
    first = group[0]
    effects = _united(group)
    regions = tuple(sorted({each.region for each in group if each.region}))
    sure = max(each.confidence for each in group)
    return replace(first, effects=effects, effect=effects[0][1], confidence=sure, regions=regions)


def _united(group: Sequence[Finding]) -> tuple[tuple[str, Effect], ...]:
    """The gravest effect a target; raw capture comes first, as it makes the headline."""
    pairs = [pair for each in group for pair in each.effects]
    names = [name for name in BITS if any(name == each for each, _ in pairs)]
    return tuple((name, worst(effect for each, effect in pairs if each == name)) for name in names)


def narrowed(finding: Finding, target: Target) -> Finding | None:
    """A finding as far as it speaks of the targets asked for; None if it does not."""
    effects = tuple((name, effect) for name, effect in finding.effects if BITS[name] & target)
    return replace(finding, effects=effects, effect=effects[0][1]) if effects else None
