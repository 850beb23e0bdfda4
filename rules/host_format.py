"""A device tensor is turned into text.

Formatting reads the values: an f-string copies them to the host even when the text is thrown away.  Lazy arguments of a
logger are formatted only when the level is on.  Dynamo keeps f-strings out of the graph but breaks at `print` and `str`.

Fails:

    def step(x):
        note = f"mean {x.mean()}"
        return x + 1

Captures:

    def step(x):
        note = f"shape {x.shape}"
        return x + 1

How to fix: print shapes and dtypes only, or print the values after the replay.
"""

from __future__ import annotations

from graphlint.events import HostFormat
from graphlint.rule import finding, rule
from graphlint.types import Finding, Target


@rule("GL104", on=HostFormat, predicts="breaks", compile="defeats")
def host_format(event: HostFormat) -> Finding | None:
    breaks_dynamo = event.construct not in ("f-string", "format")
    return finding(
        event,
        f"{_named(event.construct)} formats the device tensor in `{event.text}`, which copies it to the host",
        help="print shapes only, or move the message behind the replay",
        targets=Target.BOTH if breaks_dynamo else Target.GRAPH,
    )


def _named(construct: str) -> str:
    return "an f-string" if construct == "f-string" else f"`{construct}`"
