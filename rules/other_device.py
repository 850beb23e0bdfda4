"""A region is captured on another GPU than the one it works on.

A capture belongs to a stream, and a stream to a GPU: the one that is current, or was at the first capture of the program.
Work on tensors of another GPU runs at once and is not recorded; torch warns that "The CUDA Graph is empty", and replays do
nothing.  The source of torch says so; it was not run on two GPUs.

Fails:

    import torch

    def main():
        model = torch.nn.Linear(4, 4).to("cuda:1")
        static = torch.zeros(2, 4, device="cuda:1")
        for _ in range(3):
            model(static)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            out = model(static)
        static.fill_(1.0)
        graph.replay()
        assert torch.equal(out, model(static))

Captures:

    import torch

    def main():
        torch.cuda.set_device("cuda:1")
        model = torch.nn.Linear(4, 4).to("cuda:1")
        static = torch.zeros(2, 4, device="cuda:1")
        for _ in range(3):
            model(static)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=torch.cuda.Stream()):
            out = model(static)
        static.fill_(1.0)
        graph.replay()
        assert torch.equal(out, model(static))

How to fix: make the GPU current (`torch.cuda.set_device`), and give each GPU a `stream` of its own to capture on.
"""

from __future__ import annotations

from graphlint.around_events import OtherDevice
from graphlint.rule import finding, rule
from graphlint.types import Finding


@rule("GL534", on=OtherDevice, predicts="stale", gpu="needs two GPUs")
def other_device(event: OtherDevice) -> Finding | None:
    if event.device:
        return finding(
            event,
            f"`{event.text}` captures on the current GPU, and the region works on `{event.device}`",
            help="call `torch.cuda.set_device` first, or capture under `with torch.cuda.device(...)`",
        )
    return finding(
        event,
        f"`{event.text}` captures on the stream of the first GPU, whichever is current in this round",
        help="pass `stream=torch.cuda.Stream()`, made while the GPU of the round is current",
    )
