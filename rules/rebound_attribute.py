"""An attribute that holds a tensor is bound to a new one instead of being written in place.

The assignment is Python and runs once, at capture.  Replays keep reading the tensor that the name held then, and keep
writing into the one made at capture, whoever owns the name now.

Fails:

    import torch

    class Step(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("state", torch.zeros(4))

        def forward(self, x):
            self.state = self.state * 0.9 + x
            return self.state + 0.0

Captures:

    import torch

    class Step(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("state", torch.zeros(4))

        def forward(self, x):
            self.state.mul_(0.9).add_(x)
            return self.state + 0.0

How to fix: `self.state.copy_(new)` into a buffer that was allocated before the capture.
"""

from __future__ import annotations

from graphlint.events import Rebound
from graphlint.rule import finding, rule
from graphlint.types import Finding


@rule("GL405", on=Rebound, predicts="stale")
def rebound_attribute(event: Rebound) -> Finding | None:
    kind = "buffer" if event.buffer else "attribute"
    return finding(
        event,
        f"`{event.target}` is a tensor {kind} that is rebound; replays keep the tensors of the capture",
        help=f"write in place: `{event.target}.copy_(...)` into a tensor allocated before the capture",
    )
