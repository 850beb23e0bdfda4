"""A module is graphed in one mode and called in the other.

`make_graphed_callables` records one mode.  In the other one it calls the module's own `forward`, eagerly and without a
word.

Fails:

    import torch

    def main(device):
        model = torch.nn.Linear(4, 4).to(device)
        x = torch.ones(2, 4, device=device, requires_grad=True)
        model = torch.cuda.make_graphed_callables(model, (x,))
        model.eval()
        return model(x)

Captures:

    import torch

    def main(device):
        model = torch.nn.Linear(4, 4).to(device).eval()
        x = torch.ones(2, 4, device=device, requires_grad=True)
        model = torch.cuda.make_graphed_callables(model, (x,))
        return model(x)

How to fix: set the mode before the module is graphed, or graph a copy for each mode.
"""

from __future__ import annotations

from graphlint.rule import finding, rule
from graphlint.site_events import GraphedOtherMode
from graphlint.types import Finding


@rule("GL527", on=GraphedOtherMode, predicts="defeats")
def graphed_mode(event: GraphedOtherMode) -> Finding | None:
    return finding(
        event,
        f"`{event.target}` runs eagerly: the module was graphed in the other mode",
        help="set the mode before `make_graphed_callables`, or graph a copy of the module for each mode",
    )
