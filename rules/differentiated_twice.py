"""Gradients of gradients are asked for through a graphed or compiled callable.

`create_graph=True` wants a backward pass that can be differentiated again.  That of a graphed callable is a recorded graph:
the gradients come back as constants, and a penalty on them trains nothing, without a word.  Through compiled code, the
second pass is refused ("torch.compile with aot_autograd does not currently support double backward").

Fails:

    import torch

    def main(device):
        x = torch.ones(2, 4, device=device, requires_grad=True)
        critic = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1)).to(device)
        critic = torch.cuda.make_graphed_callables(critic, (x,))
        score = critic(x)
        grad = torch.autograd.grad(score.sum(), x, create_graph=True)[0]
        (score.mean() + grad.square().sum()).backward()
        assert grad.requires_grad

Captures:

    import copy

    import torch

    def main(device):
        x = torch.ones(2, 4, device=device, requires_grad=True)
        critic = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1)).to(device)
        plain = copy.copy(critic)
        graphed = torch.cuda.make_graphed_callables(critic, (x,))
        grad = torch.autograd.grad(plain(x).sum(), x, create_graph=True)[0]
        (graphed(x).mean() + grad.square().sum()).backward()
        assert grad.requires_grad

How to fix: take that term from a copy with the same parameters that was made before, as graphing changes the module itself;
or capture the whole step, both passes in it, as one graph.  Of compiled code, take it from the module that was compiled.
"""

from __future__ import annotations

from graphlint.around_events import DifferentiatedTwice
from graphlint.rule import finding, rule
from graphlint.types import Finding


@rule("GL531", on=DifferentiatedTwice, predicts="stale", compile="breaks")
def differentiated_twice(event: DifferentiatedTwice) -> Finding | None:
    if event.is_compiled:
        return finding(
            event,
            f"`{event.call}` asks for gradients of gradients, which compiled code refuses to give",
            help="take this term from the module that was given to `torch.compile`, which runs as it is written",
        )
    return finding(
        event,
        f"`{event.call}` gives constants: the backward pass of a graphed callable has no gradients of its own",
        help="take this term from a `copy.copy` made before the module was graphed, or capture the whole step as one graph",
    )
