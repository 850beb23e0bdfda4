"""Whether ranks issued collectives that fit: same operation, order, group, size and dtype; pure.

Two ranks fit when the collectives that both take part in are equal one by one.  Sends are held against receives, each
direction by itself, since a batch may order them as it likes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, zip_longest

from graphlint.confirm.ranks.journal import Call

POINTS = ("send", "recv")
Sequences = Mapping[int, Sequence[Call]]


@dataclass(frozen=True, slots=True)
class Mismatch:
    """The first place where two ranks differ: `index` counts what both take part in from 1; None where one has ended."""

    ranks: tuple[int, int]
    index: int
    calls: tuple[Call | None, Call | None]
    why: str

    @property
    def missing(self) -> int:
        """The rank that did not come, or -1 when both came with something else."""
        return next((rank for rank, call in zip(self.ranks, self.calls) if call is None), -1)


def mismatches(told: Sequences) -> tuple[Mismatch, ...]:
    """At most one for each pair of ranks among collectives, and one for each direction between them."""
    pairs = combinations(sorted(told), 2)
    found = (_first_of(one, other, *each) for one, other in pairs for each in _matched(one, other, told))
    return tuple(each for each in found if each is not None)


def _first_of(one: int, other: int, left: list[Call], right: list[Call]) -> Mismatch | None:
    for index, (a, b) in enumerate(zip_longest(left, right), 1):
        why = _differs(a, b, one, other)
        if why:
            return Mismatch((one, other), index, (a, b), why)
    return None


def _matched(one: int, other: int, told: Sequences) -> Iterator[tuple[list[Call], list[Call]]]:
    yield _together(told[one], other), _together(told[other], one)
    yield _points(told[one], "send", other), _points(told[other], "recv", one)
    yield _points(told[one], "recv", other), _points(told[other], "send", one)


def _together(calls: Sequence[Call], other: int) -> list[Call]:
    return [each for each in calls if each.op not in POINTS and other in each.group]


def _points(calls: Sequence[Call], op: str, other: int) -> list[Call]:
    return [each for each in calls if each.op == op and each.peer == other]


def _differs(a: Call | None, b: Call | None, one: int, other: int) -> str:
    """Why two calls do not fit, or an empty string."""
    if a is None or b is None:
        return "missing"
    if a.op in POINTS:
        return _first(("size", a.count == b.count), ("dtype", a.dtype == b.dtype))
    return _first(
        ("operation", a.op == b.op and a.detail == b.detail), ("group", _same_group(a, b)), ("size", a.count == b.count),
        ("dtype", a.dtype == b.dtype), ("splits", _splits_fit(a, b, one, other)),
    )  # fmt: skip


def _same_group(a: Call, b: Call) -> bool:
    return a.group == b.group and (a.name == b.name or not a.name or not b.name)


def _first(*tests: tuple[str, bool]) -> str:
    return next((name for name, holds in tests if not holds), "")


def _splits_fit(a: Call, b: Call, one: int, other: int) -> bool:
    """What each sends the other is what the other expects."""
    here, there = a.group.index(one), a.group.index(other)
    pairs = ((a.splits, there, b.wants, here), (b.splits, here, a.wants, there))
    return all(not sent or not due or sent[to] == due[of] for sent, to, due, of in pairs)


def sentence(each: Mismatch) -> str:
    """Such as "call 2 is `all_reduce(float32[8])` on rank 0 (line 12) and nothing on rank 1"."""
    parts = [_issued(rank, call, each.why == "group") for rank, call in zip(each.ranks, each.calls)]
    if each.missing >= 0:
        there = next(rank for rank in each.ranks if rank != each.missing)
        call = each.calls[each.ranks.index(there)]
        return f"rank {each.missing} is missing from `{call}` (call {each.index} on rank {there}, {_at(call)})"
    return f"call {each.index} differs in {each.why}: {' and '.join(parts)}"


def named(ranks: Sequence[int]) -> str:
    """Such as "rank 3", "ranks 0, 2" or "ranks 0-7"."""
    runs: list[list[int]] = []
    for each in ranks:
        if runs and runs[-1][-1] == each - 1:
            runs[-1].append(each)
        else:
            runs.append([each])
    said = [f"{each[0]}-{each[-1]}" if len(each) > 2 else ", ".join(map(str, each)) for each in runs]
    return f"rank{'s' * (len(ranks) > 1)} {', '.join(said)}"


def _issued(rank: int, call: Call | None, grouped: bool) -> str:
    group = f" in group `{call.name}` of {named(call.group)}" if call is not None and grouped else ""
    return f"`{call}`{group} on rank {rank} ({_at(call)})"


def _at(call: Call | None) -> str:
    return f"{call.file}:{call.line}" if call is not None and call.line else "no line"
