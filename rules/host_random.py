"""A random number is drawn on the host.

The draw happens once, while the graph is recorded; every replay computes with the same number.  Random numbers drawn on
the device with the default generator differ from replay to replay.

Fails:

    import random

    def step(x):
        return x * random.random()

Captures:

    import torch

    def step(x):
        return x * torch.rand((), device=x.device)

How to fix: draw on the device and select with `torch.where`, or decide outside which graph is replayed.
"""

from __future__ import annotations

from graphlint.events import HostRandom
from graphlint.rule import finding, rule
from graphlint.types import Finding, Target


@rule("GL401", on=HostRandom, predicts="stale", compile="defeats")
def host_random(event: HostRandom) -> Finding | None:
    splits = event.call.startswith(("numpy.", "np.")) or event.call == "random.random"
    return finding(
        event,
        f"`{event.call}` draws on the host, once at capture; every replay repeats the draw",
        help="draw on the device (`torch.rand((), device=x.device)`), or decide outside which graph is replayed",
        targets=Target.BOTH if splits else Target.GRAPH,
    )
