"""A graphed callable is made or called in a way that it refuses.

`make_graphed_callables` wants tensors by position, and no cache of casts around it.

Fails:

    import torch

    def main(device):
        model = torch.nn.Linear(4, 4).to(device)
        x = torch.ones(2, 4, device=device, requires_grad=True)
        graphed = torch.cuda.make_graphed_callables(model, (x,))
        return graphed(input=x)

Captures:

    import torch

    def main(device):
        model = torch.nn.Linear(4, 4).to(device)
        x = torch.ones(2, 4, device=device, requires_grad=True)
        graphed = torch.cuda.make_graphed_callables(model, (x,))
        return graphed(x)

How to fix: wrap the callable so that it takes its tensors by position; `autocast(cache_enabled=False)` around it.
"""

from __future__ import annotations

from graphlint.rule import finding, rule
from graphlint.site_events import GraphedMisused
from graphlint.types import Finding


@rule("GL520", on=GraphedMisused, predicts="breaks")
def graphed_misuse(event: GraphedMisused) -> Finding | None:
    return finding(
        event,
        f"`{event.text}` is refused: {event.why}",
        help=event.cure,
    )
