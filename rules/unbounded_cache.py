"""A graph is captured and kept for every shape that comes by.

Sizes that vary freely give a capture each, slower than eager, and memory that is never freed.  Three ways out: pad to one
maximum; a few buckets with a shared pool and eager beyond; or keep what depends on the size out of the graph.

Fails:

    import torch

    class Runner:
        def __init__(self, model):
            self.model, self.graphs, self.pool = model, {}, torch.cuda.graph_pool_handle()

        def __call__(self, x):
            if x.shape not in self.graphs:
                static = x.clone()
                self.model(static)
                graph = torch.cuda.CUDAGraph()
                with torch.cuda.graph(graph, pool=self.pool):
                    out = self.model(static)
                self.graphs[x.shape] = graph, static, out
            graph, static, out = self.graphs[x.shape]
            static.copy_(x)
            graph.replay()
            return out.clone()

    def main(device):
        runner = Runner(torch.nn.Linear(4, 4).to(device))
        return [runner(torch.ones(length, 4, device=device)) for length in range(1, 30)]

Captures:

    import torch

    class Runner:
        def __init__(self, model):
            self.model, self.graphs, self.pool = model, {}, torch.cuda.graph_pool_handle()

        def __call__(self, x):
            if len(self.graphs) > 16 and x.shape not in self.graphs:
                return self.model(x)
            if x.shape not in self.graphs:
                static = x.clone()
                self.model(static)
                graph = torch.cuda.CUDAGraph()
                with torch.cuda.graph(graph, pool=self.pool):
                    out = self.model(static)
                self.graphs[x.shape] = graph, static, out
            graph, static, out = self.graphs[x.shape]
            static.copy_(x)
            graph.replay()
            return out.clone()

    def main(device):
        runner = Runner(torch.nn.Linear(4, 4).to(device))
        return [runner(torch.ones(length, 4, device=device)) for length in range(1, 30)]

How to fix: round the size up to a bucket, bound the number of graphs, and run eagerly beyond.
"""

from __future__ import annotations

from graphlint.rule import finding, rule
from graphlint.site_events import UnboundedCache
from graphlint.types import Finding


@rule("GL703", on=UnboundedCache, predicts="defeats")
def unbounded_cache(event: UnboundedCache) -> Finding | None:
    return finding(
        event,
        f"`{event.cache}` gets a graph for every shape, without a bound",
        help="pad to a maximum or to a few buckets, and fall back to eager when the cache is full",
    )
