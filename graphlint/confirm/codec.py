"""Outcomes as JSON objects and back: what a child writes, a parent reads and a record keeps.

Spans become `[file, line, column, end_line, end_column]`, executed lines become ranges (`"1-3,7"`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any

from graphlint.confirm.outcome import Difference, Machine, Outcome, Refusal, StateChange
from graphlint.types import Span, Step

Json = dict[str, Any]


def encode(outcome: Outcome) -> Json:
    """A JSON object with a key for each field."""
    plain = {each.name: getattr(outcome, each.name) for each in fields(outcome)}
    plain["machine"] = flat(outcome.machine)
    plain["refusals"] = [{**flat(each), "trail": [_step(step) for step in each.trail]} for each in outcome.refusals]
    plain["differences"] = [flat(each) for each in outcome.differences]
    plain["state_changes"] = [flat(each) for each in outcome.state_changes]
    plain["executed"] = {file: ranges(lines) for file, lines in sorted(outcome.executed.items())}
    return {key: list(value) if isinstance(value, tuple) else value for key, value in plain.items()}


def decode(plain: Mapping[str, Any]) -> Outcome:
    """The outcome that `encode` wrote; unknown keys raise `TypeError`."""
    known: Json = {key: tuple(value) if isinstance(value, list) else value for key, value in plain.items()}
    known["machine"] = Machine(**plain["machine"])
    known["refusals"] = tuple(_refusal(each) for each in plain.get("refusals", ()))
    known["differences"] = tuple(Difference(**each) for each in plain.get("differences", ()))
    known["state_changes"] = tuple(StateChange(**each) for each in plain.get("state_changes", ()))
    known["executed"] = {file: tuple(numbers(text)) for file, text in plain.get("executed", {}).items()}
    return Outcome(**known)


def flat(record: Any) -> Json:
    """The fields of one dataclass, not those of what it holds."""
    return {each.name: getattr(record, each.name) for each in fields(record)}


def _step(step: Step) -> Json:
    return {"span": list(step.span), "function": step.function}


def _refusal(plain: Mapping[str, Any]) -> Refusal:
    trail = tuple(Step(Span(*each["span"]), each["function"]) for each in plain.get("trail", ()))
    return Refusal(**{**plain, "trail": trail})


def ranges(lines: Iterable[int]) -> str:
    """`"1-3,7"` of 1, 2, 3, 7."""
    spans: list[list[int]] = []
    for line in sorted(set(lines)):
        if spans and spans[-1][1] == line - 1:
            spans[-1][1] = line
        else:
            spans.append([line, line])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in spans)


def numbers(text: str) -> list[int]:
    """1, 2, 3, 7 of `"1-3,7"`."""
    found: list[int] = []
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        found.extend(range(int(first), int(last or first) + 1))
    return found
