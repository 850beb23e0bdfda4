"""A compiled function with graphs writes into one of its arguments.

The graph would have to write into memory that belongs to the caller, so `torch.compile` skips CUDA graphs for the
function without an error ("skipping cudagraphs due to mutated inputs").  Buffers and parameters may be written.

Fails:

    import torch

    class Step(torch.nn.Module):
        def forward(self, x, cache):
            cache.add_(x)
            return cache * 2

    def main(device):
        step = torch.compile(Step(), mode="reduce-overhead")
        x, cache = torch.ones(4, device=device), torch.zeros(4, device=device)
        for _ in range(4):
            step(x, cache)

Captures:

    import torch

    class Step(torch.nn.Module):
        def forward(self, x, cache):
            cache = cache + x
            return cache * 2

    def main(device):
        step = torch.compile(Step(), mode="reduce-overhead")
        x, cache = torch.ones(4, device=device), torch.zeros(4, device=device)
        for _ in range(4):
            step(x, cache)

How to fix: return the new value, or make the state a buffer of the module.
"""

from __future__ import annotations

from graphlint.rule import finding, rule
from graphlint.site_events import CompiledInputMutated
from graphlint.types import Finding


@rule("GL802", on=CompiledInputMutated, predicts=None, compile="defeats")
def compiled_input_mutated(event: CompiledInputMutated) -> Finding | None:
    return finding(
        event,
        f"`{event.text}` writes into an argument of a compiled function, which turns its graphs off",
        help="return the new value, or keep the state in a buffer of the compiled module",
    )
