"""A graph is captured anew in every round of the loop that replays it.

A capture synchronises, records every kernel and instantiates the graph: slower than running the code once.  The gain
comes from replaying one capture many times.

Fails:

    import torch

    def main(device):
        model = torch.nn.Linear(4, 4).to(device)
        model(torch.zeros(2, 4, device=device))
        for batch in torch.rand(3, 2, 4, device=device).unbind(0):
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                out = model(batch)
            graph.replay()
            print(out.sum())

Captures:

    import torch

    def main(device):
        model = torch.nn.Linear(4, 4).to(device)
        static = torch.zeros(2, 4, device=device)
        model(static)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            out = model(static)
        for batch in torch.rand(3, 2, 4, device=device).unbind(0):
            static.copy_(batch)
            graph.replay()
            print(out.sum())

How to fix: capture once before the loop and feed it with `copy_`.
"""

from __future__ import annotations

from graphlint.rule import finding, rule
from graphlint.site_events import CaptureInLoop
from graphlint.types import Finding


@rule("GL708", on=CaptureInLoop, predicts="defeats")
def capture_in_loop(event: CaptureInLoop) -> Finding | None:
    return finding(
        event,
        f"`{event.loop}` captures again in every round of the loop that replays it",
        help="capture once before the loop, and copy each input into the captured one",
    )
