"""Work in a region runs on a stream that does not wait for the captured one.

A capture follows one stream and those that wait for it.  Work on any other stream is not recorded, and the allocator
refuses it memory of the graph; the capture fails or the work is missing from the replay.

Fails:

    import torch

    side = torch.cuda.Stream()

    def step(x):
        with torch.cuda.stream(side):
            y = x + 1
        torch.cuda.current_stream().wait_stream(side)
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

How to fix: `side.wait_stream(torch.cuda.current_stream())` before the block.
"""

from __future__ import annotations

from graphlint.rule import finding, rule
from graphlint.site_events import StreamNotForked
from graphlint.types import Finding


@rule("GL601", on=StreamNotForked, predicts="breaks")
def stream_not_forked(event: StreamNotForked) -> Finding | None:
    return finding(
        event,
        f"`{event.stream}` runs work on a stream that does not wait for the captured one",
        help="fork first: `side.wait_stream(torch.cuda.current_stream())`, or wait for an event recorded in the region",
    )
