"""What the code around a capture does to it besides what `site_events` has: one frozen class a kind of fact.

Gradients and modes, streams and other libraries, process groups.
"""

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


@fact
class WorkNotCaptured(Event):
    """Work in a region runs on a stream that nothing captures; `whose` it is."""

    work: str
    whose: str = "the default stream"


@fact
class ReplaysAtOnce(Event):
    """Two graphs of one pool are replayed on streams of which neither waits for the other; `other` is the second replay."""

    target: str
    other: str


@fact
class HostCollective(Event):
    """A region issues a collective of a group that works on the host."""

    call: str


@fact
class DdpUnused(Event):
    """A region trains a DDP model that looks for unused parameters, and has some: those of `layer`."""

    callee: str
    layer: str


@fact
class UnwaitedCollective(Event):
    """A region reads a tensor of an asynchronous collective before it waits for it; `call` started it."""

    call: str
    target: str


@fact
class RankBranch(Event):
    """A region branches on the rank, and its sides issue different collectives; `call` is the first of them."""

    call: str
    branch: str


@fact
class ColdCommunicator(Event):
    """A region issues the first collective of a group."""

    call: str


@fact
class WarmupTooShort(Event):
    """A region trains a DDP module that was called `count` times before, too few times."""

    callee: str
    count: int


@fact
class DdpOnDefaultStream(Event):
    """A region runs the backward pass of a DDP module that was made on the default stream."""

    call: str


@fact
class UnreadCollective(Event):
    """A region gives back the result of a functional collective without having read it."""

    call: str


@fact
class OtherDevice(Event):
    """A region is captured on another GPU than the `device` it works on; "" where a loop goes over several."""

    device: str = ""


@fact
class Offloaded(Event):
    """A region calls a model whose weights are kept on the host; `how` says what keeps them there."""

    how: str
