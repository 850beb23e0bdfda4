"""Dynamo cannot trace this and splits the graph.

Raw capture does not mind.  Under `torch.compile(mode="reduce-overhead")` every break makes one more graph with its own
launch, and a break in a function called from a loop splits the caller at every call.  `fullgraph=True` raises at this
one.  It is no proof of one graph elsewhere: it turns on the capture of scalars and of dynamic shapes, so that `item`,
`x[mask]` and `nonzero` pass with it and split the graph without.

Host tensors and arrays are traced as any other: `item`, `tolist`, `int`, `if`, a mask or a slice bound asks for values that
Dynamo does not have, even of `torch.tensor(5)`.  Numbers, `x.shape` and `math` are plain Python and fine.

Fails:

    import warnings

    def step(x):
        warnings.warn("slow path")
        return x + 1

Captures:

    def step(x):
        return x + 1

How to fix: move it out of the compiled function, or hoist it before the first tensor operation of the caller.
"""

from __future__ import annotations

from graphlint.events import GraphBreak
from graphlint.rule import finding, rule
from graphlint.types import Finding


@rule("GL801", on=GraphBreak, predicts=None, compile="defeats")
def graph_break(event: GraphBreak) -> Finding | None:
    return finding(
        event,
        f"{_named(event)} splits the graph under `torch.compile`: {event.why}",
        help="move it out of the compiled function; `fullgraph=True` makes such a break an error",
    )


def _named(event: GraphBreak) -> str:
    if event.construct.startswith(("a ", "an ")):
        return f"{event.construct} in `{event.text}`"
    return "`assert`" if event.construct.startswith("assert ") else f"`{event.construct}`"
