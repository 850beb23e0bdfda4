"""A backward pass is captured while the gradients of the warm-up are still there.

A backward pass adds to a gradient that exists and writes one that does not.  Captured as an addition, it adds once more
with every replay.

Fails:

    import torch

    def main(device):
        model = torch.nn.Linear(4, 1).to(device)
        x = torch.ones(2, 4, device=device)
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            model(x).sum().backward()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            model(x).sum().backward()
        graph.replay()
        first = model.weight.grad.clone()
        graph.replay()
        assert torch.equal(first, model.weight.grad)

Captures:

    import torch

    def main(device):
        model = torch.nn.Linear(4, 1).to(device)
        x = torch.ones(2, 4, device=device)
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            model(x).sum().backward()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        model.zero_grad(set_to_none=True)
        with torch.cuda.graph(graph):
            model(x).sum().backward()
        graph.replay()
        first = model.weight.grad.clone()
        graph.replay()
        assert torch.equal(first, model.weight.grad)

How to fix: `zero_grad(set_to_none=True)` right before the capture.
"""

from __future__ import annotations

from graphlint.rule import finding, rule
from graphlint.site_events import GradientsPileUp
from graphlint.types import Finding


@rule("GL519", on=GradientsPileUp, predicts="stale")
def gradients_pile_up(event: GradientsPileUp) -> Finding | None:
    return finding(
        event,
        f"`{event.call}` is captured onto gradients of the warm-up, so every replay adds to them",
        help="call `zero_grad(set_to_none=True)` right before the capture",
    )
