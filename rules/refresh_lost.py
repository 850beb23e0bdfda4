"""New data are written into a result of the graph instead of its input.

After a region has replaced an entry, the entry holds what the graph makes.  A replay writes over what is copied there.

Fails:

    import torch

    def main(device):
        lin = torch.nn.Linear(4, 4).to(device)
        state = [torch.zeros(2, 4, device=device)]
        for _ in range(3):
            lin(state[0])
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            # graphlint: ignore[entry-rebound] -- shown by the page of that rule
            state[0] = lin(state[0])
        new = torch.ones(2, 4, device=device)
        state[0].copy_(new)
        graph.replay()
        assert torch.equal(state[0], lin(new))

Captures:

    import torch

    def main(device):
        lin = torch.nn.Linear(4, 4).to(device)
        state = [torch.zeros(2, 4, device=device)]
        for _ in range(3):
            lin(state[0])
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            out = lin(state[0])
        new = torch.ones(2, 4, device=device)
        state[0].copy_(new)
        graph.replay()
        assert torch.equal(out, lin(new))

How to fix: keep the captured input under a name that the region does not replace.
"""

from __future__ import annotations

from graphlint.rule import finding, rule
from graphlint.site_events import RefreshMissesInput
from graphlint.types import Finding


@rule("GL511", on=RefreshMissesInput, predicts="stale")
def refresh_lost(event: RefreshMissesInput) -> Finding | None:
    if event.is_grown:
        return finding(
            event,
            f"`{event.target}` writes into memory that was made anew for more; older graphs read what was there before",
            help="make it once, as large as any call needs it, or capture the graphs again with the new one",
        )
    return finding(
        event,
        f"`{event.target}` writes into a tensor that the graph makes; the one it reads is out of reach",
        help="keep the input under a name or key that the region does not replace",
    )
