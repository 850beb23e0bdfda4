"""A callable that was graphed with FP8 is called without what its scales or weights need.

Transformer Engine keeps the scales of FP8 up in its context, `fp8_autocast`: a graph that is called outside it goes on with
old ones.  With `fp8_weight_caching=True` the weights are cast when `is_first_microbatch=True` is passed, and stay as they
were cast first if it never is.  The documentation of Transformer Engine says so; it was not run on a GPU.

Fails:

    import torch
    import transformer_engine.pytorch as te

    def main(device):
        model = te.Linear(16, 16).to(device)
        x = torch.ones(16, 16, device=device, requires_grad=True)
        model = te.make_graphed_callables(model, (x,), fp8_enabled=True)
        return model(x)

Captures:

    import torch
    import transformer_engine.pytorch as te

    def main(device):
        model = te.Linear(16, 16).to(device)
        x = torch.ones(16, 16, device=device, requires_grad=True)
        graphed = torch.cuda.make_graphed_callables(torch.nn.Linear(16, 16).to(device), (x,))
        model = te.make_graphed_callables(model, (x,), fp8_enabled=True)
        with te.fp8_autocast(enabled=True):
            return model(graphed(x))

How to fix: call it inside `fp8_autocast`, and pass `is_first_microbatch`.
"""

from __future__ import annotations

from graphlint.around_events import Fp8Left
from graphlint.rule import finding, rule
from graphlint.types import Finding


@rule("GL537", on=Fp8Left, predicts="stale", gpu="needs Transformer Engine")
def scales_frozen(event: Fp8Left) -> Finding | None:
    return finding(
        event,
        f"`{event.target}` {event.lacks}",
        help=event.cure,
    )
