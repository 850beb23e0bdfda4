"""A backward pass is warmed up on the default stream.

Autograd remembers the stream of a forward pass and runs the backward pass there.  Nodes that live on from a warm-up
on the default stream make a later capture depend on that stream, which is not permitted.

Fails:

    import torch

    def main(device):
        model = torch.nn.Linear(4, 4).to(device)
        x = torch.ones(2, 4, device=device)
        for _ in range(3):
            model.zero_grad()
            model(x).sum().backward()
        graph = torch.cuda.CUDAGraph()
        model.zero_grad()
        with torch.cuda.graph(graph):
            model(x).sum().backward()
        graph.replay()

Captures:

    import torch

    def main(device):
        model = torch.nn.Linear(4, 4).to(device)
        x = torch.ones(2, 4, device=device)
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                model.zero_grad()
                model(x).sum().backward()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        model.zero_grad()
        with torch.cuda.graph(graph):
            model(x).sum().backward()
        graph.replay()

How to fix: warm up inside `with torch.cuda.stream(side)`, with `wait_stream` before and after.
"""

from __future__ import annotations

from graphlint.events import WarmupOnDefaultStream
from graphlint.rule import finding, rule
from graphlint.types import Finding


@rule("GL502", on=WarmupOnDefaultStream, predicts="breaks")
def warmup_stream(event: WarmupOnDefaultStream) -> Finding | None:
    return finding(
        event,
        f"`{event.callee}` warms up a backward pass on the default stream",
        help="warm up under `torch.cuda.stream(side)`, and let the streams wait for each other before and after",
    )
