"""A copy to the host is read although nobody waited for it.

A replay and a copy with `non_blocking=True` only queue work.  The host reads whatever is in its buffer at that moment.

Fails:

    import torch

    def main(device):
        static = torch.ones(1 << 24, device=device)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            out = static * 2
        host = torch.zeros(1 << 24, pin_memory=True)
        graph.replay()
        host.copy_(out, non_blocking=True)
        assert host[-1].item() == 2

Captures:

    import torch

    def main(device):
        static = torch.ones(1 << 24, device=device)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            out = static * 2
        host = torch.zeros(1 << 24, pin_memory=True)
        graph.replay()
        host.copy_(out, non_blocking=True)
        torch.cuda.current_stream().synchronize()
        assert host[-1].item() == 2

How to fix: wait for the stream, or for an event recorded behind the copy.
"""

from __future__ import annotations

from graphlint.rule import finding, rule
from graphlint.site_events import UnwaitedCopy
from graphlint.types import Finding


@rule("GL526", on=UnwaitedCopy, predicts="stale")
def unwaited_copy(event: UnwaitedCopy) -> Finding | None:
    return finding(
        event,
        f"`{event.target}` reads a host buffer while the copy into it may still be running",
        help="wait first: `torch.cuda.current_stream().synchronize()`, or an event recorded behind the copy",
    )
