"""A function is compiled with graphs and with dynamic shapes.

One dynamic kernel serves all sizes, but a graph has one size: every new size is recorded again, and kept.  A loop that
appends to its argument gives the function a new size in every round.

Fails:

    import torch

    def main(device):
        model = torch.nn.Linear(4, 4).to(device)
        step = torch.compile(model, mode="reduce-overhead", dynamic=True)
        return step(torch.ones(2, 4, device=device)).clone()

Captures:

    import torch

    def main(device):
        model = torch.nn.Linear(4, 4).to(device)
        step = torch.compile(model, mode="reduce-overhead")
        return step(torch.ones(2, 4, device=device)).clone()

How to fix: leave `dynamic` out and pad to a few sizes, or compile without graphs.
"""

from __future__ import annotations

from graphlint.rule import finding, rule
from graphlint.site_events import CompiledDynamic
from graphlint.types import Finding


@rule("GL806", on=CompiledDynamic, predicts=None, compile="defeats")
def compiled_dynamic(event: CompiledDynamic) -> Finding | None:
    if event.grows:
        return finding(
            event,
            f"`{event.call}` gets a longer argument in every round, and every length is recorded again",
            help="pad the argument to a few lengths, or keep what came before in a cache of fixed size",
        )
    if event.cuts:
        return finding(
            event,
            f"`{event.call}` has another length for every `{event.number}`, and every length is recorded again",
            help="read it at full size, and mask what is not filled with a position on the device",
        )
    if event.marks:
        return finding(
            event,
            f"`{event.call}` marks an argument of a function compiled with graphs: every size of it is recorded again",
            help="pad to a few sizes and leave the mark out, or use a mode without graphs",
        )
    if event.number:
        return finding(
            event,
            f"`{event.call}` gets another `{event.number}` in every round, and every number is recorded again",
            help="pass the number in a tensor on the device that is filled before each call",
        )
    return finding(
        event,
        f"`{event.call}` is compiled with graphs and `dynamic=True`: every size is recorded again",
        help="pad to a few sizes and leave `dynamic` out, or use a mode without graphs",
    )
