"""A boolean device tensor selects elements.

The number of selected elements is counted on the device and read back to allocate the result: `x[mask]` is `nonzero`
underneath.  Integer index tensors of fixed size are fine.  Dynamo splits the graph there; `fullgraph=True` captures an
unknown size instead of raising.

Fails:

    def step(x):
        return x[x > 0]

Captures:

    import torch

    def step(x):
        return torch.where(x > 0, x, 0.0)

How to fix: keep the full size with `torch.where` or `masked_fill`, or take a fixed number with `topk`.
"""

from __future__ import annotations

from graphlint.events import MaskIndex
from graphlint.rule import finding, rule
from graphlint.types import Finding


@rule("GL202", on=MaskIndex, predicts="breaks", compile="defeats")
def mask_read(event: MaskIndex) -> Finding | None:
    if event.store:
        return None
    return finding(
        event,
        f"`{event.text}` selects with a boolean device tensor, so the size of the result is read back",
        help="keep the full size with `torch.where(mask, x, fill)`, or take a fixed number with `topk`",
    )
