"""A host tensor is an operand of a function compiled with graphs.

The CPU cannot be in a graph.  `torch.compile` copies a tensor without dimensions to the device before the graph, at every
call; versions that do not partition graphs skip them ("skipping cudagraphs due to cpu device").

Fails:

    import torch

    class Step(torch.nn.Module):
        def forward(self, x, scale):
            # graphlint: ignore[frozen-scalar] -- shown by the page of that rule
            return x * scale

    def inputs():
        return torch.ones(4, device="cuda"), torch.tensor(2.0)

    def build(device):
        return {"fn": Step(), "args": (torch.ones(4, device=device), torch.tensor(2.0))}

Captures:

    import torch

    class Step(torch.nn.Module):
        def forward(self, x, scale):
            return x * scale

    def inputs():
        return torch.ones(4, device="cuda"), torch.tensor(2.0, device="cuda")

    def build(device):
        return {"fn": Step(), "args": (torch.ones(4, device=device), torch.tensor(2.0, device=device))}

How to fix: put the value into a device tensor.
"""

from __future__ import annotations

from graphlint.events import FrozenScalar
from graphlint.rule import finding, rule
from graphlint.types import Finding


@rule("GL803", on=FrozenScalar, predicts=None, compile="defeats")
def compiled_scalar(event: FrozenScalar) -> Finding | None:
    if event.what != "host tensor":
        return None
    return finding(
        event,
        f"`{event.text}` brings a host tensor into a compiled function, which is copied at every call or turns graphs off",
        help="make it a device tensor and `fill_` that between calls",
    )
