"""A device value stands where the call needs a Python number.

Sizes, counts, bounds and `alpha` are read on the host before the kernel is launched, so the call waits for the device.
The size of the result would depend on data besides, which a recorded graph cannot follow.

Fails:

    import torch

    def step(x):
        n = (x > 0).sum()
        return torch.arange(n, device=x.device)

Captures:

    import torch

    def step(x):
        n = (x > 0).sum()
        return torch.arange(x.numel(), device=x.device) < n

How to fix: pass a Python number that is fixed for the graph, such as a maximum, and mask the rest.
"""

from __future__ import annotations

from graphlint.events import HostArgument
from graphlint.rule import finding, rule
from graphlint.types import Finding, Target


@rule("GL108", on=HostArgument, predicts="breaks", compile="defeats")
def host_argument(event: HostArgument) -> Finding | None:
    return finding(
        event,
        _told(event),
        help="pass a Python number that is fixed for the graph, such as the maximum, and mask what is beyond",
        # What may as well be a Python number is one under Dynamo most often: the length of a cache that grows.
        targets=Target.GRAPH if event.or_number else Target.BOTH,
    )


def _told(event: HostArgument) -> str:
    if event.call == "*":
        return f"`{event.text}` takes its count from the device"
    return f"`{event.call}` reads its `{event.argument}` from the device"
