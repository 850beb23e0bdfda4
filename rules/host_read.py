"""A tensor's value is read back to the host while its stream is being captured.

The read waits for the device, and waiting is not permitted during capture: `item` raises error 900, `tolist` and `numpy`
the refusal of an unpinned copy.  Under `torch.compile` the graph is split at the read.  `fullgraph=True` does not tell: it
captures `item` and the `tolist` of integers as unknown numbers, and raises at the `tolist` of floats.

Fails:

    def step(x):
        return x * x.sum().item()

Captures:

    def step(x):
        return x * x.sum()

How to fix: keep the value a 0-d tensor, or read it after the replay.
"""

from __future__ import annotations

from graphlint.events import HostRead
from graphlint.rule import finding, rule
from graphlint.types import Finding


@rule("GL101", on=HostRead, predicts="breaks", compile="defeats")
def host_read(event: HostRead) -> Finding | None:
    return finding(
        event,
        f"`{event.text}` reads a device value back to the host",
        help="keep the value on the device as a 0-d tensor, or read it after the replay",
    )
