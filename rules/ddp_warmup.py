"""A region trains a DDP model that went through fewer than eleven warm-ups.

In its first ten iterations DDP reads times back for its statistics and rebuilds its buckets, which a capture refuses.

Fails:

    import torch
    from torch.nn.parallel import DistributedDataParallel

    def main(device):
        x, side = torch.ones(2, 4, device=device), torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            model = DistributedDataParallel(torch.nn.Linear(4, 4).to(device))
            for _ in range(3):
                model.zero_grad(set_to_none=False)
                model(x).sum().backward()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            model.zero_grad(set_to_none=False)
            model(x).sum().backward()
        graph.replay()

Captures:

    import torch
    from torch.nn.parallel import DistributedDataParallel

    def main(device):
        x, side = torch.ones(2, 4, device=device), torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            model = DistributedDataParallel(torch.nn.Linear(4, 4).to(device))
            for _ in range(11):
                model.zero_grad(set_to_none=False)
                model(x).sum().backward()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            model.zero_grad(set_to_none=False)
            model(x).sum().backward()
        graph.replay()

How to fix: run the whole step, backward included, at least eleven times before the capture.
"""

from __future__ import annotations

from graphlint.around_events import WarmupTooShort
from graphlint.rule import finding, rule
from graphlint.types import Finding


@rule("GL607", on=WarmupTooShort, predicts="breaks", gpu="needs two GPUs: `python -m tests.gpu.ranks`")
def ddp_warmup(event: WarmupTooShort) -> Finding | None:
    return finding(
        event,
        f"`{event.callee}` trains a DDP model after {event.count} warm-ups, and it wants eleven",
        help="run the whole step, forward and backward, at least eleven times before the capture",
    )
