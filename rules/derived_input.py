"""New data are written into the source of a copy that the graph reads.

A cast or copy that is made before the capture is made once.  The graph reads the copy, and the copy does not follow its
source.

Fails:

    import torch

    def main(device):
        model = torch.nn.Linear(4, 4).to(device).half()
        raw = torch.zeros(2, 4, device=device)
        static = raw.half()
        for _ in range(3):
            model(static)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            out = model(static)
        raw.copy_(torch.ones(2, 4, device=device))
        graph.replay()
        assert torch.equal(out, model(torch.ones_like(static)))

Captures:

    import torch

    def main(device):
        model = torch.nn.Linear(4, 4).to(device).half()
        raw = torch.zeros(2, 4, device=device)
        static = raw.half()
        for _ in range(3):
            model(static)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            out = model(static)
        static.copy_(torch.ones(2, 4, device=device))
        graph.replay()
        assert torch.equal(out, model(torch.ones_like(static)))

How to fix: write into the tensor that the graph reads, or make the cast inside the region.
"""

from __future__ import annotations

from graphlint.rule import finding, rule
from graphlint.site_events import DerivedInput
from graphlint.types import Finding


@rule("GL524", on=DerivedInput, predicts="stale")
def derived_input(event: DerivedInput) -> Finding | None:
    if event.source:
        return finding(
            event,
            f"`{event.target}` is passed over by the capture; replays read what it made before `{event.source}`",
            help="make it again in place before each replay, or inside the region on every call",
        )
    return finding(
        event,
        f"`{event.target}` writes into the source of a copy; the graph reads the copy made before the capture",
        help="write into the copy itself, or make the cast in the region",
    )
