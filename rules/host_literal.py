"""A device tensor is built from Python values.

`torch.tensor(values, device=...)` makes the tensor in pageable host memory and copies it, and such a copy is refused
during capture.  An empty list is not copied.  Dynamo traces the call without a break.

Fails:

    import torch

    def step(x):
        return x + torch.tensor([1.0], device=x.device)

Captures:

    import torch

    def step(x):
        return x + torch.full((1,), 1.0, device=x.device)

How to fix: `torch.full`, or build the tensor once before the capture and register it as a buffer.
"""

from __future__ import annotations

from graphlint.events import HostLiteral
from graphlint.rule import finding, rule
from graphlint.types import Finding

_BUILT = "fill on the device with `torch.full(shape, value, device=...)`, or build it once and keep it as a buffer"
_GIVEN = "give it a device tensor that is built once, such as a buffer, or call it outside the region"


@rule("GL301", on=HostLiteral, predicts="breaks")
def host_literal(event: HostLiteral) -> Finding | None:
    return finding(
        event,
        f"`{event.call}` copies Python values to the device{': ' if event.why else ''}{event.why}",
        help=_GIVEN if event.why else _BUILT,
    )
