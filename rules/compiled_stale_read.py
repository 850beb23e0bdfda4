"""The result of a compiled function with graphs is read after a later call.

The memory has been given to the later call, and torch raises "accessing tensor output of CUDAGraphs that has been
overwritten by a subsequent run" while its graphs are being recorded; afterwards the later call's values are read.
So it is with the call of another compiled function, unless gradients are waited for or the program marks its steps.
Gradients are results of the compiled backward pass: who adds up those of several passes reads them after a later one.

Fails:

    import torch

    @torch.compile(mode="reduce-overhead")
    def score(x):
        return torch.tanh(x @ x.mT)

    def main(device):
        a, b = torch.rand(2, 4, 4, device=device).unbind(0)
        first = score(a)
        # graphlint: ignore[compiled-overwritten] -- shown by the page of that rule
        second = score(b)
        return first + second

Captures:

    import torch

    @torch.compile(mode="reduce-overhead")
    def score(x):
        return torch.tanh(x @ x.mT)

    def main(device):
        a, b = torch.rand(2, 4, 4, device=device).unbind(0)
        first = score(a).clone()
        second = score(b)
        return first + second

How to fix: clone the result outside the compiled function before the next call.
"""

from __future__ import annotations

from graphlint.rule import finding, rule
from graphlint.site_events import CompiledStaleRead
from graphlint.types import Finding


@rule("GL805", on=CompiledStaleRead, predicts=None, compile="breaks")
def compiled_stale_read(event: CompiledStaleRead) -> Finding | None:
    if event.gradients:
        return finding(
            event,
            f"`{event.target}` adds to gradients of an earlier pass, which the compiled graph has overwritten",
            help="set gradients to None before every pass, add them up in tensors of your own, or compile without graphs",
        )
    if event.other:
        reads = "is given" if event.other == event.target else "reads"
        end = "this call" if event.other == event.target else f"`{event.other}`"
        return finding(
            event,
            f"`{event.target}` {reads} a result of another compiled function, which {end} lets go of",
            help="clone it in between, compile both as one function, or call `cudagraph_mark_step_begin` before each step",
        )
    return finding(
        event,
        f"`{event.target}` reads a result that a later call of the compiled function has overwritten",
        help="clone it outside the compiled function before the next call, or read it first",
    )
