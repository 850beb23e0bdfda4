"""The same step under `torch.compile(mode="reduce-overhead")`: breaks, graphs, launches, skips and recompilations."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch

from graphlint.confirm import chance, frames, kernels, worth
from graphlint.confirm.trial import Setting

STEPS = 4
"""Calls before one is measured: a compiled function warms up, records, and only then replays."""
TELLING = ("skipping cudagraphs", "recompil", "re-record", "cudagraph")
BREAK = re.compile(
    r"Graph break in user code at (?P<file>.+):(?P<line>\d+)\s+Graph Break Reason: (?P<reason>.+)", re.DOTALL
)
FRAME = re.compile(r'File "(?P<file>[^"]+)", line (?P<line>\d+), in (?P<function>\S+)')
FALLS_BACK = "falling back to eager"

Place = dict[str, Any]


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
    result = "breaks" if breaks else "whole" if graphs else "eager"
    return {"result": result, "breaks": breaks, "graphs": graphs, **found}


def explained(explain: Callable[[], Any]) -> tuple[list[Place], int]:
    """Each graph break with the user line it stands on, and the number of graphs.

    A break that makes Dynamo give up a whole function is in no graph's list of reasons, but it is logged.
    """
    with heard() as said:
        result = explain()
    torch._dynamo.reset()
    found = [_logged(match, text) for text in said for match in BREAK.finditer(text)]
    found += [_break(each) for each in result.break_reasons]
    distinct = {(each["file"], each["line"]): each for each in reversed(found)}
    return sorted(distinct.values(), key=lambda each: (each["file"], each["line"])), int(result.graph_count)


def _logged(match: re.Match[str], text: str) -> Place:
    reason = [line.strip() for line in match["reason"].splitlines() if line.strip()]
    users = [each for each in FRAME.finditer(text) if not frames.hidden(each["file"])]
    place = users[-1] if users else match
    why = reason[1] if len(reason) > 1 and (FALLS_BACK in reason[0] or reason[0].endswith(":")) else reason[0]
    return {
        "file": place["file"], "line": int(place["line"]), "function": users[-1]["function"] if users else "",
        "reason": why, "falls_back": FALLS_BACK in reason[0],
    }  # fmt: skip


def _break(reason: Any) -> Place:
    users = [each for each in reason.user_stack if not frames.hidden(each.filename)] or list(reason.user_stack)
    last = users[-1] if users else None
    lines = [line.strip() for line in str(reason.reason).splitlines() if line.strip()]
    return {
        "file": last.filename if last else "", "line": last.lineno if last else 0,
        "function": last.name if last else "", "reason": lines[0] if lines else "", "falls_back": False,
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
        "launches": profiled.graph_launches, "kernel_launches": profiled.kernel_launches,
        "host_copies": profiled.host_copies, "compiled_ms": wall,
        "skips": skips, "recompiles": int(sum(counters["recompile_limit"].values())), "said": _telling(said),
    }  # fmt: skip


def _telling(said: Sequence[str]) -> list[str]:
    lines = (" ".join(text.split())[:300] for text in said if any(word in text.lower() for word in TELLING))
    return sorted(set(lines))


@contextmanager
def heard() -> Iterator[list[str]]:
    """What torch's loggers say about breaks, graphs and recompilations inside."""
    kept: list[str] = []

    class Ear(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            text = record.getMessage()
            if text and record.name != "torch.__trace":
                kept.append(text)

    ear = Ear()
    set_logs: Callable[..., None] = getattr(torch, "_logging").set_logs  # noqa: B009  # not exported, and documented
    set_logs(perf_hints=True, recompiles=True, graph_breaks=True)
    names = [name for name in logging.root.manager.loggerDict if name.startswith("torch.")]
    for name in names:
        logging.getLogger(name).addHandler(ear)
    try:
        yield kept
    finally:
        for name in names:
            logging.getLogger(name).removeHandler(ear)
        set_logs()
