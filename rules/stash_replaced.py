"""An attribute that a region sets is replaced outside and read after a replay.

The assignment is Python and runs once, at capture.  A replay refreshes the tensor that was assigned then, not the
attribute.

Fails:

    import torch

    class Probe(torch.nn.Module):
        def forward(self, x):
            h = x * 2
            # graphlint: ignore[rebound-attribute] -- shown by the page of that rule
            self.hidden = h
            return h + 1

    def main(device):
        model, static = Probe(), torch.ones(4, device=device)
        model(static)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            model(static)
        model.hidden = torch.zeros(4, device=device)
        graph.replay()
        assert torch.equal(model.hidden, static * 2)

Captures:

    import torch

    class Probe(torch.nn.Module):
        def forward(self, x):
            h = x * 2
            self.hidden.copy_(h)
            return h + 1

    def main(device):
        model, static = Probe(), torch.ones(4, device=device)
        model.hidden = torch.zeros(4, device=device)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            model(static)
        model.hidden.zero_()
        graph.replay()
        assert torch.equal(model.hidden, static * 2)

How to fix: write into a buffer with `copy_`, and clear it with `zero_()`.
"""

from __future__ import annotations

from graphlint.rule import finding, rule
from graphlint.site_events import StashReplaced
from graphlint.types import Finding


@rule("GL513", on=StashReplaced, predicts="stale")
def stash_replaced(event: StashReplaced) -> Finding | None:
    return finding(
        event,
        f"`{event.target}` runs once, at capture; the attribute is replaced later and a replay does not set it again",
        help="copy into a buffer that is allocated before the capture, and clear it in place",
    )
