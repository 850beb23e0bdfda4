"""A compiled function with graphs is called again while its result is still needed.

The second call runs in the memory of the first one's result.  Once the graphs are recorded, the earlier result shows the
new values without a word; before, reading it raises.  `cudagraph_mark_step_begin` does not keep it alive: it ends the step
to which the result belongs.  In a program that marks its steps, all results of one step live until the next mark.

Fails:

    import torch

    @torch.compile(mode="reduce-overhead")
    def score(x):
        return torch.tanh(x @ x.mT)

    def main(device):
        a, b = torch.rand(2, 4, 4, device=device).unbind(0)
        for _ in range(3):
            score(a)
        first = score(a)
        second = score(b)
        # graphlint: ignore[compiled-stale-read] -- shown by the page of that rule
        assert torch.allclose(first, torch.tanh(a @ a.mT), atol=1e-4)

Captures:

    import torch

    @torch.compile(mode="reduce-overhead")
    def score(x):
        return torch.tanh(x @ x.mT)

    def main(device):
        a, b = torch.rand(2, 4, 4, device=device).unbind(0)
        for _ in range(3):
            score(a)
        first = score(a).clone()
        second = score(b)
        assert torch.allclose(first, torch.tanh(a @ a.mT), atol=1e-4)

How to fix: clone the result outside the compiled function before the next call.
"""

from __future__ import annotations

from graphlint.rule import finding, rule
from graphlint.site_events import CompiledOverwritten
from graphlint.types import Finding


@rule("GL804", on=CompiledOverwritten, predicts=None, compile="stale")
def compiled_overwritten(event: CompiledOverwritten) -> Finding | None:
    return finding(
        event,
        f"`{event.target}` writes over the earlier result of the same compiled function, which is still used",
        help="clone the earlier result outside the compiled function, before the next call",
    )
