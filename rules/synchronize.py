"""The host waits for the device, a stream or an event.

Nothing runs during capture, so there is nothing to wait for: the call raises error 900, or 907 for an event that was
recorded in the capture, and the capture is lost.  Waiting on the device (`wait_stream`, `Event.wait`) is recorded and fine.

Fails:

    import torch

    def step(x):
        y = x + 1
        torch.cuda.current_stream().synchronize()
        return y

Captures:

    def step(x):
        return x + 1

How to fix: remove the wait; order streams with `wait_stream`, measure around `replay()`.
"""

from __future__ import annotations

from graphlint.events import Synchronize
from graphlint.rule import finding, rule
from graphlint.types import Finding

_CURES = {
    ("graph", "capture_begin", "make_graphed_callables"): "capture it by itself, before this region or after it",
    ("barrier",): "call it outside the region; collectives in a graph wait for each other on the device",
}
_OTHERWISE = "remove it; let streams wait for each other with `wait_stream` or `Event.wait`, and measure around the replay"


@rule("GL105", on=Synchronize, predicts="breaks")
def synchronize(event: Synchronize) -> Finding | None:
    return finding(
        event,
        f"`{event.text}` makes the host wait for the device",
        help=next((cure for names, cure in _CURES.items() if event.call.endswith(names)), _OTHERWISE),
    )
