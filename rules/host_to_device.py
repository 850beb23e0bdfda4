"""A tensor that was born on the host is copied to the device.

A copy from pageable memory is refused during capture, also with `non_blocking=True`; a pinned one only with it.  A tensor
that is on the device already is not copied, so `.to(x.device)` of a buffer is fine.

Fails:

    import torch

    def step(x):
        position = torch.arange(x.shape[0])
        return x + position.to(x.device)[:, None]

Captures:

    import torch

    def step(x):
        position = torch.arange(x.shape[0], device=x.device)
        return x + position[:, None]

How to fix: make the tensor on the device (`device=x.device`), or register it as a buffer.
"""

from __future__ import annotations

from graphlint.events import HostToDevice
from graphlint.rule import finding, rule
from graphlint.types import Finding

HELD = {"input": "an argument of the region", "state": "a plain attribute, which moves with no module"}


@rule("GL302", on=HostToDevice, predicts="breaks")
def host_to_device(event: HostToDevice) -> Finding | None:
    born = f", {HELD[event.origin]}" if event.origin in HELD else ""
    return finding(
        event,
        f"`{event.call}` copies a host tensor to the device{born}",
        help="make it on the device with `device=`, or build it once and register it as a buffer",
    )
