"""Callables that were graphed together are called in another order.

`make_graphed_callables` of a tuple captures the forward passes in its order and the backward passes in the opposite one,
all in one pool.  Called in another order, one pass writes over what another has saved, and gradients are wrong.

Fails:

    import copy
    import torch

    class Block(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.up, self.down = torch.nn.Linear(64, 256), torch.nn.Linear(256, 64)

        def forward(self, x):
            h = self.up(x)
            return x + self.down(h * torch.sigmoid(h * 2) + h.mean(-1, keepdim=True))

    def main(device):
        first, second = Block().to(device), Block().to(device)
        twin = copy.deepcopy(first), copy.deepcopy(second)
        x = torch.randn(64, 64, device=device, requires_grad=True)
        first, second = torch.cuda.make_graphed_callables((first, second), ((x,), (x.detach().requires_grad_(),)))
        first(second(x)).sum().backward()
        twin[0](twin[1](x)).sum().backward()
        assert torch.allclose(first.up.weight.grad, twin[0].up.weight.grad, atol=1e-3)
        assert torch.allclose(second.up.weight.grad, twin[1].up.weight.grad, atol=1e-3)

Captures:

    import torch

    def main(device):
        first, second = torch.nn.Linear(4, 4).to(device), torch.nn.Linear(4, 4).to(device)
        x = torch.ones(2, 4, device=device, requires_grad=True)
        h = torch.ones(2, 4, device=device, requires_grad=True)
        first, second = torch.cuda.make_graphed_callables((first, second), ((x,), (h,)))
        second(first(x)).sum().backward()

How to fix: pass the callables in the order in which a step calls them, or graph each by itself.
"""

from __future__ import annotations

from graphlint.around_events import GraphedOutOfOrder
from graphlint.rule import finding, rule
from graphlint.types import Finding


@rule("GL533", on=GraphedOutOfOrder, predicts="stale")
def graphed_order(event: GraphedOutOfOrder) -> Finding | None:
    return finding(
        event,
        f"`{event.target}` runs before `{event.before}`, which stands before it among the callables graphed together",
        help="pass them in the order of the step, or graph each by itself",
    )
