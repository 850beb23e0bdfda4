"""A region replaces an entry of a container that it reads.

The entry names the graph's input before the capture and a result of the graph after it.  Replays go on reading the old
tensor, and data written into the entry are lost.

Fails:

    import torch

    class Cell(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.lin = torch.nn.Linear(4, 4)

        def forward(self, state):
            state["h"] = self.lin(state["h"])

    def main(device):
        model = Cell().to(device)
        state = {"h": torch.ones(2, 4, device=device)}
        for _ in range(3):
            model(dict(h=torch.ones(2, 4, device=device)))
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            model(state)
        graph.replay()
        first = state["h"].clone()
        graph.replay()
        assert not torch.equal(first, state["h"])

Captures:

    import torch

    class Cell(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.lin = torch.nn.Linear(4, 4)

        def forward(self, state):
            state["h"].copy_(self.lin(state["h"]))

    def main(device):
        model = Cell().to(device)
        state = {"h": torch.ones(2, 4, device=device)}
        for _ in range(3):
            model(dict(h=torch.ones(2, 4, device=device)))
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            model(state)
        graph.replay()
        first = state["h"].clone()
        graph.replay()
        assert not torch.equal(first, state["h"])

How to fix: write the new value into the tensor that the entry holds, or use another key.
"""

from __future__ import annotations

from graphlint.rule import finding, rule
from graphlint.site_events import EntryRebound
from graphlint.types import Finding


@rule("GL510", on=EntryRebound, predicts="stale")
def entry_rebound(event: EntryRebound) -> Finding | None:
    return finding(
        event,
        f"`{event.target}` is read by the region and then replaced in it; replays go on reading the old tensor",
        help=f"write in place: `{event.target}.copy_(...)`, or store the result under another key",
    )
