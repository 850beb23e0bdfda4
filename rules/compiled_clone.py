"""A compiled function with graphs copies its result inside.

The copy is a result of the graph like any other and is written over by the next call.  Only a copy that the caller makes
lives on.

Fails:

    import torch

    @torch.compile(mode="reduce-overhead")
    def score(x):
        y = torch.tanh(x @ x.mT)
        return y.clone()

    def main(device):
        return score(torch.ones(4, 4, device=device)).clone()

Captures:

    import torch

    @torch.compile(mode="reduce-overhead")
    def score(x):
        y = torch.tanh(x @ x.mT)
        return y

    def main(device):
        return score(torch.ones(4, 4, device=device)).clone()

How to fix: clone where the function is called.
"""

from __future__ import annotations

from graphlint.rule import finding, rule
from graphlint.site_events import CompiledClone
from graphlint.types import Finding


@rule("GL807", on=CompiledClone, predicts=None, compile="note")
def compiled_clone(event: CompiledClone) -> Finding | None:
    return finding(
        event,
        f"`{event.target}` copies inside the graph, where the next call writes over the copy too",
        help="clone at the call, outside the compiled function",
    )
