"""A function compiled with graphs copies between host and device.

The host side of the copy cannot be in a graph: `torch.compile` splits the function around it and copies at every call, or
skips graphs ("skipping cudagraphs due to cpu device").  What the function itself makes on the host and moves, it makes
on the device.  Raw capture refuses such a copy altogether, which other rules say.

Fails:

    import torch

    @torch.compile(mode="reduce-overhead")
    def step(x):
        y = torch.sin(x @ x)
        top = y.amax(0).cpu()
        return (y / top.to(x.device)) @ x

    def inputs():
        return (torch.ones(4, 4, device="cuda"),)

Captures:

    import torch

    @torch.compile(mode="reduce-overhead")
    def step(x):
        y = torch.sin(x @ x)
        top = y.amax(0)
        return (y / top) @ x

    def inputs():
        return (torch.ones(4, 4, device="cuda"),)

How to fix: keep the value on the device; make a table a buffer, so that it moves with the module.
"""

from __future__ import annotations

from graphlint.events import HostCopy, HostLiteral, HostToDevice
from graphlint.rule import finding, rule
from graphlint.types import Finding, Target


@rule("GL808", on=HostCopy, predicts=None, compile="defeats")
def compiled_host_copy(event: HostCopy) -> Finding | None:
    if event.targets & Target.GRAPH or _is_made_here(event):
        return None
    return finding(
        event,
        f"`{event.call}` copies between host and device, which splits the graph of the compiled function",
        help="keep it on the device, or build it once and register it as a buffer",
    )


def _is_made_here(event: HostCopy) -> bool:
    """Whether the compiler makes the tensor on the device (measured on an H200 with torch 2.11)."""
    return isinstance(event, HostLiteral) or (isinstance(event, HostToDevice) and not event.origin)
