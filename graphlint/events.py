"""What the interpreter saw a captured region do: one frozen class a kind of fact.

An event states what happens, never whether that is bad; rules decide.  Every event knows where (`span`), the text of
the expression there (`text`), how sure the facts behind it are (`confidence`), under which capture targets the code
runs (`targets`) and the calls that lead there from the region (`trail`, outermost first).
"""

from __future__ import annotations

from dataclasses import dataclass

from graphlint.types import Confidence, Span, Step, Target


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """The facts every kind shares."""

    span: Span
    text: str
    confidence: Confidence = Confidence.CERTAIN
    targets: Target = Target.BOTH
    trail: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class HostRead(Event):
    """A method copies device values into Python: `item`, `tolist`, `numpy`."""

    method: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HostCast(Event):
    """A builtin turns a device tensor into a Python number: `int`, `float`, `bool`, `complex`, `round`, `math.*`."""

    builtin: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HostBranch(Event):
    """Python control flow waits for a device value; `construct` is the keyword."""

    construct: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HostFormat(Event):
    """A device tensor is turned into text; `construct` is "f-string", "print", "str", "format" or "%"."""

    construct: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HostCompare(Event):
    """A builtin or `in` compares device values in Python: `max`, `min`, `sorted`, `any`, `all`, `in`."""

    builtin: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HostArgument(Event):
    """A device value stands where a host number is needed: a size, a fill value, a count, `range`.

    `splits` says whether Dynamo breaks there too; fill values and the ends of `linspace` stay tensors.
    """

    call: str
    argument: str
    splits: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Synchronize(Event):
    """The host waits for the device, a stream or an event, or asks one of them for its state."""

    call: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LibraryRead(Event):
    """A library call reads device values on the host inside itself; `splits` says whether Dynamo breaks there too."""

    call: str
    why: str
    splits: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class LibraryRefused(Event):
    """A library call that a capture refuses for another reason than a read, such as a solver's workspace."""

    call: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DataShape(Event):
    """An operation whose output size depends on device values."""

    call: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MaskIndex(Event):
    """A boolean device tensor selects elements; `store` says whether a device value is written through it."""

    store: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TensorBound(Event):
    """A device scalar is an index or a slice bound, which Python reads."""

    role: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HostLiteral(Event):
    """A device tensor is built from Python values, which are copied from pageable host memory."""

    call: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HostToDevice(Event):
    """A tensor born on the host is copied to the device; `origin` says where it was born, if known."""

    call: str
    origin: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceToHost(Event):
    """A device tensor is copied to the host."""

    call: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HostIndex(Event):
    """A list or a host tensor indexes a device tensor, or a device tensor a host one; `what` says which."""

    what: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalarStore(Event):
    """A host number is stored through an index that needs a device tensor for it."""

    index: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HostOperand(Event):
    """A host tensor meets device tensors in an operation that does not accept it as a scalar."""

    call: str
    argument: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FrozenScalar(Event):
    """The value of a host tensor or number that changes between calls is recorded once."""

    what: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PinnedMemory(Event):
    """Page-locked host memory is allocated."""

    call: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DataSize(Event):
    """A host number that was read from the device decides the shape of a result."""

    call: str
    argument: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HostRandom(Event):
    """A random number is drawn on the host."""

    call: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratorUse(Event):
    """A generator that the graph does not know is drawn from, seeded or read; `what` says which."""

    call: str
    what: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockRead(Event):
    """The clock, the environment, an address or another host fact is read."""

    call: str
    what: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HostMutation(Event):
    """Host state that outlives the region changes: `what` is "counter", "container", "global" or "entry"."""

    target: str
    what: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Rebound(Event):
    """An attribute that holds a tensor is bound to a new one instead of being written in place."""

    target: str
    buffer: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphBreak(Event):
    """Dynamo cannot trace this and splits the graph; a raw capture does not mind."""

    construct: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownCall(Event):
    """A call whose effect is not known; counted, never reported as a fault."""

    call: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitReached(Event):
    """The analysis stopped short here: recursion, size or time."""

    limit: str


# The capture site: what the code around a captured region does to it.


