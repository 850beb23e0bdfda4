"""A builtin compares device values in Python.

`max`, `min`, `sorted`, `any`, `all` and `in` ask Python for the truth of each comparison, and every answer waits for the
device.  Dynamo turns `max` and `min` of tensors into tensor operations; the others split the graph.

Fails:

    def step(x):
        return x * max(x.sum(), x.mean())

Captures:

    import torch

    def step(x):
        return x * torch.maximum(x.sum(), x.mean())

How to fix: use `torch.maximum`, `torch.sort`, `Tensor.any`, `torch.isin` with a device tensor.
"""

from __future__ import annotations

from graphlint.events import HostCompare
from graphlint.rule import finding, rule
from graphlint.types import Finding, Target

_CURES = {
    "max": "use `torch.maximum(a, b)` or `x.amax()`",
    "min": "use `torch.minimum(a, b)` or `x.amin()`",
    "sorted": "use `torch.sort(x).values`",
    "any": "use `x.any()` and keep it on the device",
    "all": "use `x.all()` and keep it on the device",
    "in": "use `(x == value).any()` and keep it on the device",
}


@rule("GL107", on=HostCompare, predicts="breaks", compile="defeats")
def host_compare(event: HostCompare) -> Finding | None:
    folded = event.builtin in ("max", "min")
    return finding(
        event,
        f"`{event.builtin}` compares the device values of `{event.text}` in Python",
        help=_CURES.get(event.builtin, "use the tensor operation of the same name"),
        targets=Target.GRAPH if folded else Target.BOTH,
    )
