"""A compiled function has something in it for which CUDA graphs are given up.

Inductor compiles `torch.cond` and `torch.while_loop`, but runs a function that has one on the device without graphs, in
every mode.  Nothing is raised; `TORCH_LOGS=perf_hints` says "skipping cudagraphs due to control flow operator".
So it is with a loop that calls a model with gradients and runs no backward pass: each call becomes part of the same step,
and no graph is ever recorded.  A function that works on more than one GPU has no graphs either.

Fails:

    import torch

    @torch.compile(mode="reduce-overhead")
    def step(x):
        return torch.cond(x.sum() > 0, torch.sin, torch.cos, (x,))

    def main(device):
        return step(torch.ones(4, device=device)).clone()

Captures:

    import torch

    @torch.compile(mode="reduce-overhead")
    def step(x):
        return torch.where(x.sum() > 0, x.sin(), x.cos())

    def main(device):
        return step(torch.ones(4, device=device)).clone()

How to fix: select with `torch.where`, or keep it out of the compiled function; call models under `torch.no_grad()`.
"""

from __future__ import annotations

from graphlint.events import GraphsSkipped
from graphlint.rule import finding, rule
from graphlint.types import Finding


@rule("GL809", on=GraphsSkipped, predicts=None, compile="defeats")
def graphs_skipped(event: GraphsSkipped) -> Finding | None:
    return finding(
        event,
        f"`{event.call}` keeps the compiled function from being graphed: {event.why}",
        help="keep what one compiled function does on one device"
        if "of one device" in event.why
        else "call it under `torch.no_grad()`, or mark each step with `torch.compiler.cudagraph_mark_step_begin()`"
        if event.is_pending
        else "compute both sides and select with `torch.where`, or keep it out of the compiled function",
    )
