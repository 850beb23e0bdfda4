"""A number that was read from the device decides the shape of a result.

The read itself is refused; and were it not, the shape would follow the data, so that every new value needs a graph of
its own.

Fails:

    import torch

    def step(x):
        # graphlint: ignore[host-read] -- shown by the page of that rule
        n = (x > 0).sum().item()
        return torch.zeros(n, device=x.device)

Captures:

    import torch

    def step(x):
        n = (x > 0).sum()
        return torch.arange(x.numel(), device=x.device) < n

How to fix: give the result a fixed maximal size and mask what is beyond the number on the device.
"""

from __future__ import annotations

from graphlint.events import DataSize
from graphlint.rule import finding, rule
from graphlint.types import Finding


@rule("GL709", on=DataSize, predicts="defeats")
def data_size(event: DataSize) -> Finding | None:
    return finding(
        event,
        f"`{event.call}` gets its `{event.argument}` from device values, so every new value is a new shape",
        help="use a fixed maximum and mask what is beyond it on the device",
    )
