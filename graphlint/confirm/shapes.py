"""Varying lengths or batch sizes: one graph a bucket, what that costs in time and memory, and what padding wastes."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from graphlint.case import Case
from graphlint.confirm import chance, compare, frames, values
from graphlint.confirm.device import Captured, Device
from graphlint.confirm.plan import Plan
from graphlint.confirm.shapes_form import first, parse
from graphlint.errors import UsageError

__all__ = ["advice", "first", "measured", "parse"]

PAD, BUCKET = 0.15, 0.40
"""Mean share of padding up to which one bucket, or several, are recommended."""
SAMPLES = 6

Build = Callable[[Mapping[str, int]], Case]


def measured(plan: Plan, device: Device, build: Build) -> dict[str, Any]:
    """Captures every bucket twice, with a shared pool and with a pool each, and compares padded replays with eager."""
    name, buckets, possible = parse(plan.options.shapes)
    lengths = plan.options.lengths or possible
    too_long = [each for each in lengths if each > buckets[-1]]
    if too_long:
        raise UsageError(f"length {max(too_long)} fits no bucket", f"the largest is {buckets[-1]}")
    build = _seeded(build, device, plan.options.seed)
    shared = _captured(name, buckets, device, build, True)
    apart = _captured(name, buckets, device, build, False)
    gaps = _gaps(name, buckets, lengths, device, build)
    waste = [_waste(each, buckets) for each in lengths]
    found = {
        "name": name, "buckets": list(buckets), "shared_pool": shared, "pool_each": apart, "gaps": gaps,
        "worst_waste": max(waste), "mean_waste": statistics.fmean(waste),
        "mean_waste_one_bucket": statistics.fmean(_waste(each, buckets[-1:]) for each in lengths),
    }  # fmt: skip
    return found | {"advice": advice(found)}


def _seeded(build: Build, device: Device, seed: int) -> Build:
    """The same weights whatever the size."""

    def seeded(sizes: Mapping[str, int]) -> Case:
        chance.seed(device, seed)
        return build(sizes)

    return seeded


def _waste(length: int, buckets: Sequence[int]) -> float:
    """The share of a bucket that is padding."""
    bucket = next(each for each in buckets if each >= length)
    return (bucket - length) / bucket


def _captured(name: str, buckets: Sequence[int], device: Device, build: Build, shared: bool) -> dict[str, Any]:
    """Time and memory of all captures, largest first, so that smaller ones find room in the pool."""
    cases = {each: _warm(build({name: each}), device) for each in reversed(buckets)}
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    before, pool, kept = torch.cuda.memory_reserved(), None, []
    started, times = time.perf_counter(), {}
    for size, case in cases.items():
        captured = _capture(case, device, pool)
        if isinstance(captured, str):
            return {"refused_at": size, "reason": captured}
        kept.append(captured)
        times[str(size)] = captured.seconds * 1000
        pool = captured.pool if shared else None
    return {
        "capture_ms": (time.perf_counter() - started) * 1000, "by_bucket_ms": times,
        "reserved_mib": (torch.cuda.memory_reserved() - before) / 2**20, "graphs": len(kept),
    }  # fmt: skip


def _warm(case: Case, device: Device) -> Case:
    with device.warming():
        for _ in range(2):
            if case.prepare is not None:
                case.prepare()
            case.fn(*case.args, **case.kwargs)
    return case


def _capture(case: Case, device: Device, pool: tuple[int, int] | None) -> Captured | str:
    if case.prepare is not None:
        case.prepare()
    try:
        return device.capture(lambda: case.fn(*case.args, **case.kwargs), pool)
    except Exception as error:
        device.repair()
        return frames.words(frames.cause(error))


def _gaps(name: str, buckets: Sequence[int], lengths: Sequence[int], device: Device, build: Build) -> list[dict[str, Any]]:
    """Some lengths, each padded with zeros into its bucket and replayed, against eager at its own size."""
    distinct = sorted(set(lengths))
    chosen = sorted({distinct[place * (len(distinct) - 1) // max(SAMPLES - 1, 1)] for place in range(SAMPLES)})
    return [_gap(name, each, next(size for size in buckets if size >= each), device, build) for each in chosen]


def _gap(name: str, length: int, bucket: int, device: Device, build: Build) -> dict[str, Any]:
    case, exact = _warm(build({name: bucket}), device), build({name: length})
    captured = _capture(case, device, None)
    row: dict[str, Any] = {"length": length, "bucket": bucket}
    if isinstance(captured, str):
        return row | {"reason": captured}
    _pad(values.leaves(tuple(case.args), dict(case.kwargs)), values.leaves(tuple(exact.args), dict(exact.kwargs)))
    captured.replay()
    device.synchronize()
    expected = dict(values.tensors(exact.fn(*exact.args, **exact.kwargs)))
    got = {path: _cut(each, expected[path]) for path, each in values.tensors(captured.output) if path in expected}
    sizes = {path: compare.gap(each, expected[path]) for path, each in got.items()}
    wrong = [path for path, size in sizes.items() if size > compare.tolerance(expected[path])]
    return row | {"gap": max(sizes.values(), default=0.0), "wrong": wrong}


def _pad(static: Sequence[object], new: Sequence[object]) -> None:
    with torch.no_grad():
        for target, value in zip(static, new):
            if isinstance(target, torch.Tensor) and isinstance(value, torch.Tensor):
                if target.shape != value.shape:
                    target.zero_()
                target[tuple(slice(0, size) for size in value.shape)].copy_(value)


def _cut(got: torch.Tensor, expected: torch.Tensor) -> torch.Tensor:
    """The part of a padded result that the unpadded one has too."""
    if got.dim() != expected.dim():
        return got
    return got[tuple(slice(0, size) for size in expected.shape)]


def advice(found: Mapping[str, Any]) -> str:
    """Pad, bucket or split, and why."""
    if any("reason" in each for each in found["gaps"]) or "reason" in found["shared_pool"]:
        return "no bucket can be captured before the refused lines are gone"
    if any(each["wrong"] for each in found["gaps"]):
        return "split: padding changes the results, so capture only the parts that do not see the length, or mask them"
    if found["mean_waste_one_bucket"] <= PAD:
        return f"pad: one graph of {found['buckets'][-1]} wastes {found['mean_waste_one_bucket']:.0%} on average"
    if found["mean_waste"] <= BUCKET:
        mean, worst = found["mean_waste"], found["worst_waste"]
        return f"bucket: {len(found['buckets'])} graphs waste {mean:.0%} on average, the worst {worst:.0%}"
    return f"split: even in buckets {found['mean_waste']:.0%} is padding; capture the parts that do not see the length"
