"""A graphed callable is called with a tensor of another shape or type than its sample.

A call copies its input into the tensor that was captured.  A copy broadcasts and casts: one row becomes the whole batch,
half precision becomes single, and nothing is said.

Fails:

    import torch

    def main(device):
        model = torch.nn.Linear(4, 4).to(device)
        graphed = torch.cuda.make_graphed_callables(model, (torch.ones(8, 4, device=device),))
        out = graphed(torch.ones(1, 4, device=device))
        assert out.shape == (1, 4)

Captures:

    import torch

    def main(device):
        model = torch.nn.Linear(4, 4).to(device)
        graphed = torch.cuda.make_graphed_callables(model, (torch.ones(8, 4, device=device),))
        out = graphed(torch.ones(8, 4, device=device))
        assert out.shape == (8, 4)

How to fix: pad the input to the shape of the sample and cut the result, or graph the callable for this shape too.
"""

from __future__ import annotations

from graphlint.around_events import GraphedOtherInput
from graphlint.rule import finding, rule
from graphlint.types import Finding


@rule("GL535", on=GraphedOtherInput, predicts="stale")
def graphed_input(event: GraphedOtherInput) -> Finding | None:
    return finding(
        event,
        f"`{event.target}` copies its input into that of the capture, where it is {event.becomes}",
        help="give it tensors of the shape and type of its sample, or graph it for these too",
    )
