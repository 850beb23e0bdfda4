"""State that grows by concatenation is recorded at the length it had at capture.

Replays concatenate the tensor that was the state at capture, again and again: nothing is ever added.

Fails:

    import torch

    class Attention(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.past = None

        def forward(self, x):
            past = x if self.past is None else self.past
            # graphlint: ignore[growing-cache] -- shown by the page of that rule
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


@rule("GL408", on=GrowingState, predicts="stale")
def growing_state(event: GrowingState) -> Finding | None:
    if event.is_cut:
        return None
    if event.is_window:
        return finding(
            event,
            f"`{event.text}` joins what `{event.target}` held at capture; replays never see what was added later",
            help="keep the last ones in one tensor and write into it in place, at a position that is a device tensor",
        )
    return finding(
        event,
        f"`{event.text}` extends `{event.target}` as it was at capture; replays never see what was added later",
        help="allocate the state at full size and write into it in place, at a position that is a device tensor",
    )
