"""One capture of a callable, and how it was refused."""

from __future__ import annotations

from collections.abc import Callable

import torch


def outcome(run: Callable[[], object], *, warm: int = 2) -> str:
    """What capturing `run` did after `warm` runs on a side stream: "fine", "not run: ..." or how it was refused."""
    try:
        warm_up(run, warm)
    except Exception as error:
        torch.cuda.synchronize()
        return f"not run: {type(error).__name__}"
    graph = torch.cuda.CUDAGraph()
    try:
        with torch.cuda.graph(graph):
            run()
        torch.cuda.synchronize()
    except Exception as error:
        return _refusal(error)
    finally:
        settle()
    return "fine"


def warm_up(run: Callable[[], object], times: int) -> None:
    side: torch.cuda.Stream = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(times):
            run()
    torch.cuda.current_stream().wait_stream(side)
    torch.cuda.synchronize()


def settle() -> None:
    """A failed capture leaves the default generator in capture mode, and later draws fail: a good capture ends that."""
    for _ in range(2):
        try:
            with torch.cuda.graph(torch.cuda.CUDAGraph()):
                torch.rand(1, device="cuda")
            torch.rand(1, device="cuda")
            torch.cuda.synchronize()
            return
        except Exception:
            continue


def _refusal(error: BaseException) -> str:
    """The error that reaches the caller follows from its context: the innermost one tells the cause."""
    while error.__context__ is not None:
        error = error.__context__
    text = str(error)
    if text.startswith("Cannot copy between"):
        return "copy"
    if "cusolver" in text or "cublas" in text.lower() or "cudnn" in text.lower():
        return "solver"
    waits = ("not permitted when stream is capturing", "failed to synchronize", "last recorded in a capturing")
    return "read" if any(part in text for part in waits) else "other"
