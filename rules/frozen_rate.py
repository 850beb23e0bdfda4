"""A learning rate that is a Python number changes after its step was captured.

A Python number is an argument of the recorded kernels, and so are the other options of a group of parameters.
Schedulers fill a rate that is a tensor in place.  SGD cannot be captured with one: leave its step outside where it changes.

Fails:

    import torch

    def main(device):
        model = torch.nn.Linear(4, 1).to(device)
        x = torch.ones(2, 4, device=device)
        rate = 0.1
        optimizer = torch.optim.Adam(model.parameters(), lr=rate, capturable=True)
        scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.0)
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            optimizer.zero_grad()
            model(x).sum().backward()
            optimizer.step()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        optimizer.zero_grad()
        with torch.cuda.graph(graph):
            model(x).sum().backward()
            optimizer.step()
        before = model.weight.clone()
        scheduler.step()
        graph.replay()
        assert torch.equal(before, model.weight)

Captures:

    import torch

    def main(device):
        model = torch.nn.Linear(4, 1).to(device)
        x = torch.ones(2, 4, device=device)
        rate = torch.tensor(0.1, device=device)
        optimizer = torch.optim.Adam(model.parameters(), lr=rate, capturable=True)
        scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.0)
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            optimizer.zero_grad()
            model(x).sum().backward()
            optimizer.step()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        optimizer.zero_grad()
        with torch.cuda.graph(graph):
            model(x).sum().backward()
            optimizer.step()
        before = model.weight.clone()
        scheduler.step()
        graph.replay()
        assert torch.equal(before, model.weight)

How to fix: make the rate a device tensor (`lr=torch.tensor(1e-3, device=...)`) and change it with `fill_`.
"""

from __future__ import annotations

from graphlint.rule import finding, rule
from graphlint.site_events import RateFrozen
from graphlint.types import Finding


@rule("GL515", on=RateFrozen, predicts="stale")
def frozen_rate(event: RateFrozen) -> Finding | None:
    if event.option != "lr":
        return finding(
            event,
            f"`{event.target}` changes the `{event.option}` of an optimizer, which was recorded as a number",
            help="capture the step anew where it changes, or leave the step outside the graph",
        )
    return finding(
        event,
        f"`{event.target}` changes a learning rate that was recorded as a number",
        help="pass `lr=torch.tensor(..., device=...)` and change it in place with `fill_`; a scheduler then does",
    )
