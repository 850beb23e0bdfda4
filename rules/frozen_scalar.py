"""A host number that changes between calls is recorded once.

Kernel arguments are copied into the graph when it is recorded: a Python number or a host tensor without dimensions keeps
the value of the capture.

Fails:

    def step(x, scale):
        return x * scale

    def inputs():
        return torch.ones(4, device="cuda"), torch.tensor(2.0)

Captures:

    def step(x, scale):
        return x * scale

    def inputs():
        return torch.ones(4, device="cuda"), torch.tensor(2.0, device="cuda")

How to fix: keep it in a device tensor and `fill_` that before each replay.
"""

from __future__ import annotations

from graphlint.events import FrozenScalar
from graphlint.rule import finding, rule
from graphlint.types import Finding


@rule("GL406", on=FrozenScalar, predicts="stale")
def frozen_scalar(event: FrozenScalar) -> Finding | None:
    return finding(
        event,
        f"`{event.text}` computes with {event.what}, whose value is recorded at capture",
        help="keep the value in a device tensor and `fill_` it before each replay",
    )
