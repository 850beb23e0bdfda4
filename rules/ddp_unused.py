"""A region trains a DDP model that looks for unused parameters and has some.

With `find_unused_parameters=True` DDP keeps a map of what was used.  If something was not, it reads the map of all ranks
back at the end of the backward pass, which a capture refuses.  If all is used, nothing is read.

Fails:

    import torch
    from torch.nn.parallel import DistributedDataParallel

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.used, self.spare = torch.nn.Linear(4, 4), torch.nn.Linear(4, 4)

        def forward(self, x):
            return self.used(x)

    def main(device):
        x, side = torch.ones(2, 4, device=device), torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            model = DistributedDataParallel(Net().to(device), find_unused_parameters=True)
            for _ in range(11):
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
            model = DistributedDataParallel(torch.nn.Linear(4, 4).to(device), find_unused_parameters=True)
            for _ in range(11):
                model.zero_grad(set_to_none=False)
                model(x).sum().backward()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            model.zero_grad(set_to_none=False)
            model(x).sum().backward()
        graph.replay()

How to fix: remove or freeze what is not used, and leave `find_unused_parameters` out.
"""

from __future__ import annotations

from graphlint.around_events import DdpUnused
from graphlint.rule import finding, rule
from graphlint.types import Finding


@rule("GL614", on=DdpUnused, predicts="breaks", gpu="needs a process group: `python -m tests.gpu.ranks`")
def ddp_unused(event: DdpUnused) -> Finding | None:
    return finding(
        event,
        f"`{event.callee}` trains a DDP model that reads back which parameters were used, and `{event.layer}` is not",
        help="remove or freeze what is not used, and leave `find_unused_parameters` out",
    )
