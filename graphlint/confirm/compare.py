"""Whether a replay computed what eager did: told from rounding by the dtype, from eager's own noise, and from chance."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import torch

from graphlint.confirm.outcome import Difference

RELATIVE = {
    torch.float64: 1e-9, torch.complex128: 1e-9, torch.float32: 1e-4, torch.complex64: 1e-4,
    torch.float16: 1e-2, torch.bfloat16: 4e-2,
}  # fmt: skip
"""Tolerance by dtype, relative to the largest value: a replay may pick another kernel than eager (workspaces differ)."""

LOUD = 10.0
"""How many tolerances eager must differ from itself by before that is taken for more than the order of additions."""

Tensors = Mapping[str, torch.Tensor]


@dataclass(frozen=True, slots=True)
class Step:
    """What one call gave: its outputs and the state it wrote, and how many random numbers it drew."""

    tensors: dict[str, torch.Tensor]
    draws: int = 0


def gap(left: torch.Tensor, right: torch.Tensor) -> float:
    """The largest difference; infinite when shapes or the places of NaN differ."""
    if left.shape != right.shape:
        return math.inf
    if left.numel() == 0:
        return 0.0
    a, b = (each.detach().to(torch.complex128 if each.is_complex() else torch.float64) for each in (left, right))
    same = (a == b) | (a.isnan() & b.isnan())
    size = (a - b).abs().masked_fill(same, 0.0).nan_to_num(nan=math.inf).max()
    return float(size)


def tolerance(expected: torch.Tensor) -> float:
    """How far from `expected` still counts as rounding; 0 for integers."""
    if expected.dtype not in RELATIVE or expected.numel() == 0:
        return 0.0
    size = expected.detach().abs().float().nan_to_num(0.0, 0.0, 0.0).max()
    return RELATIVE[expected.dtype] * max(float(size), 1e-6)


def differences(replay: int, got: Tensors, expected: Tensors, noise: Mapping[str, float]) -> list[Difference]:
    """Outputs that differ by more than rounding and eager's noise, in the order of their names."""
    found = []
    for name in sorted(set(got) & set(expected)):
        size, limit = gap(got[name], expected[name]), max(tolerance(expected[name]), 4 * noise.get(name, 0.0))
        if size > limit:
            why = "shape" if got[name].shape != expected[name].shape else "values"
            found.append(Difference(name, replay, size, limit, why))
    return found


def noise(first: list[Step], second: list[Step]) -> dict[str, float]:
    """How far two equally seeded eager runs are apart, by output: the largest over their calls."""
    found: dict[str, float] = {}
    for one, other in zip(first, second):
        for name in set(one.tensors) & set(other.tensors):
            found[name] = max(found.get(name, 0.0), gap(one.tensors[name], other.tensors[name]))
    return found


def shared(noise: Mapping[str, float], expected: Step, last: Step, again: Step) -> dict[str, float]:
    """The noise that replays have too.

    Where eager differs from itself by far more than rounding and a repeated replay does not by one bit, eager took
    something new from the host (a clock, an unseeded generator) that the graph keeps: that is no noise.
    """
    kept = dict(noise)
    for name in set(noise) & set(expected.tensors) & set(last.tensors) & set(again.tensors):
        loud = noise[name] > LOUD * tolerance(expected.tensors[name])
        if loud and gap(last.tensors[name], again.tensors[name]) == 0.0:
            kept[name] = 0.0
    return kept


def alike(got: torch.Tensor, expected: torch.Tensor) -> bool:
    """Whether two draws look like one distribution: mean and spread agree within five standard errors."""
    if got.shape != expected.shape or got.numel() < 16 or not got.dtype.is_floating_point:
        return False
    a, b = got.double(), expected.double()
    error = float(a.std() + b.std()) / math.sqrt(a.numel())
    return abs(float(a.mean() - b.mean())) <= 5 * error and abs(float(a.std() - b.std())) <= 5 * error
