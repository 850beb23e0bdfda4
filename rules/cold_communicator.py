"""The first collective of a group is issued in a region.

NCCL makes a group's communicator with its first collective: it allocates, copies and waits, which a capture refuses.

Fails:

    import torch
    import torch.distributed as dist

    def main(device):
        x = torch.ones(4, device=device)
        group = dist.new_group([0, 1])
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            dist.all_reduce(x, group=group)
        graph.replay()
        return x

Captures:

    import torch
    import torch.distributed as dist

    def main(device):
        x = torch.ones(4, device=device)
        group = dist.new_group([0, 1])
        dist.all_reduce(x, group=group)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            dist.all_reduce(x, group=group)
        graph.replay()
        return x

How to fix: make groups before the capture, and issue one collective of each; sends and receives count by pairs of ranks.
"""

from __future__ import annotations

from graphlint.around_events import ColdCommunicator
from graphlint.rule import finding, rule
from graphlint.types import Finding


@rule("GL606", on=ColdCommunicator, predicts="breaks", gpu="needs two GPUs: `python -m tests.gpu.ranks`")
def cold_communicator(event: ColdCommunicator) -> Finding | None:
    return finding(
        event,
        f"`{event.call}` is the first collective of its group, whose communicator is made during capture",
        help="make the group before the capture and issue a collective of it there, as a warm-up does",
    )
