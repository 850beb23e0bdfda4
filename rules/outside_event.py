"""A region waits for an event or a stream that is not part of the capture.

The wait would make the graph depend on work that is not in it.  `torch.cuda.Event(external=True)` asks for just that.

Fails:

    import torch

    def main(device):
        x = torch.ones(4, device=device)
        ready = torch.cuda.Event()
        ready.record()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            torch.cuda.current_stream().wait_event(ready)
            y = x + 1
        graph.replay()
        return y

Captures:

    import torch

    def main(device):
        x = torch.ones(4, device=device)
        ready = torch.cuda.Event()
        ready.record()
        torch.cuda.current_stream().wait_event(ready)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            y = x + 1
        graph.replay()
        return y

How to fix: wait before the capture and before each replay, or use an external event.
"""

from __future__ import annotations

from graphlint.rule import finding, rule
from graphlint.site_events import OutsideEvent
from graphlint.types import Finding


@rule("GL603", on=OutsideEvent, predicts="breaks")
def outside_event(event: OutsideEvent) -> Finding | None:
    return finding(
        event,
        f"`{event.event}` waits for {event.awaited}",
        help="wait outside the region, or use `torch.cuda.Event(external=True)`",
    )
