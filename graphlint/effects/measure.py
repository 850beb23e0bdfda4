"""Hold the table against a measurement: `python -m graphlint.effects.measure RECORD.jsonl`.

The record's first line says on which GPU and torch it was made; every other line is one operator: its `calls`, each a
description and what the capture did ("fine", or how it was refused: "read", "copy", "solver", "other"), and
`backward`, what capturing some forward passes together with their backward passes did.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from graphlint.effects.described import CallText, DescribedCall, read_call
from graphlint.effects.grammar import Effect, Row
from graphlint.effects.table import happens, lookup
from graphlint.types import Target

REFUSING = frozenset({"read", "sync", "shape", "d2h", "h2d", "argument", "refused"})


class Measured(NamedTuple):
    """One operator of a record; `calls` are pairs of a description and an outcome."""

    op: str
    variant: str
    calls: tuple[tuple[str, str], ...]
    backward: tuple[str, ...]


class Disagreement(NamedTuple):
    """A call of which the table says another thing than the GPU did."""

    op: str
    variant: str
    call: str
    measured: str
    said: str


def measured(path: Path) -> Iterator[Measured]:
    """Every operator of a record."""
    with path.open(encoding="utf-8") as lines:
        next(lines)
        for line in lines:
            record = json.loads(line)
            calls = tuple((call, outcome) for call, outcome in record["calls"])
            yield Measured(record["op"], record.get("variant", ""), calls, tuple(record.get("backward", ())))


def refusals(row: Row, call: CallText) -> tuple[str, ...]:
    """The effects for which the row says a raw capture refuses the call; "maybe" stands for those it is not sure of."""
    facts = DescribedCall(row, call, training=False, grad=False)
    known = [(effect.kind, happens(effect, facts)) for effect in row.effects if effect.targets & Target.GRAPH]
    return tuple("maybe" if told is None else kind for kind, told in known if kind in REFUSING and told is not False)


def disagreements(path: Path) -> Iterator[Disagreement]:
    """The calls of which the table says another thing than the GPU, and refused ones of which it says nothing."""
    for each in measured(path):
        row = lookup(each.op)
        if row is not None:
            yield from _calls(row, each)
            yield from _backward(row, each)
        elif any(outcome != "fine" for _, outcome in each.calls):
            yield Disagreement(each.op, each.variant, "", "refused", "no row")


def _calls(row: Row, each: Measured) -> Iterator[Disagreement]:
    for call, outcome in each.calls:
        try:
            said = refusals(row, read_call(call))
        except ValueError as error:
            said = (f"cannot be called so: {error}", "maybe")
        if bool(said) != (outcome != "fine") or "maybe" in said:
            yield Disagreement(each.op, each.variant, call, outcome, " ".join(said) or "fine")


def _backward(row: Row, each: Measured) -> Iterator[Disagreement]:
    """Backward passes are recorded for the operator: which calls they belong to is not known."""
    refused = any(outcome != "fine" for outcome in each.backward)
    reads = any(effect.kind in REFUSING and not _implied(effect) for effect in row.effects)
    says = any(effect.kind == "backward" for effect in row.effects)
    if each.backward and refused != says and not (refused and reads):
        outcomes = [("refused" if bad else "fine") for bad in (refused, says)]
        yield Disagreement(each.op, each.variant, "backward", *outcomes)


def _implied(effect: Effect) -> bool:
    return effect.kind == "argument"


def main(arguments: list[str]) -> int:
    """Print the disagreements of each record; 1 when there are any."""
    found = [each for path in arguments for each in disagreements(Path(path))]
    for op, variant, call, outcome, said in found:
        name = f"{op}:{variant}" if variant else op
        print(f"{name}({call}): measured {outcome}, the table says {said}")
    print(f"{len(found)} disagreements")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
