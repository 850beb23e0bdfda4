"""A target that captures by itself: run once, with every capture it begins watched.

What it raises is the outcome: a refusal when a capture was refused, "stale" when it finds its replay wrong and says so
with an `AssertionError`, and a run that could not be made otherwise.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any
from unittest import mock

import torch

from graphlint.case import as_case
from graphlint.confirm import frames, pursuit
from graphlint.confirm.lines import Lines, executed, frozen
from graphlint.confirm.outcome import Difference, Machine, Outcome, Refusal
from graphlint.errors import UsageError
from graphlint.report.totals import count


@dataclass
class Captures:
    """What a script did with graphs: captures begun and ended well, and the error of the first that was refused."""

    begun: int = 0
    ended: int = 0
    replays: int = 0
    error: BaseException | None = None
    lines: Lines = field(default_factory=dict)


@contextmanager
def watched() -> Iterator[Captures]:
    """Counts what happens to `torch.cuda.CUDAGraph`s inside."""
    seen, graph = Captures(), torch.cuda.CUDAGraph
    begin, end, replay = graph.capture_begin, graph.capture_end, graph.replay

    def capture_begin(self: Any, *args: Any, **kwargs: Any) -> object:
        seen.begun += 1
        return begin(self, *args, **kwargs)

    def capture_end(self: Any) -> object:
        try:
            result = end(self)
        except Exception as error:
            seen.error = seen.error or error
            raise
        seen.ended += 1
        return result

    def counted_replay(self: Any) -> object:
        seen.replays += 1
        return replay(self)

    with mock.patch.multiple(graph, capture_begin=capture_begin, capture_end=capture_end, replay=counted_replay):
        yield seen


def run(target: str, script: Callable[[], object], machine: Machine) -> tuple[Outcome | None, object]:
    """The outcome of a script, or None with what it returned when it turns out to be a factory."""
    error: Exception | None = None
    made: object = None
    with watched() as seen, executed(seen.lines):
        try:
            made = script()
            torch.cuda.synchronize()
        except Exception as raised:
            error = raised
    if error is not None and not seen.begun and not isinstance(error, AssertionError) and not _is_graphs_own(error):
        raise error
    if error is None and not _is_scripts(made, seen):
        return None, made
    return judged(target, machine, seen, error), None


def _is_scripts(made: object, seen: Captures) -> bool:
    """Whether a target gave what a script gives: nothing, a tensor, or anything but a case after capturing."""
    if made is None or isinstance(made, torch.Tensor):
        return True
    try:
        as_case(made)
    except UsageError:
        return seen.begun > 0
    return False


def _is_graphs_own(error: BaseException) -> bool:
    """Whether torch's graph functions raised it, which may refuse before any capture begins."""
    places = (each.tb_frame.f_code.co_filename.replace(os.sep, "/") for each in frames.tracebacks(error.__traceback__))
    return any(place.endswith("torch/cuda/graphs.py") for place in places)


def judged(target: str, machine: Machine, seen: Captures, error: Exception | None) -> Outcome:
    """What a script's end says."""
    lines, figures = frozen(seen.lines), {"graphs": float(seen.ended)}
    notes = (f"the target captured {count(seen.ended, 'graph')} and replayed {count(seen.replays, 'time')}",)
    if error is None and not seen.begun:
        why = "it ran to its end and captured no graph"
        return Outcome(target, "not-run", machine, executed=lines, reason=why, figures=figures)
    if error is None:
        return Outcome(target, "captures", machine, executed=lines, notes=notes, figures=figures)
    refusal = pursuit.refusal(error, frames.Frame("", 0, ""))
    if isinstance(error, AssertionError) and not _is_graphs_own(error):
        return replace(_stale(target, machine, lines, refusal, notes), figures=figures)
    reason = "" if seen.begun else "raised before any capture"
    return Outcome(
        target, "refused", machine, (refusal,), executed=lines, complete=False, reason=reason, notes=notes, figures=figures
    )


def _stale(
    target: str, machine: Machine, lines: dict[str, tuple[int, ...]], refusal: Refusal, notes: tuple[str, ...]
) -> Outcome:
    where = f"{os.path.basename(refusal.file)}:{refusal.line}" if refusal.file else f"line {refusal.line}"
    why = f"{where}: {refusal.message}"
    gap = Difference(refusal.text or "assertion", 1, 0.0, 0.0, why)
    return Outcome(target, "stale", machine, differences=(gap,), executed=lines, replays=("values",), notes=notes)
