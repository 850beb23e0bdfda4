"""A function compiled with graphs copies between host and device.

The host side of the copy cannot be in a graph: `torch.compile` splits the function around it, or skips graphs ("skipping
cudagraphs due to cpu device").  Raw capture refuses such a copy altogether, which other rules say.

Fails:

    import torch

    @torch.compile(mode="reduce-overhead")
    def step(x):
        position = torch.arange(x.shape[0])
        return x + position.to(x.device)[:, None]

    def inputs():
        return (torch.ones(4, 4, device="cuda"),)

Captures:

    import torch

    @torch.compile(mode="reduce-overhead")
    def step(x):
        position = torch.arange(x.shape[0], device=x.device)
        return x + position[:, None]

    def inputs():
        return (torch.ones(4, 4, device="cuda"),)

How to fix: make the tensor on the device (`device=x.device`), or register it as a buffer.
"""

from __future__ import annotations

from graphlint.events import HostCopy
from graphlint.rule import finding, rule
from graphlint.types import Finding, Target


@rule("GL808", on=HostCopy, predicts=None, compile="defeats")
def compiled_host_copy(event: HostCopy) -> Finding | None:
    if event.targets & Target.GRAPH:
        return None
    return finding(
        event,
        f"`{event.call}` copies between host and device, which splits the graph of the compiled function",
        help="make it on the device with `device=`, or build it once and register it as a buffer",
    )
