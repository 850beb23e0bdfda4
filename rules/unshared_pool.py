"""Graphs are captured in a loop, each with a memory pool of its own.

Graphs that are never replayed at the same time can use the same memory.  Without `pool=` every graph keeps its own:
fourteen buckets of one network took 714 MiB, and 540 MiB with a shared pool (H200, torch 2.11).  A pool shares memory
within a stream only: four captures took 292 MiB on one stream and 674 MiB on four.

Fails:

    import torch

    def main(device):
        model = torch.nn.Linear(4, 4).to(device)
        graphs, inputs, pool = {}, {}, None
        for size in (4, 2, 1):
            inputs[size] = torch.zeros(size, 4, device=device)
            model(inputs[size])
            graphs[size] = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graphs[size]):
                model(inputs[size])
            pool = graphs[size].pool()
        graphs[4].replay()

Captures:

    import torch

    def main(device):
        model = torch.nn.Linear(4, 4).to(device)
        graphs, inputs, pool = {}, {}, None
        for size in (4, 2, 1):
            inputs[size] = torch.zeros(size, 4, device=device)
            model(inputs[size])
            graphs[size] = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graphs[size], pool=pool):
                model(inputs[size])
            pool = graphs[size].pool()
        graphs[4].replay()

How to fix: pass the pool of the first graph (`graph.pool()`) or a `torch.cuda.graph_pool_handle()` to all.
"""

from __future__ import annotations

from graphlint.rule import finding, rule
from graphlint.site_events import UnsharedPool
from graphlint.types import Finding


@rule("GL701", on=UnsharedPool, predicts="defeats")
def unshared_pool(event: UnsharedPool) -> Finding | None:
    if event.stream:
        return finding(
            event,
            f"`{event.stream}` is another stream than the pool was used on before, so its memory is not shared",
            help="capture on the same stream, or leave `stream` out",
        )
    which = f"that `{event.cache}` holds" if event.cache else f"of the loop over `{event.loop}`"
    return finding(
        event,
        f"the graphs {which} get a pool each",
        help="share one: `pool=torch.cuda.graph_pool_handle()`, captured from the largest size down",
    )
