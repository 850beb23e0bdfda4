"""Gradients of gradients are asked for through a graphed or compiled callable.

`create_graph=True` wants a backward pass that can be differentiated again.  That of a graphed callable is a recorded graph,
that of a compiled function compiled code, and torch refuses the second pass through either.

Fails:

    import torch

    def main(device):
        x = torch.ones(2, 4, device=device, requires_grad=True)
        critic = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1)).to(device)
        critic = torch.cuda.make_graphed_callables(critic, (x,))
        grad = torch.autograd.grad(critic(x).sum(), x, create_graph=True)[0]
        grad.square().sum().backward()

Captures:

    import torch

    def main(device):
        x = torch.ones(2, 4, device=device, requires_grad=True)
        critic = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1)).to(device)
        graphed = torch.cuda.make_graphed_callables(critic, (x,))
        grad = torch.autograd.grad(critic(x).sum(), x, create_graph=True)[0]
        (graphed(x).mean() + grad.square().sum()).backward()

How to fix: take that term from the module itself, or capture the whole step, both passes in it, as one graph.
"""

from __future__ import annotations

from graphlint.gradient_events import DifferentiatedTwice
from graphlint.rule import finding, rule
from graphlint.types import Finding


@rule("GL531", on=DifferentiatedTwice, predicts="breaks", compile="breaks")
def differentiated_twice(event: DifferentiatedTwice) -> Finding | None:
    which = "compiled function" if event.is_compiled else "graphed callable"
    return finding(
        event,
        f"`{event.call}` asks for gradients of gradients, and the backward pass of a {which} cannot be differentiated",
        help="take this term from the module itself, or capture the whole step as one graph",
    )
