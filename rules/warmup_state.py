"""A warm-up moves state that nothing puts back.

Warm-up calls are real calls: running statistics and counters advance on dummy data, and the captured training begins
from there.  So are those that `make_graphed_callables` makes of its own, with the samples it is given.

Fails:

    import torch

    def main(device):
        model = torch.nn.BatchNorm1d(4).to(device)
        static = torch.zeros(2, 4, device=device)
        for _ in range(3):
            model(static)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            out = model(static)
        static.copy_(torch.ones(2, 4, device=device))
        graph.replay()
        assert model.num_batches_tracked == 1

Captures:

    import torch

    def main(device):
        model = torch.nn.BatchNorm1d(4).to(device)
        static = torch.zeros(2, 4, device=device)
        for _ in range(3):
            model(static)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            out = model(static)
        model.reset_running_stats()
        static.copy_(torch.ones(2, 4, device=device))
        graph.replay()
        assert model.num_batches_tracked == 1

How to fix: save the buffers before the warm-up and load them after the capture, in place.
"""

from __future__ import annotations

from graphlint.rule import finding, rule
from graphlint.site_events import WarmupMovesState
from graphlint.types import Finding


@rule("GL504", on=WarmupMovesState, predicts="stale")
def warmup_state(event: WarmupMovesState) -> Finding | None:
    return finding(
        event,
        f"the warm-up `{event.callee}` moves {event.what} that nothing puts back before the first replay",
        help="keep a copy of `state_dict()` before the warm-up and load it after the capture",
    )
