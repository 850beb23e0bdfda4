"""A graphed callable is called again while its earlier result is still needed.

Both calls give the same memory: the second one writes over the first result, and over what its backward pass saved.
Gradients are results of its backward graph: `.grad` of the first pass is the tensor that the second one writes into and
then adds once more.

Fails:

    import torch

    def main(device):
        model = torch.nn.Linear(4, 4).to(device)
        x = torch.ones(2, 4, device=device, requires_grad=True)
        graphed = torch.cuda.make_graphed_callables(model, (x,))
        first = graphed(x)
        second = graphed(x * 2)
        assert not torch.equal(first + 0, second)

Captures:

    import torch

    def main(device):
        model = torch.nn.Linear(4, 4).to(device)
        x = torch.ones(2, 4, device=device, requires_grad=True)
        graphed = torch.cuda.make_graphed_callables(model, (x,))
        first = graphed(x).clone()
        second = graphed(x * 2)
        assert not torch.equal(first + 0, second)

How to fix: clone the first result, or graph the callable twice; set gradients to None before every pass.
"""

from __future__ import annotations

from graphlint.rule import finding, rule
from graphlint.site_events import GraphedOverwritten
from graphlint.types import Finding


@rule("GL521", on=GraphedOverwritten, predicts="stale")
def graphed_overwritten(event: GraphedOverwritten) -> Finding | None:
    if event.gradients:
        return finding(
            event,
            f"`{event.target}` adds to gradients of an earlier pass, over which the graphed backward pass has written",
            help="set gradients to None before every pass, or bind `.grad` to tensors of your own before the first",
        )
    return finding(
        event,
        f"`{event.target}` writes over the earlier result of the same graphed callable, which is still used",
        help="clone the earlier result, or make one graphed callable for each use",
    )
