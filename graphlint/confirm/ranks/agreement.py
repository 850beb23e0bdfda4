"""Results that differ across ranks where they should agree: where eager makes them agree, or the case says that they do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from graphlint.confirm import compare


@dataclass(frozen=True, slots=True)
class Disagreement:
    """An output that is the same on two ranks in eager, and after a replay is not; `size` is the largest gap."""

    output: str
    replay: int
    size: float
    tolerance: float
    ranks: tuple[int, int]
    eager: bool = False


def disagreements(folder: Path, ranks: Sequence[int]) -> tuple[Disagreement, ...]:
    """What the values that ranks left in a folder say; nothing where one left none."""
    paths = [folder / f"values-{rank}.pt" for rank in ranks]
    if not all(each.is_file() for each in paths):
        return ()
    left: list[Any] = [torch.load(each, weights_only=True) for each in paths]
    agree = [set(each.get("agree", ())) for each in left]
    found = (
        _pair((ranks[0], rank), left[0], each, agree[0] | more) for rank, each, more in zip(ranks[1:], left[1:], agree[1:])
    )
    return tuple(each for part in found for each in part)


def _pair(ranks: tuple[int, int], one: Any, other: Any, agree: set[str]) -> list[Disagreement]:
    eager = [_gaps(*pair) for pair in zip(one["expected"], other["expected"])]
    found = []
    for replay, pair in enumerate(zip(one["got"], other["got"]), 1):
        for name, (size, limit) in _gaps(*pair).items():
            same = replay <= len(eager) and _holds(eager[replay - 1].get(name))
            if size > limit and (same or name in agree):
                found.append(Disagreement(name, replay, size, limit, ranks, eager=not same))
    return found


def _gaps(one: Mapping[str, torch.Tensor], other: Mapping[str, torch.Tensor]) -> dict[str, tuple[float, float]]:
    return {name: (compare.gap(one[name], other[name]), compare.tolerance(one[name])) for name in one if name in other}


def _holds(gap: tuple[float, float] | None) -> bool:
    return gap is not None and gap[0] <= gap[1]
