"""A region runs the backward pass of a DDP model that was made on the default stream.

DDP keeps the nodes that add gradients up, and autograd runs those on the stream on which they were made.  In a capture
the default stream would have to wait for the captured one, which is refused.

Fails:

    import torch
    from torch.nn.parallel import DistributedDataParallel

    def main(device):
        x = torch.ones(2, 4, device=device)
        model = DistributedDataParallel(torch.nn.Linear(4, 4).to(device))
        for _ in range(11):
            model.zero_grad(set_to_none=False)
            model(x).sum().backward()
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

How to fix: make the DDP model, and warm it up, inside `with torch.cuda.stream(side)`.
"""

from __future__ import annotations

from graphlint.around_events import DdpOnDefaultStream
from graphlint.rule import finding, rule
from graphlint.types import Finding


@rule("GL608", on=DdpOnDefaultStream, predicts="breaks", gpu="needs two GPUs: `python -m tests.gpu.ranks`")
def ddp_default_stream(event: DdpOnDefaultStream) -> Finding | None:
    return finding(
        event,
        f"`{event.call}` adds up gradients of a DDP model that was made on the default stream",
        help="make the model inside `with torch.cuda.stream(side)`, and join the side stream afterwards",
    )
