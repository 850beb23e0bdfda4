"""A device value is stored through a boolean device tensor.

Storing a tensor through a mask needs the positions, and their number is read back.  Storing a Python number is a fill
and is fine: `x[mask] = 0.0`.  Dynamo traces the store without a break.

Fails:

    def step(x):
        y = x.clone()
        y[x > 0] = x.mean()
        return y

Captures:

    import torch

    def step(x):
        return torch.where(x > 0, x.mean(), x)

How to fix: `torch.where(mask, value, x)`, or `masked_scatter` for as many values as there are set bits.
"""

from __future__ import annotations

from graphlint.events import MaskIndex
from graphlint.rule import finding, rule
from graphlint.types import Finding


@rule("GL203", on=MaskIndex, predicts="breaks")
def mask_store(event: MaskIndex) -> Finding | None:
    if not event.store:
        return None
    return finding(
        event,
        f"`{event.text}` stores a device value through a boolean mask, whose positions are read back",
        help="use `torch.where(mask, value, x)`, or `masked_scatter` for one value a position",
    )
