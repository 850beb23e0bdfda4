"""State grows by concatenation in a region, a new shape with every call.

A graph has fixed shapes: each length needs a capture of its own.  A cache of full size with a position on the device
keeps one shape for all steps.

Fails:

    import torch

    class Attention(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.past = None

        def forward(self, x):
            past = x if self.past is None else self.past
            # graphlint: ignore[growing-state] -- shown by the page of that rule
            past = torch.cat((past, x))
            # graphlint: ignore[rebound-attribute] -- shown by the page of that rule
            self.past = past
            return x @ past.mT

Captures:

    import torch

    class Attention(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("keys", torch.zeros(16, 4))
            self.register_buffer("at", torch.arange(4))

        def forward(self, x):
            self.keys.index_copy_(0, self.at, x)
            self.at.add_(4).remainder_(16)
            return x @ self.keys.mT

How to fix: allocate the cache at full size and write with `index_copy_` at a position that is a device tensor.
"""

from __future__ import annotations

from graphlint.rule import finding, rule
from graphlint.site_events import GrowingState
from graphlint.types import Finding


@rule("GL704", on=GrowingState, predicts="defeats")
def growing_cache(event: GrowingState) -> Finding | None:
    if event.is_cut:
        return finding(
            event,
            f"`{event.text}` is longer in every call: every length is a new shape that needs its own graph",
            help="read the cache at full size, and mask what is not filled with a length on the device",
        )
    if event.is_window:
        return finding(
            event,
            f"`{event.text}` grows with `{event.target}`: every length is a new shape that needs its own graph",
            help="keep the last ones in one tensor of full size, and mask what is not filled",
        )
    return finding(
        event,
        f"`{event.target}` grows by `{event.text}`: every length is a new shape that needs its own graph",
        help="allocate the cache at full size, write with `index_copy_` at a device position, and mask the rest",
    )
