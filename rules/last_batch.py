"""A loader whose last batch can be smaller feeds an input of fixed size.

`copy_` of a smaller batch raises, or is broadcast without a word when the batch has one row.

Fails:

    import torch
    from torch.utils.data import DataLoader

    def main(device):
        model = torch.nn.Linear(4, 4).to(device)
        static = torch.zeros(8, 4, device=device)
        model(static)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            out = model(static)
        for batch in DataLoader(torch.rand(17, 4), batch_size=8):
            static.copy_(batch)
            graph.replay()
            assert len(out) == len(batch)

Captures:

    import torch
    from torch.utils.data import DataLoader

    def main(device):
        model = torch.nn.Linear(4, 4).to(device)
        static = torch.zeros(8, 4, device=device)
        model(static)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            out = model(static)
        for batch in DataLoader(torch.rand(17, 4), batch_size=8, drop_last=True):
            static.copy_(batch)
            graph.replay()
            assert len(out) == len(batch)

How to fix: `drop_last=True`, or pad the last batch.
"""

from __future__ import annotations

from graphlint.rule import finding, rule
from graphlint.site_events import LastBatch
from graphlint.types import Finding


@rule("GL707", on=LastBatch, predicts="stale")
def last_batch(event: LastBatch) -> Finding | None:
    return finding(
        event,
        f"`{event.loader}` is fed by a loader that may end with a smaller batch",
        help="pass `drop_last=True`, or pad the last batch and cut its result",
    )
