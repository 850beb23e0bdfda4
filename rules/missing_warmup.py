"""A region runs layers that nobody called before the capture.

The first call of a matrix product or a convolution sets up library handles and workspaces, which is not permitted
during capture; lazily built caches would end up in the pool of the graph besides.  A backward pass runs on a thread of its
own, with handles of its own: warm-ups without it do not count for it.  A Triton kernel with several configurations times
them at its first launch for a key.

Fails:

    import torch

    def main(device):
        model = torch.nn.Linear(4, 4).to(device)
        static = torch.zeros(2, 4, device=device)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            out = model(static)
        graph.replay()
        return out

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
        graph.replay()
        return out

How to fix: call the captured code about three times on a side stream before the capture, with the same shapes.
"""

from __future__ import annotations

from graphlint.rule import finding, rule
from graphlint.site_events import WarmupMissing
from graphlint.types import Finding


@rule("GL501", on=WarmupMissing, predicts="breaks")
def missing_warmup(event: WarmupMissing) -> Finding | None:
    return finding(
        event,
        f"`{event.callee}` is captured without a warm-up, so {event.why} during capture",
        help="run the captured code about three times on a side stream before the capture",
    )
