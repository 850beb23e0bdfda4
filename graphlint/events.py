"""What the interpreter saw a captured region do: one frozen class a kind of fact.

An event states what happens, never whether that is bad; rules decide.  Every event knows where (`span`), the text of
the expression there (`text`), how sure the facts behind it are (`confidence`), under which capture targets the code
runs (`targets`) and the calls that lead there from the region (`trail`, outermost first).
"""

from __future__ import annotations

from dataclasses import dataclass, fields

from graphlint.types import Confidence, Span, Step, Target


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Event:
    """The facts every kind shares."""

    span: Span
    text: str
    confidence: Confidence = Confidence.CERTAIN
    targets: Target = Target.BOTH
    trail: tuple[Step, ...] = ()

    # Written once and not, as `dataclass` would, a hundred times: that takes half of the time these classes need.
    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and all(
            getattr(self, each.name) == getattr(other, each.name) for each in fields(self)
        )

    def __hash__(self) -> int:
        return hash((type(self), self.span, self.text))

    def __repr__(self) -> str:
        parts = ", ".join(f"{each.name}={getattr(self, each.name)!r}" for each in fields(self))
        return f"{type(self).__name__}({parts})"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class HostRead(Event):
    """A method copies device values into Python: `item`, `tolist`, `numpy`."""

    method: str


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class HostCast(Event):
    """A builtin turns a device tensor into a Python number: `int`, `float`, `bool`, `complex`, `round`, `math.*`."""

    builtin: str


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class HostBranch(Event):
    """Python control flow waits for a device value; `construct` is the keyword."""

    construct: str


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class HostFormat(Event):
    """A device tensor is turned into text; `construct` is "f-string", "print", "str", "format" or "%"."""

    construct: str


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class HostCompare(Event):
    """A builtin or `in` compares device values in Python: `max`, `min`, `sorted`, `any`, `all`, `in`."""

    builtin: str


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class HostArgument(Event):
    """A device value stands where a host number is needed: a size, a fill value, a count, `range`.

    `splits` says whether Dynamo breaks there too; fill values and the ends of `linspace` stay tensors.
    """

    call: str
    argument: str
    splits: bool = True


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Synchronize(Event):
    """The host waits for the device, a stream or an event, or asks one of them for its state."""

    call: str


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class LibraryRead(Event):
    """A library call reads device values on the host inside itself; `splits` says whether Dynamo breaks there too.

    With `backward` it is the call's backward pass that reads, which matters where one runs in the region.
    """

    call: str
    why: str
    splits: bool = False
    backward: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class BackwardRun(Event):
    """A backward pass runs: of all that the region has computed so far."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class LibraryRefused(Event):
    """A library call that a capture refuses for another reason than a read, such as a solver's workspace."""

    call: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class DataShape(Event):
    """An operation whose output size depends on device values."""

    call: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class MaskIndex(Event):
    """A boolean device tensor selects elements; `store` says whether a device value is written through it."""

    store: bool


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class TensorBound(Event):
    """A device scalar is an index or a slice bound, which Python reads."""

    role: str


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class HostCopy(Event):
    """Data are copied between host and device."""

    call: str


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class HostLiteral(HostCopy):
    """A device tensor is built from Python values, which are copied from pageable host memory."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class HostToDevice(HostCopy):
    """A tensor born on the host is copied to the device; `origin` says where it was born, if known."""

    origin: str


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class DeviceToHost(HostCopy):
    """A device tensor is copied to the host."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class HostIndex(Event):
    """A list or a host tensor indexes a device tensor, or a device tensor a host one; `what` says which."""

    what: str


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class ScalarStore(Event):
    """A host number is stored through an index that needs a device tensor for it."""

    index: str


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class HostOperand(Event):
    """A host tensor meets device tensors in an operation that does not accept it as a scalar."""

    call: str
    argument: str


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class FrozenScalar(Event):
    """The value of a host tensor or number that changes between calls, or its address, is recorded once."""

    what: str
    recorded: str = "value"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class PinnedMemory(Event):
    """Page-locked host memory is allocated."""

    call: str


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class DataSize(Event):
    """A host number that was read from the device decides the shape of a result."""

    call: str
    argument: str


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class HostRandom(Event):
    """A random number is drawn on the host."""

    call: str


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class GeneratorUse(Event):
    """A generator that the graph does not know is drawn from, seeded or read; `what` says which."""

    call: str
    what: str


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class ClockRead(Event):
    """The clock, the environment, an address or another host fact is read."""

    call: str
    what: str


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class HostMutation(Event):
    """Host state that outlives the region changes: `what` is "counter", "container", "global", "entry" or "call".

    A call changes what only torch holds, such as the state of a generator; `why` says what that is.  Of an entry it says
    that the function reads it before it stores it.
    """

    target: str
    what: str
    why: str = ""
    keys: tuple[str, ...] = ()
    """What is bound or filled, as `interp.carried` knows it; empty where its reads are not followed."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Rebound(Event):
    """An attribute that holds a tensor is bound to a new one instead of being written in place."""

    target: str
    buffer: bool
    keys: tuple[str, ...] = ()
    """The attribute as `interp.carried` knows it, empty where its reads are not followed."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class GraphBreak(Event):
    """Dynamo cannot trace this and splits the graph; a raw capture does not mind."""

    construct: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class UnknownCall(Event):
    """A call whose effect is not known; counted, never reported as a fault."""

    call: str


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class LimitReached(Event):
    """The analysis stopped short here: recursion, size or time."""

    limit: str
