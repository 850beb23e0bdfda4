"""A captured module is switched between training and evaluation.

The mode was a Python flag when the graph was recorded.  Replays go on with the kernels of that mode: dropout still drops,
statistics still move.

Fails:

    import torch

    def main(device):
        model = torch.nn.Dropout(0.5)
        static = torch.ones(64, device=device)
        model(static)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            out = model(static)
        model.eval()
        graph.replay()
        assert torch.equal(out, model(static)) or model.training

Captures:

    import torch

    def main(device):
        model = torch.nn.Dropout(0.5)
        static = torch.ones(64, device=device)
        model(static)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            out = model(static)
        graph.replay()
        assert torch.equal(out, model(static)) or model.training

How to fix: capture one graph for each mode.
"""

from __future__ import annotations

from graphlint.rule import finding, rule
from graphlint.site_events import ModeToggled
from graphlint.types import Finding


@rule("GL525", on=ModeToggled, predicts="stale")
def mode_toggled(event: ModeToggled) -> Finding | None:
    return finding(
        event,
        f"`{event.target}` switches the mode of a captured module; replays keep the one of the capture",
        help="capture one graph for each mode, and replay the one that fits",
    )
