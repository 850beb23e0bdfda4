"""A graph object is captured into twice, replayed when empty, or captured on no side stream.

A `CUDAGraph` holds one capture until it is reset, and `capture_begin` wants another stream than the default one.
A capture takes no launch of another graph, has no pool to share yet, and ends on the stream it began on.  One that an
error or a `return` leaves open goes on, and records or refuses what was meant to run instead.

Fails:

    import torch

    def main(device):
        static = torch.zeros(4, device=device)
        graph = torch.cuda.CUDAGraph()
        outs = []
        for scale in (1.0, 2.0):
            with torch.cuda.graph(graph):
                out = static * scale
            outs.append(out)
        graph.replay()
        return outs

Captures:

    import torch

    def main(device):
        static = torch.zeros(4, device=device)
        outs = []
        for scale in (1.0, 2.0):
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                out = static * scale
            graph.replay()
            outs.append(out)
        return outs

How to fix: a `CUDAGraph` for each capture; `with torch.cuda.graph(graph):` instead of `capture_begin` and `capture_end`.
"""

from __future__ import annotations

from graphlint.rule import finding, rule
from graphlint.site_events import GraphMisused
from graphlint.types import Finding


@rule("GL528", on=GraphMisused, predicts="breaks")
def graph_misused(event: GraphMisused) -> Finding | None:
    return finding(
        event,
        f"`{event.text}` {event.what}: {event.why}",
        help=event.cure,
    )
