"""Host state that outlives the region changes inside it.

A replay runs no Python: the counter, list or dictionary changes once, at capture, and never again.  Tensors that are
updated in place (`self.count.add_(1)`) are recorded and advance on every replay.  A count that nothing in the file
computes with is no more than possible: what is shown to people is wrong, and no tensor.

Fails:

    import torch

    class Step(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.calls = 0

        def forward(self, x):
            self.calls += 1
            # graphlint: ignore[frozen-scalar] -- shown by the page of that rule
            return x * self.calls

Captures:

    import torch

    class Step(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("calls", torch.zeros(()))

        def forward(self, x):
            self.calls.add_(1)
            return x * self.calls

How to fix: make it a device tensor that is updated in place, or move the bookkeeping behind the replay.
"""

from __future__ import annotations

from graphlint.events import HostMutation
from graphlint.rule import finding, rule
from graphlint.types import Confidence, Finding


@rule("GL404", on=HostMutation, predicts="stale")
def host_mutation(event: HostMutation) -> Finding | None:
    if event.what == "entry" and "." not in event.target.partition("[")[0] and not event.why:
        # An entry of a plain variable is how results are handed out; only a region that reads it back goes wrong.
        return None
    if event.what == "call":
        return finding(
            event,
            f"`{event.target}` runs only at capture, never on replay: {event.why}",
            help="call it outside the region, before the capture or between replays",
        )
    return finding(
        event,
        f"`{event.target}` is a host {event.what} that changes only at capture, never on replay",
        help="make it a device tensor updated in place (`self.count.add_(1)`), or do the bookkeeping outside the region",
        confidence=Confidence.POSSIBLE if event.is_shown else None,
    )
