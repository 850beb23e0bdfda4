"""Whether a graph is worth it: N kernels, what launching one costs the host, and how long the GPU computes.

A graph removes the host's launches, so it pays where N * t_launch is about as long as, or longer than, the summed GPU
time; where the GPU is busy anyway, launches hide behind kernels and nothing is gained.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import replace

import torch

from graphlint.confirm import kernels, values
from graphlint.confirm.device import Captured, Cuda
from graphlint.confirm.outcome import Outcome
from graphlint.confirm.trial import Trial

REPEATS, LONGEST = 20, 0.5
"""At most so many calls, and no more than about so many seconds, for one median."""
GAP_US = 0.7
"""Time between two kernels of a replay, measured on an H200 over a 1,155-kernel graph (torch 2.11)."""
WORTHWHILE = 1.05


def added(outcome: Outcome, trial: Trial, captured: Captured | None) -> Outcome:
    """The outcome with its figures, in ms and MiB, and what they say in words."""
    figures = dict(outcome.figures)
    try:
        figures |= eager(trial)
        if captured is not None and outcome.replays != ("error",):
            figures |= replay(trial, captured)
    except RuntimeError as error:
        return replace(outcome, figures=figures, notes=(*outcome.notes, f"not measured: {str(error).splitlines()[0]}"))
    return replace(outcome, figures=figures, notes=(*outcome.notes, *words(figures)))


def eager(trial: Trial) -> dict[str, float]:
    """Times and launches of the step as it is."""
    Cuda().repair()
    step = _prepared(trial)
    wall, issue = timed(step)
    profiled = kernels.counted(step)
    launch = issue * 1000 / profiled.count if profiled.count else 0.0
    predicted = max(profiled.gpu_ms + profiled.count * GAP_US / 1000, 1e-6)
    return {
        "kernels": float(profiled.count), "gpu_ms": profiled.gpu_ms, "launch_us": launch, "eager_ms": wall,
        "eager_issue_ms": issue, "predicted_speedup": wall / predicted,
    }  # fmt: skip


def _prepared(trial: Trial) -> Callable[[], object]:
    if trial.case.prepare is None:
        return trial.step

    def step() -> object:
        trial.prepare()
        return trial.step()

    return step


def replay(trial: Trial, captured: Captured) -> dict[str, float]:
    """Times of the graph, what it holds, and what refreshing its inputs costs."""
    wall, issue = timed(captured.replay)
    static = values.leaves(tuple(trial.case.args), dict(trial.case.kwargs))
    new = values.leaves(*trial.inputs[0]) if trial.inputs else static
    copy, _ = timed(lambda: values.copy_in(static, new))
    size = sum(each.numel() * each.element_size() for each in static if isinstance(each, torch.Tensor))
    return {
        "replay_ms": wall, "replay_issue_ms": issue, "input_copy_ms": copy, "input_mib": size / 2**20,
        "capture_ms": captured.seconds * 1000, "pool_mib": captured.reserved / 2**20,
    }  # fmt: skip


def timed(step: Callable[[], object]) -> tuple[float, float]:
    """Medians in ms over several calls: until the GPU is done, and until the host has issued everything."""
    walls: list[float] = []
    issues: list[float] = []
    step()
    torch.cuda.synchronize()
    begun = time.perf_counter()
    while len(walls) < REPEATS and (len(walls) < 3 or time.perf_counter() - begun < LONGEST):
        start = time.perf_counter()
        step()
        issues.append(time.perf_counter() - start)
        torch.cuda.synchronize()
        walls.append(time.perf_counter() - start)
    return statistics.median(walls) * 1000, statistics.median(issues) * 1000


def words(figures: dict[str, float]) -> tuple[str, ...]:
    """The inequality with both sides, the regime, and the advice."""
    host, gpu, count = figures["eager_issue_ms"], figures["gpu_ms"], int(figures["kernels"])
    sign, regime = (">", "the GPU waits for the host") if host > gpu else ("<", "the host waits for the GPU")
    launching = f"{count:,} kernels x {figures['launch_us']:.1f} us = {host:.2f} ms of launching"
    return (f"{launching} {sign} {gpu:.2f} ms of computing: {regime}", *_gain(figures))


def _gain(figures: dict[str, float]) -> tuple[str, ...]:
    predicted = figures["predicted_speedup"]
    if "replay_ms" not in figures:
        return (_promise(predicted),)
    eager, replay, copy = figures["eager_ms"], figures["replay_ms"], figures["input_copy_ms"]
    measured = eager / max(replay + copy, 1e-9)
    line = f"eager {eager:.2f} ms, replay {replay:.2f} ms: {measured:.2f}x with inputs copied (predicted {predicted:.2f}x)"
    if measured >= WORTHWHILE:
        return (line,)
    busy = figures["gpu_ms"] > 0.5 * eager
    why = "the GPU is busy for most of the step" if busy else "copying the inputs costs what launching did"
    return (line, f"not worth it: less than 5 % gained, since {why}")


def _promise(predicted: float) -> str:
    if predicted < WORTHWHILE:
        return "a graph would gain less than 5 %: do not bother, the GPU is busy anyway"
    return f"a graph would be about {predicted:.1f}x as fast, once the refused lines are gone"
