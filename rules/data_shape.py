"""The size of the result depends on device values.

The host must learn the size before it can allocate the result, so it waits for the device.  A recorded graph has fixed
shapes in any case.  Dynamo splits the graph there; `fullgraph=True` captures an unknown size instead of raising.

Fails:

    def step(x):
        return x.nonzero()

Captures:

    import torch

    def step(x):
        return torch.nonzero_static(x, size=x.numel(), fill_value=-1)

How to fix: use a fixed size (`topk`, `nonzero_static`, `output_size=`) or a mask of full size.
"""

from __future__ import annotations

from graphlint.events import DataShape
from graphlint.rule import finding, rule
from graphlint.types import Finding


@rule("GL201", on=DataShape, predicts="breaks", compile="defeats")
def data_shape(event: DataShape) -> Finding | None:
    return finding(
        event,
        f"`{event.call}` has a result whose size depends on device values: {event.why}",
        help="use a fixed size (`topk`, `nonzero_static`, `output_size=`, `scatter_add_` to count) or a mask of full size",
    )
