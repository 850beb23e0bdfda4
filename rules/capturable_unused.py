"""An optimizer that is made for captures steps outside of them only.

`capturable=True` keeps the count of the steps and all that depends on it on the device, so that a graph can advance it.
Without a graph that is only more kernels for each step, of which torch warns once.

Fails:

    import torch

    def main(device):
        model, static = torch.nn.Linear(4, 4).to(device), torch.ones(2, 4, device=device)
        optimizer = torch.optim.Adam(model.parameters(), capturable=True)
        for _ in range(3):
            optimizer.zero_grad(set_to_none=False)
            model(static).sum().backward()
            optimizer.step()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            optimizer.zero_grad(set_to_none=False)
            model(static).sum().backward()
        graph.replay()
        optimizer.step()

Captures:

    import torch

    def main(device):
        model, static = torch.nn.Linear(4, 4).to(device), torch.ones(2, 4, device=device)
        optimizer = torch.optim.Adam(model.parameters(), capturable=True)
        for _ in range(3):
            optimizer.zero_grad(set_to_none=False)
            model(static).sum().backward()
            optimizer.step()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            optimizer.zero_grad(set_to_none=False)
            model(static).sum().backward()
            optimizer.step()
        graph.replay()

How to fix: capture the step as well, or leave `capturable` out.
"""

from __future__ import annotations

from graphlint.around_events import CapturableUnused
from graphlint.rule import finding, rule
from graphlint.types import Finding


@rule("GL536", on=CapturableUnused, predicts="defeats")
def capturable_unused(event: CapturableUnused) -> Finding | None:
    return finding(
        event,
        f"`{event.target}` steps outside the graph an optimizer with `capturable=True`, which costs time and gains none",
        help="capture the step as well, or leave `capturable` out",
    )
