"""A region calls a model whose weights are kept on the host.

`accelerate.cpu_offload` and `enable_sequential_cpu_offload` hook every layer: its weights are copied to the GPU when it is
called, and dropped behind it.  The copies come from pageable memory, which a capture refuses.  That models are offloaded so
is what the documentation of Accelerate and Diffusers says; it was not run on a GPU.

Fails:

    import torch
    from accelerate import cpu_offload

    def main(device):
        model = torch.nn.Linear(4, 4)
        cpu_offload(model, execution_device=device)
        static = torch.zeros(2, 4, device=device)
        for _ in range(3):
            model(static)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            out = model(static)
        graph.replay()
        return out

Captures:

    import torch

    def main(device):
        model = torch.nn.Linear(4, 4).to(device)
        static = torch.zeros(2, 4, device=device)
        for _ in range(3):
            model(static)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            out = model(static)
        graph.replay()
        return out

How to fix: keep what is captured on the GPU, and offload other parts.
"""

from __future__ import annotations

from graphlint.around_events import Offloaded
from graphlint.rule import finding, rule
from graphlint.types import Finding


@rule("GL307", on=Offloaded, predicts="breaks", gpu="needs `accelerate`")
def offloaded_model(event: Offloaded) -> Finding | None:
    return finding(
        event,
        f"`{event.text}` copies its weights from the host at every call: `{event.how}` keeps them there",
        help="keep what is captured on the GPU, and offload other parts",
    )
