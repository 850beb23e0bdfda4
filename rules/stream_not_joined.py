"""Work in a region runs on a stream that the captured one does not wait for.

Every branch of a capture must come back to the stream it began on; at the end of the capture an open branch is an
error (904, unjoined work).  A block whose last work is a collective is an exception: NCCL leaves nothing open behind it.

Fails:

    import torch

    side = torch.cuda.Stream()

    def step(x):
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            y = x + 1
        return y

Captures:

    import torch

    side = torch.cuda.Stream()

    def step(x):
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            y = x + 1
        torch.cuda.current_stream().wait_stream(side)
        return y

How to fix: `torch.cuda.current_stream().wait_stream(side)` before the region ends.
"""

from __future__ import annotations

from graphlint.rule import finding, rule
from graphlint.site_events import StreamNotJoined
from graphlint.types import Finding


@rule("GL602", on=StreamNotJoined, predicts="breaks")
def stream_not_joined(event: StreamNotJoined) -> Finding | None:
    return finding(
        event,
        f"`{event.stream}` leaves work on a stream that the captured one does not wait for",
        help="join before the region ends: `torch.cuda.current_stream().wait_stream(side)`",
    )
