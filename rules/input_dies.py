"""A graph outlives the only name of a tensor that it reads.

A graph does not keep its inputs alive.  When the last name of an input goes, its memory is given to somebody else, and
replays read that.

Fails:

    import torch

    def capture(model, device):
        static = torch.ones(2, 4, device=device)
        for _ in range(3):
            model(static)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            out = model(static)
        return graph, out

    def main(device):
        model = torch.nn.Linear(4, 4).to(device).requires_grad_(False)
        graph, out = capture(model, device)
        other = torch.zeros(2, 4, device=device)
        graph.replay()
        assert torch.equal(out, model(other + 1))

Captures:

    import torch

    def capture(model, device):
        static = torch.ones(2, 4, device=device)
        for _ in range(3):
            model(static)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            out = model(static)
        return graph, static, out

    def main(device):
        model = torch.nn.Linear(4, 4).to(device).requires_grad_(False)
        graph, static, out = capture(model, device)
        other = torch.zeros(2, 4, device=device)
        graph.replay()
        assert torch.equal(out, model(other + 1))

How to fix: keep the inputs for as long as the graph, next to it.
"""

from __future__ import annotations

from graphlint.rule import finding, rule
from graphlint.site_events import InputDies
from graphlint.types import Finding


@rule("GL509", on=InputDies, predicts="stale")
def input_dies(event: InputDies) -> Finding | None:
    return finding(
        event,
        f"`{event.graph}` gives the graph away and `{event.target}`, which it reads, dies here",
        help="return or store the input together with the graph",
    )
