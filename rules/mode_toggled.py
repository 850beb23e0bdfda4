"""A captured module is switched to another mode, or told something else that no replay hears.

The mode was a Python flag when the graph was recorded.  Replays go on with the kernels of that mode: dropout still drops,
statistics still move.  The same goes for which parameters learn, for hooks, for the numbers that layers of torch keep
(`dropout.p`, `norm.momentum`), and for parameters that an optimizer gets later.

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

TOLD = {
    "learning": ("changes which parameters learn; replays go on with those of the capture", "capture again behind it"),
    "hook": ("registers a hook that no replay runs", "register it before the capture, and let it write into fixed tensors"),
    "setting": ("sets a number of a captured layer; replays keep the one of the capture", "capture again behind it"),
    "group": ("gives an optimizer parameters that its captured step does not know", "capture again behind it"),
}


@rule("GL525", on=ModeToggled, predicts="stale")
def mode_toggled(event: ModeToggled) -> Finding | None:
    if event.what in TOLD:
        said, cure = TOLD[event.what]
        return finding(event, f"`{event.target}` {said}", help=cure)
    return finding(
        event,
        f"`{event.target}` switches the mode of a captured module; replays keep the one of the capture",
        help="capture one graph for each mode, and replay the one that fits",
    )
