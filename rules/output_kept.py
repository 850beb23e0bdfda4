"""A result of a graph is kept past the next replay without a copy.

Every replay writes its results to the same memory.  What was kept by reference shows the latest result, not its own.
Graphs that share a pool share memory too: replayed before a graph that was captured earlier, one has its results written
over by that graph, which found the same memory free.

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
        kept = []
        for value in (1.0, 2.0):
            static.fill_(value)
            graph.replay()
            kept.append(out)
        assert not torch.equal(kept[0], kept[1])

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
        kept = []
        for value in (1.0, 2.0):
            static.fill_(value)
            graph.replay()
            kept.append(out.clone())
        assert not torch.equal(kept[0], kept[1])

How to fix: keep `out.clone()`, or read what is needed before the next replay.
"""

from __future__ import annotations

from graphlint.rule import finding, rule
from graphlint.site_events import OutputKept
from graphlint.types import Finding


@rule("GL507", on=OutputKept, predicts="stale")
def output_kept(event: OutputKept) -> Finding | None:
    if event.how == "the pool is shared":
        return finding(
            event,
            f"`{event.text}` writes over a result, still to be read, of a graph that was captured later in the same pool",
            help="replay graphs of one pool in the order of their capture, or keep a copy of the result: `.clone()`",
        )
    return finding(
        event,
        f"`{event.text}` keeps a result that the next replay writes over ({event.how})",
        help="keep a copy: `.clone()`",
    )
