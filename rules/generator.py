"""A generator that the graph does not know is used inside a region.

The graph advances the default CUDA generator on every replay, and only it.  Another generator raises unless it was
registered with `CUDAGraph.register_generator_state` before the capture.

Fails:

    import torch

    noise = torch.Generator(device="cuda")

    def step(x):
        return x + torch.randn(x.shape, generator=noise, device=x.device)

Captures:

    import torch

    def step(x):
        return x + torch.randn(x.shape, device=x.device)

How to fix: use the default generator, or `graph.register_generator_state(generator)` before the capture.
"""

from __future__ import annotations

from graphlint.events import GeneratorUse
from graphlint.rule import finding, rule
from graphlint.types import Finding


@rule("GL402", on=GeneratorUse, predicts="breaks", compile="defeats")
def generator(event: GeneratorUse) -> Finding | None:
    return finding(
        event,
        f"`{event.call}` draws from a generator that the graph does not know",
        help="use the default generator, or call `graph.register_generator_state(generator)` before the capture",
    )
