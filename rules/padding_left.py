"""Part of an input is filled, and the rest keeps what the last replay had.

The rows behind a smaller batch still hold the previous one.  That is harmless while rows do not meet; a sum, mean,
softmax or norm over them mixes the two, and rows that say where to write make the graph write there again.

Fails:

    import torch

    def main(device):
        static = torch.zeros(8, 4, device=device)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            out = static.softmax(0)
        for n in (8, 5):
            batch = torch.ones(n, 4, device=device)
            static[:n].copy_(batch)
            graph.replay()
            rest = torch.zeros(8 - n, 4, device=device)
            assert torch.allclose(out, torch.cat((batch, rest)).softmax(0))

Captures:

    import torch

    def main(device):
        static = torch.zeros(8, 4, device=device)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            out = static.softmax(0)
        for n in (8, 5):
            batch = torch.ones(n, 4, device=device)
            static.zero_()
            static[:n].copy_(batch)
            graph.replay()
            rest = torch.zeros(8 - n, 4, device=device)
            assert torch.allclose(out, torch.cat((batch, rest)).softmax(0))

How to fix: clear the rest before each replay (`static[n:].zero_()`), or mask it in the region.
"""

from __future__ import annotations

from graphlint.rule import finding, rule
from graphlint.site_events import PaddingLeft
from graphlint.types import Finding


@rule("GL705", on=PaddingLeft, predicts="stale")
def padding_left(event: PaddingLeft) -> Finding | None:
    what = "writes to the places it names" if event.places else "mixes them"
    return finding(
        event,
        f"`{event.target}` fills part of an input; the rest still holds the last batch, and the region {what}",
        help="clear the rest first: `static[n:].zero_()`, or mask by the true length in the region",
    )
