"""What a capture site does to gradients: one frozen class a kind of fact, as in `site_events`."""

from __future__ import annotations

from graphlint.events import Event, fact


@fact
class GradientsCut(Event):
    """A graphed callable is called with an input that needs gradients, and was graphed with a sample that needs none."""

    target: str


@fact
class InferenceTensor(Event):
    """A tensor of a graph that was made in inference mode is written, or needed for gradients (`is_read`), outside it."""

    target: str
    is_read: bool = False


@fact
class DifferentiatedTwice(Event):
    """Gradients of gradients are asked for through a graphed callable, or through a compiled one (`is_compiled`)."""

    call: str
    is_compiled: bool = False


@fact
class LazyParameters(Event):
    """A lazy module gets its parameters in a region; or, where it `is_scale`, a gradient scaler its scale."""

    callee: str
    is_scale: bool = False


@fact
class GraphedOutOfOrder(Event):
    """Callables that were graphed together are called in another order; `before` should come first."""

    target: str
    before: str


@fact
class GraphedOtherInput(Event):
    """A graphed callable is called with a tensor of another shape or type than its sample, which `becomes` that of it."""

    target: str
    becomes: str


@fact
class CapturableUnused(Event):
    """An optimizer that is made for captures steps outside of them only."""

    target: str


@fact
class Fp8Left(Event):
    """A callable that another library graphed with FP8 is called without what its scales or weights need: `lacks`."""

    target: str
    lacks: str
    cure: str
