"""A graphed callable is called with an input that needs gradients, unlike its sample.

`make_graphed_callables` records the backward pass for the sample inputs.  A sample without `requires_grad` has no gradient
in it, and whatever comes in its place at a call gets none, without a word: the layers before it do not learn.

Fails:

    import torch

    def main(device):
        first = torch.nn.Linear(4, 4).to(device)
        second = torch.nn.Linear(4, 4).to(device)
        sample = torch.randn(2, 4, device=device)
        second = torch.cuda.make_graphed_callables(second, (sample,))
        second(first(torch.ones(2, 4, device=device))).sum().backward()
        assert first.weight.grad is not None

Captures:

    import torch

    def main(device):
        first = torch.nn.Linear(4, 4).to(device)
        second = torch.nn.Linear(4, 4).to(device)
        sample = torch.randn(2, 4, device=device, requires_grad=True)
        second = torch.cuda.make_graphed_callables(second, (sample,))
        second(first(torch.ones(2, 4, device=device))).sum().backward()
        assert first.weight.grad is not None

How to fix: make the sample with `requires_grad=True` wherever the live input will need gradients.
"""

from __future__ import annotations

from graphlint.around_events import GradientsCut
from graphlint.rule import finding, rule
from graphlint.types import Finding


@rule("GL529", on=GradientsCut, predicts="stale")
def gradients_cut(event: GradientsCut) -> Finding | None:
    return finding(
        event,
        f"`{event.target}` gives its input no gradient: the callable was graphed with a sample that needs none",
        help="make the sample with `requires_grad=True`, as the live input has it",
    )
