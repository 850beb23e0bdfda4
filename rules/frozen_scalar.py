"""A host number that changes between calls is recorded once.

Kernel arguments are copied into the graph when it is recorded: a Python number or a host tensor without dimensions keeps
the value of the capture.

Fails:

    import torch

    class Step(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.calls = 0

        def forward(self, x):
            # graphlint: ignore[host-mutation] -- shown by the page of that rule
            self.calls += 1
            return x * self.calls

Captures:

    import torch

    class Step(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("calls", torch.zeros(()))

        def forward(self, x):
            self.calls += 1
            return x * self.calls

How to fix: keep it in a device tensor and `fill_` that before each replay.
"""

from __future__ import annotations

from graphlint.events import FrozenScalar
from graphlint.rule import finding, rule
from graphlint.types import Finding


@rule("GL406", on=FrozenScalar, predicts="stale")
def frozen_scalar(event: FrozenScalar) -> Finding | None:
    if event.recorded == "branch":
        return finding(
            event,
            f"`{event.text}` asks what calls move on: every replay goes the way of the capture",
            help="decide outside the region, with a graph for each way, or select on the device with `torch.where`",
        )
    if event.recorded == "choice":
        return finding(
            event,
            f"`{event.text}` picks by what calls move on: every replay has what the capture picked",
            help="index one tensor on the device, or copy what is picked into a fixed tensor before each replay",
        )
    return finding(
        event,
        f"`{event.text}` computes with a {event.what} whose {event.recorded} is recorded at capture",
        help="keep the value in a device tensor and `fill_` it before each replay",
    )
