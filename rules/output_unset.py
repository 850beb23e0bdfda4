"""A tensor made in a region is read before any replay has computed it.

A capture records kernels and runs none of them: until the first replay the memory of its results holds anything.

Fails:

    import torch

    def main(device):
        model = torch.nn.Linear(4, 4).to(device)
        static = torch.zeros(2, 4, device=device)
        for _ in range(3):
            model(static)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            out = model(static)
        static.fill_(1.0)
        assert out.isfinite().all() and torch.equal(out + 0, model(static))
        graph.replay()

Captures:

    import torch

    def main(device):
        model = torch.nn.Linear(4, 4).to(device)
        static = torch.zeros(2, 4, device=device)
        for _ in range(3):
            model(static)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            out = model(static)
        static.fill_(1.0)
        graph.replay()
        assert out.isfinite().all() and torch.equal(out + 0, model(static))

How to fix: replay once before the result is read.
"""

from __future__ import annotations

from graphlint.rule import finding, rule
from graphlint.site_events import OutputUnset
from graphlint.types import Finding


@rule("GL508", on=OutputUnset, predicts="stale")
def output_unset(event: OutputUnset) -> Finding | None:
    if event.is_kept:
        return finding(
            event,
            f"`{event.target}` is first made while capturing, and others use it before any replay has computed it",
            help="call it once before the capture, so that it is made outside the memory of the graph",
        )
    return finding(
        event,
        f"`{event.target}` reads a result of the graph before any replay has computed it",
        help="call `replay()` first: a capture records and does not run",
    )
