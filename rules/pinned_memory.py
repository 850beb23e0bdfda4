"""Page-locked host memory is allocated inside a region.

The allocation asks the driver, and its block lives in the graph's pool from then on; which builds refuse it differs.
Pinned memory is slow to make in any case.

Fails:

    def step(x):
        staged = torch.empty(8, pin_memory=True)
        staged.copy_(x)
        return x + 1

Captures:

    def step(x, staged):
        staged.copy_(x, non_blocking=True)
        return x + 1

    def inputs():
        return torch.ones(8, device="cuda"), torch.empty(8, pin_memory=True)

How to fix: allocate pinned buffers once, before the capture, and keep them as long as the graph.
"""

from __future__ import annotations

from graphlint.events import PinnedMemory
from graphlint.rule import finding, rule
from graphlint.types import Confidence, Finding


@rule("GL307", on=PinnedMemory, predicts="breaks")
def pinned_memory(event: PinnedMemory) -> Finding | None:
    return finding(
        event,
        f"`{event.call}` allocates page-locked memory inside a region",
        help="allocate pinned buffers before the capture and keep them as long as the graph",
        confidence=Confidence.LIKELY,
    )
