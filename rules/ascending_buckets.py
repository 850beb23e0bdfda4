"""Graphs that share a pool are captured from the smallest size up.

A graph can use the blocks that an earlier one left in the pool if they are large enough.  From the smallest size up
none is, so the pool grows with every capture.

Fails:

    import torch

    def main(device):
        model = torch.nn.Linear(4, 4).to(device)
        graphs, inputs, pool = {}, {}, None
        for size in (1, 2, 4):
            inputs[size] = torch.zeros(size, 4, device=device)
            model(inputs[size])
            graphs[size] = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graphs[size], pool=pool):
                model(inputs[size])
            pool = graphs[size].pool()
        graphs[4].replay()

Captures:

    import torch

    def main(device):
        model = torch.nn.Linear(4, 4).to(device)
        graphs, inputs, pool = {}, {}, None
        for size in (4, 2, 1):
            inputs[size] = torch.zeros(size, 4, device=device)
            model(inputs[size])
            graphs[size] = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graphs[size], pool=pool):
                model(inputs[size])
            pool = graphs[size].pool()
        graphs[4].replay()

How to fix: capture the largest size first.
"""

from __future__ import annotations

from graphlint.rule import finding, rule
from graphlint.site_events import AscendingBuckets
from graphlint.types import Finding


@rule("GL702", on=AscendingBuckets, predicts="defeats")
def ascending_buckets(event: AscendingBuckets) -> Finding | None:
    return finding(
        event,
        f"the graphs over `{event.loop}` share a pool and are captured from the smallest size up",
        help="capture the largest size first: `for size in sorted(sizes, reverse=True)`",
    )
