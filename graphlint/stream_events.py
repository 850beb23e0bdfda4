"""What streams, libraries and process groups around a capture do to it: one frozen class a kind of fact."""

from __future__ import annotations

from graphlint.events import Event, fact


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
