"""What the interpreter saw a captured region do: one frozen class a kind of fact.

An event states what happens, never whether that is bad; rules decide.  Every event knows where (`span`), the text of
the expression there (`text`), how sure the facts behind it are (`confidence`), under which capture targets the code
runs (`targets`) and the calls that lead there from the region (`trail`, outermost first).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from graphlint.record import Record, complete, frozen, put
from graphlint.types import Confidence, Span, Step, Target

if TYPE_CHECKING:
    from typing_extensions import dataclass_transform

    T = TypeVar("T")

    @dataclass_transform(kw_only_default=True, frozen_default=True)
    def fact(kind: type[T]) -> type[T]: ...

else:
    fact = frozen

COMMON = 5
"""Fields that every event has."""


@fact
class Event(Record):
    """The facts every kind shares."""

    span: Span
    text: str
    confidence: Confidence = Confidence.CERTAIN
    targets: Target = Target.BOTH
    trail: tuple[Step, ...] = ()

    def __init__(
        self,
        *,
        span: Span,
        text: str,
        confidence: Confidence = Confidence.CERTAIN,
        targets: Target = Target.BOTH,
        trail: tuple[Step, ...] = (),
        **own: object,
    ) -> None:
        put(self, "span", span)
        put(self, "text", text)
        put(self, "confidence", confidence)
        put(self, "targets", targets)
        put(self, "trail", trail)
        for name, value in own.items():
            put(self, name, value)
        if len(own) + COMMON != len(self.__dataclass_fields__):
            complete(self)

    def __hash__(self) -> int:
        return hash((type(self), self.span, self.text))


@fact
class HostRead(Event):
    """A method copies device values into Python: `item`, `tolist`, `numpy`."""

    method: str


@fact
class HostCast(Event):
    """A builtin turns a device tensor into a Python number: `int`, `float`, `bool`, `complex`, `round`, `math.*`."""

    builtin: str


@fact
class HostBranch(Event):
    """Python control flow waits for a device value; `construct` is the keyword, or words: "a chained comparison".

    Of an `assert` it is a second word if Dynamo makes no assertion on the device of it: "assert not", "assert and".
    `or_number` says, here and below, that a Python number may stand there as well.
    """

    construct: str
    or_number: bool = False


@fact
class HostFormat(Event):
    """A device tensor is turned into text; `construct` is "f-string", "print", "str", "format" or "%"."""

    construct: str


@fact
class HostCompare(Event):
    """A builtin or `in` compares device values in Python: `max`, `min`, `sorted`, `any`, `all`, `in`."""

    builtin: str


@fact
class HostArgument(Event):
    """A device value stands where a host number is needed: a size, a fill value, a count, `range`."""

    call: str
    argument: str
    or_number: bool = False


@fact
class Synchronize(Event):
    """The host waits for the device, a stream or an event, or asks one of them for its state."""

    call: str


@fact
class LibraryRead(Event):
    """A library call reads device values on the host inside itself; `splits` says whether Dynamo breaks there too.

    With `backward` it is the call's backward pass that reads, which matters where one runs in the region.
    """

    call: str
    why: str
    splits: bool = False
    backward: bool = False


@fact
class BackwardRun(Event):
    """A backward pass runs: of all that the region has computed so far."""


@fact
class LibraryRefused(Event):
    """A library call that a capture refuses for another reason than a read, such as a solver's workspace.

    `call` is empty for an operator, which the text shows.
    """

    call: str
    why: str


@fact
class DataShape(Event):
    """An operation whose output size depends on device values."""

    call: str
    why: str


@fact
class MaskIndex(Event):
    """A boolean device tensor selects elements; `store` says whether a device value is written through it."""

    store: bool


@fact
class TensorBound(Event):
    """A device scalar is an index or a slice bound, which Python reads."""

    role: str
    or_number: bool = False


@fact
class HostCopy(Event):
    """Data are copied between host and device."""

    call: str


@fact
class HostLiteral(HostCopy):
    """A device tensor is built from Python values, which are copied from pageable host memory.

    `why` says what is copied where the call does not.
    """

    why: str = ""


@fact
class HostToDevice(HostCopy):
    """A tensor born on the host is copied to the device; `origin` says where it was born, if known."""

    origin: str


@fact
class DeviceToHost(HostCopy):
    """A device tensor is copied to the host."""


@fact
class HostIndex(Event):
    """A list or a host tensor indexes a device tensor, or a device tensor a host one; `what` says which.

    `numbers` if it is a host tensor of whole numbers that a literal, an argument, an attribute or a global holds.
    """

    what: str
    numbers: bool = False


@fact
class ScalarStore(Event):
    """A host number is stored through an index that needs a device tensor for it."""

    index: str


@fact
class HostOperand(Event):
    """A host tensor meets device tensors in an operation that does not accept it as a scalar."""

    call: str
    argument: str


@fact
class FrozenScalar(Event):
    """What a host tensor or number that changes between calls holds, where it lies or how it decides is recorded once."""

    what: str
    recorded: str = "value"


@fact
class PinnedMemory(Event):
    """Page-locked host memory is allocated."""

    call: str


@fact
class DataSize(Event):
    """A host number that was read from the device decides the shape of a result."""

    call: str
    argument: str


@fact
class HostRandom(Event):
    """A random number is drawn on the host."""

    call: str


@fact
class GeneratorUse(Event):
    """A generator that the graph does not know is drawn from."""

    call: str


@fact
class ClockRead(Event):
    """The clock, the environment, an address or another host fact is read."""

    call: str
    what: str


@fact
class HostMutation(Event):
    """Host state that outlives the region changes: `what` is "counter", "container", "global", "entry" or "call".

    A call changes what only torch holds, such as the state of a generator; `why` says what that is.  Of an entry it says
    that the function reads it before it stores it.
    """

    target: str
    what: str
    why: str = ""
    is_guarded: bool = False
    """Whether it is a number of a module, of which Dynamo compiles every value anew."""
    is_shown: bool = False
    """Whether it is a count of calls that nothing in the file computes with: kept to be looked at."""
    keys: tuple[str, ...] = ()
    """What is bound or filled, as `interp.carried` knows it; empty where its reads are not followed."""


@fact
class Rebound(Event):
    """An attribute that holds a tensor is bound to a new one instead of being written in place."""

    target: str
    buffer: bool
    keys: tuple[str, ...] = ()
    """The attribute as `interp.carried` knows it, empty where its reads are not followed."""


@fact
class GraphBreak(Event):
    """Dynamo cannot trace this and splits the graph; a raw capture does not mind.

    `construct` is the keyword or function that is not traced, or says in words what is: "an index", "a slice bound".
    """

    construct: str
    why: str


@fact
class GraphsSkipped(Event):
    """Inductor compiles this, but uses no CUDA graphs for the function that it is in.

    With `is_pending`, it would: a backward pass is missing that ends each step.
    """

    call: str
    why: str
    is_pending: bool = False


@fact
class UnknownCall(Event):
    """A call whose effect is not known; counted, never reported as a fault."""

    call: str


@fact
class LimitReached(Event):
    """The analysis stopped short here: recursion, size or time."""

    limit: str
