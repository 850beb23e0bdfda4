"""A compiled module counts in an attribute.

Dynamo guards the numbers that a module holds: every new value is compiled again, each time with a graph of its own, until
the limit of recompilations is reached and the function runs without any.  Only `TORCH_LOGS=recompiles` tells of it.

Fails:

    import torch

    class Step(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.calls = 0

        def forward(self, x):
            self.calls += 1
            return x * 2

    def main(device):
        step = torch.compile(Step(), mode="reduce-overhead")
        return [step(torch.ones(2, device=device)).clone() for _ in range(3)]

Captures:

    import torch

    class Step(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("calls", torch.zeros(()))

        def forward(self, x):
            self.calls += 1
            return x * 2

    def main(device):
        step = torch.compile(Step().to(device), mode="reduce-overhead")
        return [step(torch.ones(2, device=device)).clone() for _ in range(3)]

How to fix: count in a buffer, or outside the compiled module.
"""

from __future__ import annotations

from graphlint.events import HostMutation
from graphlint.rule import finding, rule
from graphlint.types import Finding, Target


@rule("GL810", on=HostMutation, predicts=None, compile="defeats")
def compiled_counter(event: HostMutation) -> Finding | None:
    if not event.is_guarded or event.targets & Target.GRAPH:
        return None
    return finding(
        event,
        f"`{event.target}` counts in a compiled module: every value is compiled and recorded again",
        help="count in a buffer (`self.count.add_(1)`), or outside the compiled module",
    )
