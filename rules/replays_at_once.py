"""Two graphs of one pool are replayed on streams that do not wait for each other.

Graphs that share a pool may have their temporaries in the same place.  That does no harm while one replay follows the
other; at the same time, each writes over what the other computes with.

Fails:

    import torch

    def grown(x, by):
        for _ in range(40):
            x = x * 1.0 + by
        return x + 0

    def main(device):
        a, b = torch.zeros(1 << 22, device=device), torch.zeros(1 << 22, device=device)
        first, second = torch.cuda.CUDAGraph(), torch.cuda.CUDAGraph()
        pool, one, two = torch.cuda.graph_pool_handle(), torch.cuda.Stream(), torch.cuda.Stream()
        with torch.cuda.graph(first, pool=pool):
            out = grown(a, 1.0)
        with torch.cuda.graph(second, pool=pool):
            other = grown(b, 2.0)
        for _ in range(30):
            with torch.cuda.stream(one):
                first.replay()
            with torch.cuda.stream(two):
                second.replay()
            torch.cuda.synchronize()
            assert bool((out == 40.0).all()) and bool((other == 80.0).all())

Captures:

    import torch

    def main(device):
        a, b = torch.zeros(4, device=device), torch.zeros(4, device=device)
        first, second = torch.cuda.CUDAGraph(), torch.cuda.CUDAGraph()
        one, two = torch.cuda.Stream(), torch.cuda.Stream()
        with torch.cuda.graph(first):
            out = a + 1
        with torch.cuda.graph(second):
            other = b + 2
        with torch.cuda.stream(one):
            first.replay()
        with torch.cuda.stream(two):
            second.replay()
        torch.cuda.synchronize()
        return out + other

How to fix: a pool for each, or `wait_stream` between the replays.
"""

from __future__ import annotations

from graphlint.around_events import ReplaysAtOnce
from graphlint.rule import finding, rule
from graphlint.types import Finding


@rule("GL612", on=ReplaysAtOnce, predicts="stale")
def replays_at_once(event: ReplaysAtOnce) -> Finding | None:
    return finding(
        event,
        f"`{event.target}` may run while `{event.other}` does, and both graphs use one pool",
        help="give each graph a pool of its own, or let one stream wait for the other between the replays",
    )
