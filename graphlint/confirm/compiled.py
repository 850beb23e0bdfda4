"""The same step under `torch.compile(mode="reduce-overhead")`: breaks, graphs, launches, skips and recompilations."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

from graphlint.confirm import chance, frames, kernels, worth
from graphlint.confirm.trial import Setting

STEPS = 4
"""Calls before one is measured: a compiled function warms up, records, and only then replays."""
TELLING = ("skipping cudagraphs", "recompil", "re-record", "cudagraph")


def measured(setting: Setting) -> dict[str, Any]:
    """What Dynamo and the CUDA graph trees make of it; one `cudaGraphLaunch` a step is the goal."""
    torch._dynamo.reset()
    chance.seed(setting.device, setting.options.seed)
    case = setting.build()
    try:
        breaks, graphs = explained(lambda: torch._dynamo.explain(case.fn)(*case.args, **case.kwargs))
        found = _run(setting)
    except Exception as error:
        return {"result": "not-run", "reason": f"{type(error).__name__}: {frames.words(frames.cause(error))}"}
    return {"result": "breaks" if breaks else "whole", "breaks": breaks, "graphs": graphs, **found}


def explained(explain: Callable[[], Any]) -> tuple[list[dict[str, Any]], int]:
    """Each graph break with the user line it stands on, and the number of graphs."""
    said = explain()
    torch._dynamo.reset()
    return [_break(each) for each in said.break_reasons], int(said.graph_count)


def _break(reason: Any) -> dict[str, Any]:
    users = [each for each in reason.user_stack if not frames.hidden(each.filename)] or list(reason.user_stack)
    last = users[-1] if users else None
    lines = [line.strip() for line in str(reason.reason).splitlines() if line.strip()]
    return {
        "file": last.filename if last else "", "line": last.lineno if last else 0,
        "function": last.name if last else "", "reason": lines[0] if lines else "", "detail": lines[1:4],
    }  # fmt: skip


def _run(setting: Setting) -> dict[str, Any]:
    chance.seed(setting.device, setting.options.seed)
    case = setting.build()
    counters = torch._dynamo.utils.counters
    counters.clear()
    compiled = torch.compile(case.fn, mode="reduce-overhead")

    def step() -> object:
        torch.compiler.cudagraph_mark_step_begin()
        if case.prepare is not None:
            case.prepare()
        return compiled(*case.args, **case.kwargs)

    with heard() as said:
        for _ in range(STEPS):
            step()
        torch.cuda.synchronize()
        profiled = kernels.counted(step)
    wall, _ = worth.timed(step)
    skips = int(counters["inductor"].get("cudagraph_skips", 0))
    return {
        "launches": profiled.graph_launches, "kernel_launches": profiled.kernel_launches, "compiled_ms": wall,
        "skips": skips, "recompiles": int(sum(counters["recompile_limit"].values())), "said": sorted(set(said)),
    }  # fmt: skip


@contextmanager
def heard() -> Iterator[list[str]]:
    """What torch's loggers say about graphs and recompilations inside."""
    kept: list[str] = []

    class Ear(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            text = record.getMessage().strip()
            if any(word in text.lower() for word in TELLING):
                kept.append(" ".join(text.split())[:300])

    ear = Ear()
    torch._logging.set_logs(perf_hints=True, recompiles=True)
    names = [name for name in logging.root.manager.loggerDict if name.startswith("torch._")] + ["torch"]
    for name in names:
        logging.getLogger(name).addHandler(ear)
    try:
        yield kept
    finally:
        for name in names:
            logging.getLogger(name).removeHandler(ear)
        torch._logging.set_logs()
