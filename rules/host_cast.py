"""A device tensor is turned into a Python number.

`int`, `float`, `bool`, `complex` and the functions of `math` call `item`, which waits for the device; waiting is not
permitted during capture.  Sizes are Python numbers already: `int(x.shape[0])` is fine.  Dynamo splits the graph there;
`fullgraph=True` captures a cast as an unknown number and raises at a function of `math`.

Fails:

    import math

    def step(x):
        return x / math.sqrt(x.square().sum())

Captures:

    def step(x):
        return x / x.square().sum().sqrt()

How to fix: use the tensor method of the same name.
"""

from __future__ import annotations

from graphlint.events import HostCast
from graphlint.rule import finding, rule
from graphlint.types import Finding


@rule("GL102", on=HostCast, predicts="breaks", compile="defeats")
def host_cast(event: HostCast) -> Finding | None:
    return finding(
        event,
        f"`{event.builtin}` turns the device tensor in `{event.text}` into a Python number",
        help=f"stay in tensor arithmetic: use a tensor method instead of `{event.builtin}`",
    )
