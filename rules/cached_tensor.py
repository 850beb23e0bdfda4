"""A bounded cache is the only owner of a tensor that a region reads.

When the cache is full, it drops the tensor, and its memory is given to somebody else while the graph still reads it.

Fails:

    import functools

    import torch

    @functools.lru_cache(maxsize=1)
    def ramp(n, device):
        return torch.arange(n, device=device)

    def main(device):
        x = torch.zeros(512, device=device)
        ramp(512, x.device)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            y = x + ramp(512, x.device)
        graph.replay()
        first = y.clone()
        ramp(16, x.device)
        others = [torch.full((512,), -1, device=device) for _ in range(64)]
        graph.replay()
        assert others and torch.equal(first, y)

Captures:

    import functools

    import torch

    @functools.cache
    def ramp(n, device):
        return torch.arange(n, device=device)

    def main(device):
        x = torch.zeros(512, device=device)
        ramp(512, x.device)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            y = x + ramp(512, x.device)
        graph.replay()
        first = y.clone()
        ramp(16, x.device)
        others = [torch.full((512,), -1, device=device) for _ in range(64)]
        graph.replay()
        assert others and torch.equal(first, y)

How to fix: a cache without a bound, or a buffer.
"""

from __future__ import annotations

from graphlint.rule import finding, rule
from graphlint.site_events import CachedTensor
from graphlint.types import Finding


@rule("GL407", on=CachedTensor, predicts="stale")
def cached_tensor(event: CachedTensor) -> Finding | None:
    if event.grows:
        return finding(
            event,
            f"`{event.function}` is made anew for a call that needs more; graphs go on with the memory that this frees",
            help="make it once, as large as any call needs it, or keep the old one as long as its graphs",
        )
    if event.drops:
        return finding(
            event,
            f"`{event.text}` drops what `{event.function}` made; graphs go on with the old memory, which may be freed",
            help="keep all of them, or each as long as the graphs that read it",
        )
    return finding(
        event,
        f"the tensor that `{event.function}` returns is owned by a cache that can drop it while graphs read it",
        help="keep all of them (`functools.cache`), or the tensor as a buffer of the module that reads it",
    )
