"""Work in a region runs on a stream that nothing captures.

A capture records what is launched on its own stream and on those that wait for it.  What the default stream gets, or a
library that launches on a stream of its own, runs once, while the region is captured, and no replay does it again.  Which
streams CuPy, Numba and Warp use is taken from their documentation; work on the default stream was measured on an H200.

Fails:

    import torch

    def main(device):
        static = torch.zeros(4, device=device)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            with torch.cuda.stream(torch.cuda.default_stream()):
                out = static * 2
        static.fill_(1.0)
        graph.replay()
        assert torch.equal(out, static * 2)

Captures:

    import torch

    def main(device):
        static, side = torch.zeros(4, device=device), torch.cuda.Stream()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(side):
                out = static * 2
            torch.cuda.current_stream().wait_stream(side)
        static.fill_(1.0)
        graph.replay()
        assert torch.equal(out, static * 2)

How to fix: use the current stream; give a library `torch.cuda.current_stream().cuda_stream`.
"""

from __future__ import annotations

from graphlint.around_events import WorkNotCaptured
from graphlint.rule import finding, rule
from graphlint.types import Finding


@rule("GL611", on=WorkNotCaptured, predicts="stale")
def work_not_captured(event: WorkNotCaptured) -> Finding | None:
    return finding(
        event,
        f"`{event.work}` runs on {event.whose}, which is not captured: replays leave it out",
        help="launch on the current stream; libraries take it as `torch.cuda.current_stream().cuda_stream`",
    )
