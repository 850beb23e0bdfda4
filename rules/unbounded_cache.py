"""A graph is captured and kept for every shape that comes by.

Sizes that vary freely give a capture each, slower than eager, and memory that is never freed.  Three ways out: pad to one
maximum; a few buckets with a shared pool and eager beyond; or keep what depends on the size out of the graph.

Fails:

    import torch

    class Runner:
        def __init__(self, model):
            self.model = model
            self.graphs = {}

        def capture(self, x):
            static = x.clone()
            self.model(static)
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                out = self.model(static)
            return graph, static, out

        def __call__(self, x):
            key = tuple(x.shape)
            if key not in self.graphs:
                self.graphs[key] = self.capture(x)
            graph, static, out = self.graphs[key]
            static.copy_(x)
            graph.replay()
            return out.clone()

Captures:

    import torch

    class Runner:
        def __init__(self, model):
            self.model = model
            self.graphs = {}

        def capture(self, x):
            static = x.clone()
            self.model(static)
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                out = self.model(static)
            return graph, static, out

        def __call__(self, x):
            key = tuple(x.shape)
            if len(self.graphs) > 16:
                return self.model(x)
            if key not in self.graphs:
                self.graphs[key] = self.capture(x)
            graph, static, out = self.graphs[key]
            static.copy_(x)
            graph.replay()
            return out.clone()

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
