"""A device scalar is an index or a slice bound.

Python needs the number to compute the view, so the bound is read back.  An index tensor with at least one dimension is
looked up on the device.  Dynamo splits the graph there; `fullgraph=True` captures a bound and raises at an index.

Fails:

    def step(x):
        n = (x[0] > 0).sum() // 2
        return x[n]

Captures:

    def step(x):
        n = (x[0] > 0).sum() // 2
        return x.index_select(0, n.view(1))

How to fix: `index_select(dim, n.view(1))` for an index; a mask built by `arange` for a bound.
"""

from __future__ import annotations

from graphlint.events import TensorBound
from graphlint.rule import finding, rule
from graphlint.types import Finding, Target

_LOOK = "look it up on the device: `x.index_select(dim, i.view(1))`"
_MASK = "keep the full size and mask: `torch.arange(n, device=x.device) < bound`"


@rule("GL204", on=TensorBound, predicts="breaks", compile="defeats")
def tensor_bound(event: TensorBound) -> Finding | None:
    return finding(
        event,
        f"`{event.text}` reads a device scalar as {_article(event.role)}",
        help=_LOOK if event.role == "index" else _MASK,
        # What may as well be a Python number is one under Dynamo most often: the length of a cache that grows.
        targets=Target.GRAPH if event.or_number else Target.BOTH,
    )


def _article(role: str) -> str:
    return f"an {role}" if role[:1] in "aeiou" else f"a {role}"
