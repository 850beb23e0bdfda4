"""The clock, the environment or another host fact is read inside a region.

The value is read once, while the graph is recorded; replays run no Python and keep it.

Fails:

    import time

    def step(x):
        return x * (time.time() % 1.0)

Captures:

    def step(x, now):
        return x * now

    def inputs():
        return torch.ones(4, device="cuda"), torch.ones((), device="cuda")

How to fix: read it outside and write it into a device tensor before each replay (`now.fill_(...)`).
"""

from __future__ import annotations

from graphlint.events import ClockRead
from graphlint.rule import finding, rule
from graphlint.types import Finding, Target


@rule("GL403", on=ClockRead, predicts="stale", compile="defeats")
def clock(event: ClockRead) -> Finding | None:
    is_clock = event.what == "clock"
    why = "" if is_clock else f": {event.what}"
    return finding(
        event,
        f"`{event.call}` is read once, at capture, and replays keep the value{why}",
        help="read it outside and pass it in as a device tensor that is filled before each replay"
        if is_clock
        else "read it before the capture; if it changes, pass what follows from it in a device tensor, or capture again",
        targets=Target.BOTH if is_clock else Target.GRAPH,
    )
