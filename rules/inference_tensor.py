"""A tensor of a graph was made in inference mode and is used outside it.

What `torch.inference_mode()` makes stays an inference tensor: outside the mode it takes no write in place ("Inplace update
to inference tensor outside InferenceMode is not allowed"), and no layer that learns may keep it for its backward pass.

Fails:

    import torch

    def main(device):
        with torch.inference_mode():
            static = torch.zeros(4, device=device)
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                out = static * 2
        static.copy_(torch.ones(4, device=device))
        graph.replay()
        return out.clone()

Captures:

    import torch

    def main(device):
        static = torch.zeros(4, device=device)
        with torch.inference_mode():
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                out = static * 2
        static.copy_(torch.ones(4, device=device))
        graph.replay()
        return out.clone()

How to fix: make the inputs outside the mode, replay inside it, or use `torch.no_grad()`.
"""

from __future__ import annotations

from graphlint.around_events import InferenceTensor
from graphlint.rule import finding, rule
from graphlint.types import Finding


@rule("GL530", on=InferenceTensor, predicts="breaks")
def inference_tensor(event: InferenceTensor) -> Finding | None:
    if event.is_read:
        return finding(
            event,
            f"`{event.target}` cannot save what a graph gave for its backward pass: it was captured in inference mode",
            help="give it a `clone()`, or capture under `torch.no_grad()`",
        )
    return finding(
        event,
        f"`{event.target}` is refused: the tensor was made in inference mode, and here that is off",
        help="make the inputs of the graph outside the mode, or write and replay inside it",
    )
