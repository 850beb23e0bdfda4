"""A region issues a collective of a group that works on the host.

Gloo copies a device tensor to the host, waits for it, and sends it from there; a capture refuses the wait.  Only groups of
NCCL put their collectives into the graph.

Fails:

    import torch
    import torch.distributed as dist

    def main(device):
        host = dist.new_group(backend="gloo")
        static = torch.ones(4, device=device)
        dist.all_reduce(static, group=host)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            out = static * 2
            dist.all_reduce(out, group=host)
        graph.replay()
        return out

Captures:

    import torch
    import torch.distributed as dist

    def main(device):
        host = dist.new_group(backend="gloo")
        static = torch.ones(4, device=device)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            out = static * 2
        graph.replay()
        dist.all_reduce(out, group=host)
        return out

How to fix: make the group with `nccl`, or issue the collective behind the replay.
"""

from __future__ import annotations

from graphlint.around_events import HostCollective
from graphlint.rule import finding, rule
from graphlint.types import Finding


@rule("GL613", on=HostCollective, predicts="breaks", gpu="needs a process group: `python -m tests.gpu.ranks`")
def host_collective(event: HostCollective) -> Finding | None:
    return finding(
        event,
        f"`{event.call}` goes through the host: its group was made with Gloo, which waits for the device",
        help="make the group with `nccl`, or issue the collective behind the replay",
    )
