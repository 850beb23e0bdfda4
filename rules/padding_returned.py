"""A result of full size is handed out although only part of the input was filled.

The rows behind the true length are results of padding, or of an earlier batch.

Fails:

    import torch

    class Runner:
        def __init__(self, model, device):
            self.static = torch.zeros(8, 4, device=device)
            model(self.static)
            self.graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self.graph):
                self.out = model(self.static)

        def __call__(self, x):
            n = x.shape[0]
            self.static[:n].copy_(x)
            self.graph.replay()
            return self.out.clone()

    def main(device):
        runner = Runner(torch.nn.Linear(4, 4).to(device), device)
        assert len(runner(torch.ones(3, 4, device=device))) == 3

Captures:

    import torch

    class Runner:
        def __init__(self, model, device):
            self.static = torch.zeros(8, 4, device=device)
            model(self.static)
            self.graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self.graph):
                self.out = model(self.static)

        def __call__(self, x):
            n = x.shape[0]
            self.static[:n].copy_(x)
            self.graph.replay()
            return self.out[:n].clone()

    def main(device):
        runner = Runner(torch.nn.Linear(4, 4).to(device), device)
        assert len(runner(torch.ones(3, 4, device=device))) == 3

How to fix: cut the result to the true length.
"""

from __future__ import annotations

from graphlint.rule import finding, rule
from graphlint.site_events import PaddingReturned
from graphlint.types import Finding


@rule("GL706", on=PaddingReturned, predicts="stale")
def padding_returned(event: PaddingReturned) -> Finding | None:
    return finding(
        event,
        f"`{event.target}` hands out all rows of a bucket of which only part was filled",
        help="cut to the true length: `out[:n].clone()`",
    )