@dataclass(frozen=True, slots=True, kw_only=True)
class WarmupMissing(Event):
    """A region calls `callee`, which was never called before the capture."""

    callee: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WarmupMovesState(Event):
    """A warm-up call moves state that nothing puts back; `what` says which."""

    callee: str
    what: str


@dataclass(frozen=True, slots=True, kw_only=True)
class InputRebound(Event):
    """A name, attribute or entry that a region read is bound to something else, and the graph is replayed."""

    target: str
    place: str


@dataclass(frozen=True, slots=True, kw_only=True)
class InputNotRefreshed(Event):
    """New data arrives for every replay, and nothing of it is written into an input; `source` names the data."""

    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputKept(Event):
    """A tensor that replays write is kept past the next replay without a copy; `how` says where."""

    target: str
    how: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputUnset(Event):
    """A tensor made in a region is read before any replay has computed it."""

    target: str


@dataclass(frozen=True, slots=True, kw_only=True)
class InputDies(Event):
    """A graph outlives the only name of a tensor it reads."""

    target: str
    graph: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryRebound(Event):
    """A region replaces an entry of a container that it read before."""

    target: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RefreshMissesInput(Event):
    """New data is written into a tensor that the graph makes, in the place of the one it reads."""

    target: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightsMoved(Event):
    """Parameters or buffers that a graph reads get other memory after the capture; `how` says by what."""

    target: str
    how: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StashReplaced(Event):
    """An attribute that a region sets is set to something else outside and read after a replay."""

    target: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RateFrozen(Event):
    """A learning rate that is a Python number changes after its optimizer's step was captured."""

    target: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AutocastCache(Event):
    """A region takes cast weights from an autocast cache that was filled outside it; `role` is "block" or "call"."""

    role: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GradientsDropped(Event):
    """Gradients that a graph writes are set to None between replays, with the optimizer's step outside."""

    call: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GradientsPileUp(Event):
    """A region runs a backward pass onto gradients that were there before the capture."""

    call: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphedMisused(Event):
    """A callable of `make_graphed_callables` is made or called in a way it refuses; `why` says which."""

    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphedOverwritten(Event):
    """A graphed callable is called again while its earlier result is still needed."""

    target: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LoaderThread(Event):
    """A capture runs while the thread of a loader that pins memory is alive."""

    loader: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CachedTensor(Event):
    """A bounded cache of a function's results is the only owner of a tensor that a region reads."""

    function: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GrowingState(Event):
    """State that outlives the region grows by concatenation in it."""

    target: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamNotForked(Event):
    """Work in a region runs on a stream that does not wait for the captured one."""

    stream: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamNotJoined(Event):
    """Work in a region runs on a stream that the captured one does not wait for afterwards."""

    stream: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OutsideEvent(Event):
    """A region waits for an event that was recorded before the capture."""

    event: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UnsharedPool(Event):
    """Graphs are captured in a loop, each with a pool of its own."""

    loop: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AscendingBuckets(Event):
    """Graphs that share a pool are captured from the smallest size to the largest."""

    loop: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UnboundedCache(Event):
    """A graph is captured and kept for every shape that comes by."""

    cache: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptureInLoop(Event):
    """A graph is captured anew for every round of the loop that replays it."""

    loop: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PaddingLeft(Event):
    """Part of an input is filled, the rest keeps what the last replay had, and the region mixes the two."""

    target: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PaddingReturned(Event):
    """An output of full size is handed out although only part of the input was filled."""

    target: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LastBatch(Event):
    """A loader whose last batch can be smaller feeds an input of fixed size."""

    loader: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledInputMutated(Event):
    """A compiled function with graphs writes into one of its arguments."""

    target: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledOverwritten(Event):
    """A compiled function with graphs is called again while its earlier result is still needed."""

    target: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledStaleRead(Event):
    """The result of a compiled function with graphs is read after a later call."""

    target: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledDynamic(Event):
    """A function is compiled with graphs and with dynamic shapes."""

    call: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledClone(Event):
    """A compiled function with graphs copies its result inside, where the copy is an output again."""

    target: str
