"""Gradients that a graph writes are set to None between replays.

The graph goes on writing the tensors that were `.grad` at capture.  After `zero_grad()` the parameters no longer know
them, and the optimizer skips what has no gradient.

Fails:

    import torch

    def main(device):
        model = torch.nn.Linear(4, 1).to(device)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        x = torch.ones(2, 4, device=device)
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                optimizer.zero_grad()
                model(x).sum().backward()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        optimizer.zero_grad()
        with torch.cuda.graph(graph):
            model(x).sum().backward()
        for _ in range(2):
            before = model.weight.clone()
            optimizer.zero_grad()
            graph.replay()
            optimizer.step()
            assert not torch.equal(before, model.weight)

Captures:

    import torch

    def main(device):
        model = torch.nn.Linear(4, 1).to(device)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        x = torch.ones(2, 4, device=device)
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                optimizer.zero_grad()
                model(x).sum().backward()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        optimizer.zero_grad()
        with torch.cuda.graph(graph):
            model(x).sum().backward()
        for _ in range(2):
            before = model.weight.clone()
            graph.replay()
            optimizer.step()
            assert not torch.equal(before, model.weight)

How to fix: leave it out (a captured backward pass writes, it does not add), or pass `set_to_none=False`.
"""

from __future__ import annotations

from graphlint.rule import finding, rule
from graphlint.site_events import GradientsDropped
from graphlint.types import Finding


@rule("GL518", on=GradientsDropped, predicts="stale")
def gradients_dropped(event: GradientsDropped) -> Finding | None:
    return finding(
        event,
        f"`{event.call}` drops the gradients that the graph writes, so the optimizer finds none",
        help="leave it out, as a captured backward pass overwrites; or pass `set_to_none=False`",
    )
