"""A device tensor is copied to the host.

The copy into pageable memory waits for the device.  Dynamo traces `.cpu()`; what runs on the CPU then splits the graph
in Inductor.

Fails:

    def step(x):
        return x.cpu() + 1

Captures:

    def step(x):
        return x + 1

How to fix: copy after the replay, or into a pinned buffer with `non_blocking=True`.
"""

from __future__ import annotations

from graphlint.events import DeviceToHost
from graphlint.rule import finding, rule
from graphlint.types import Finding


@rule("GL303", on=DeviceToHost, predicts="breaks")
def device_to_host(event: DeviceToHost) -> Finding | None:
    return finding(
        event,
        f"`{event.call}` copies a device tensor to the host",
        help="copy after the replay, or into a preallocated pinned buffer with `copy_(x, non_blocking=True)`",
    )
