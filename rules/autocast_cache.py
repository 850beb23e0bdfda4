"""A region takes cast weights from an autocast cache that was filled outside it.

Autocast keeps the casts of weights until its block ends.  When the warm-up is in the same block, the capture finds them
in the cache and does not record the cast; replays go on with the weights of the warm-up.  So does
`torch.nn.utils.parametrize.cached()` with the weights that parametrisations compute.

Fails:

    import torch

    def main(device):
        model = torch.nn.Linear(4, 4).to(device)
        static = torch.ones(2, 4, device=device)
        graph = torch.cuda.CUDAGraph()
        with torch.autocast("cuda", dtype=torch.float16):
            for _ in range(3):
                model(static)
            with torch.cuda.graph(graph):
                out = model(static)
        with torch.no_grad():
            model.weight.zero_()
            model.bias.zero_()
        graph.replay()
        assert not out.any()

Captures:

    import torch

    def main(device):
        model = torch.nn.Linear(4, 4).to(device)
        static = torch.ones(2, 4, device=device)
        graph = torch.cuda.CUDAGraph()
        with torch.autocast("cuda", dtype=torch.float16, cache_enabled=False):
            for _ in range(3):
                model(static)
            with torch.cuda.graph(graph):
                out = model(static)
        with torch.no_grad():
            model.weight.zero_()
            model.bias.zero_()
        graph.replay()
        assert not out.any()

How to fix: `cache_enabled=False`, or a block of its own inside the region.
"""

from __future__ import annotations

from graphlint.rule import finding, rule
from graphlint.site_events import AutocastCache
from graphlint.types import Finding


@rule("GL517", on=AutocastCache, predicts="stale")
def autocast_cache(event: AutocastCache) -> Finding | None:
    if event.computes:
        return finding(
            event,
            f"`{event.text}` works on weights that a parametrisation computed and cached before the capture",
            help="open the cache inside the region only, which then computes them once a replay",
        )
    return finding(
        event,
        f"`{event.text}` works on casts that the autocast cache kept from before the capture",
        help="pass `cache_enabled=False`, or open autocast inside the region only",
    )
