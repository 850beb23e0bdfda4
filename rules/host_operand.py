"""A host tensor meets device tensors in an operation that does not take it as a scalar.

Arithmetic takes a host tensor without dimensions as a number; `where`, `cat` and stores do not: the tensor is uploaded
from pageable memory, which is refused during capture.

Fails:

    import torch

    def step(x):
        return torch.where(x > 0, x, torch.tensor(0.0))

Captures:

    import torch

    def step(x):
        return torch.where(x > 0, x, 0.0)

How to fix: pass the Python number itself, or make the tensor on the device.
"""

from __future__ import annotations

from graphlint.events import HostOperand
from graphlint.rule import finding, rule
from graphlint.types import Finding


@rule("GL306", on=HostOperand, predicts="breaks")
def host_operand(event: HostOperand) -> Finding | None:
    return finding(
        event,
        f"`{event.call}` gets a tensor in the wrong place as `{event.argument}`: it is copied between host and device",
        help="pass a Python number, or make the tensor on the device with `device=`",
    )
