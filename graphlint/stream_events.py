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
