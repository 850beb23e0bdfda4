"""A Python number is stored through an index that needs a device tensor for it.

The number becomes a host tensor and is uploaded, which is refused during capture.  Stores through slices and boolean
masks are fills and are fine: `x[:, 0] = 1.0`, `x[mask] = 0.0`.  Dynamo traces the store.

Fails:

    import torch

    def step(x):
        y = torch.zeros(2, 2, device=x.device)
        y[0, 1] = 3.0
        return x.sum() + y

Captures:

    import torch

    def step(x):
        y = torch.zeros(2, 2, device=x.device)
        y[0, 1:2] = 3.0
        return x.sum() + y

How to fix: widen one number to a slice (`y[0, 1:2] = v`); `index_fill_(dim, index, v)` for an index tensor.
"""

from __future__ import annotations

from graphlint.events import ScalarStore
from graphlint.rule import finding, rule
from graphlint.types import Finding


@rule("GL305", on=ScalarStore, predicts="breaks")
def scalar_store(event: ScalarStore) -> Finding | None:
    return finding(
        event,
        f"`{event.text}` uploads a Python number to store it through {event.index}",
        help="use a slice (`x[i:i + 1] = v`), `x.index_fill_(dim, index, v)`, or a device value (`x.new_full((), v)`)",
    )
