"""A lazy module gets its parameters in a region.

Its first call makes the parameters and fills them with random numbers.  In a capture that is recorded like anything else,
and every replay gives the module new weights.

Fails:

    import torch

    def main(device):
        torch.nn.Linear(4, 4).to(device)(torch.ones(2, 4, device=device))
        model = torch.nn.LazyLinear(4).to(device)
        static = torch.ones(2, 4, device=device)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            out = model(static)
        graph.replay()
        first = out.clone()
        graph.replay()
        assert torch.equal(out, first)

Captures:

    import torch

    def main(device):
        model = torch.nn.LazyLinear(4).to(device)
        static = torch.ones(2, 4, device=device)
        model(static)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            out = model(static)
        graph.replay()
        first = out.clone()
        graph.replay()
        assert torch.equal(out, first)

How to fix: call the module once before the capture.
"""

from __future__ import annotations

from graphlint.around_events import LazyParameters
from graphlint.rule import finding, rule
from graphlint.types import Finding


@rule("GL532", on=LazyParameters, predicts="stale")
def lazy_parameters(event: LazyParameters) -> Finding | None:
    if event.is_scale:
        return finding(
            event,
            f"`{event.callee}` is the first loss of its scaler, in the region: every replay sets the scale back",
            help="scale a loss once in the warm-up, before the capture",
        )
    return finding(
        event,
        f"`{event.callee}` makes the parameters of a lazy module in the region, so every replay makes them anew",
        help="call the module once before the capture",
    )
