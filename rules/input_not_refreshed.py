"""New data arrive for every replay and are written into no input of the graph.

A replay without a write in between computes the same result again.

Fails:

    import torch

    def main(device):
        model = torch.nn.Linear(4, 4).to(device)
        static = torch.zeros(2, 4, device=device)
        for _ in range(3):
            model(static)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            out = model(static)
        for batch in torch.rand(3, 2, 4, device=device).unbind(0):
            graph.replay()
            assert torch.equal(out, model(batch))

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
        for batch in torch.rand(3, 2, 4, device=device).unbind(0):
            static.copy_(batch)
            graph.replay()
            assert torch.equal(out, model(batch))

How to fix: copy every new input into its captured tensor before `replay()`.
"""

from __future__ import annotations

from graphlint.rule import finding, rule
from graphlint.site_events import InputNotRefreshed
from graphlint.types import Finding


@rule("GL506", on=InputNotRefreshed, predicts="stale")
def input_not_refreshed(event: InputNotRefreshed) -> Finding | None:
    return finding(
        event,
        f"`{event.source}` is new for every replay, and nothing of it is written into an input of the graph",
        help="copy it into the captured tensor before the replay: `static_input.copy_(...)`",
    )
