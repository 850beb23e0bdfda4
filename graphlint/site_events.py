"""What the walk of a capture site saw the code around a region do to it: one frozen class a kind of fact.

Like the events of the interpreter, these state what happens and where; rules decide what it means.
"""

from __future__ import annotations

from graphlint.events import Event, fact


@fact
class WarmupMissing(Event):
    """A region calls `callee`, which was never called before the capture; `why` that matters."""

    callee: str
    why: str = "its libraries are set up"


@fact
class WarmupMovesState(Event):
    """A warm-up call moves state that nothing puts back; `what` says which."""

    callee: str
    what: str


@fact
class InputRebound(Event):
    """A name, attribute or entry that a region read is bound to something else, and the graph is replayed.

    `is_host` is true for a number, flag or text: there is no memory that could be written instead; `is_exchange` where
    several change places.
    """

    target: str
    place: str
    is_host: bool = False
    is_exchange: bool = False


@fact
class InputNotRefreshed(Event):
    """New data arrives for every replay, and nothing of it is written into an input; `source` names the data."""

    source: str


@fact
class OutputKept(Event):
    """A tensor that replays write is kept past the next replay without a copy; `how` says where."""

    target: str
    how: str


@fact
class OutputUnset(Event):
    """A tensor made in a region is read before any replay has computed it; `is_kept` where it is put away for later."""

    target: str
    is_kept: bool = False


@fact
class InputDies(Event):
    """A graph outlives the only name of a tensor it reads."""

    target: str
    graph: str


@fact
class EntryRebound(Event):
    """A region replaces an entry of a container that it read before."""

    target: str


@fact
class RefreshMissesInput(Event):
    """New data is written into a tensor that the graph makes, in the place of the one it reads.

    Where it `is_grown`, into one that was made anew for a call that needs more, and that older graphs do not read.
    """

    target: str
    is_grown: bool = False


@fact
class WeightsMoved(Event):
    """Parameters or buffers that a graph reads get other memory after the capture; `how` says by what."""

    target: str
    how: str


@fact
class StashReplaced(Event):
    """An attribute that a region sets is set to something else outside and read after a replay."""

    target: str


@fact
class RateFrozen(Event):
    """An `option` of an optimizer that is a Python number changes after its step was captured."""

    target: str
    option: str = "lr"


@fact
class AutocastCache(Event):
    """A region takes cast weights from an autocast cache that was filled outside it; `role` is "block" or "call".

    Or weights that a parametrisation `computes`, from the cache of those.
    """

    role: str
    computes: bool = False


@fact
class GradientsDropped(Event):
    """Gradients that a graph writes are set to None between replays, with the optimizer's step outside."""

    call: str


@fact
class GradientsPileUp(Event):
    """A region runs a backward pass onto gradients that were there before the capture."""

    call: str


@fact
class GraphedMisused(Event):
    """A callable of `make_graphed_callables` is made or called in a way it refuses: `why`, and the `cure` for it."""

    why: str
    cure: str


@fact
class GraphMisused(Event):
    """A graph object is captured into, or replayed, in a way that it refuses: `why`, and the `cure` for it."""

    why: str
    cure: str
    what: str = "is refused"


@fact
class GraphedOtherMode(Event):
    """A graphed module is called in another mode than the one it was graphed in, and runs eagerly."""

    target: str


@fact
class GraphedOverwritten(Event):
    """A graphed callable is called again while its earlier result is still needed.

    With `gradients`, what an earlier backward pass left in `.grad`, to which `target` adds.
    """

    target: str
    gradients: bool = False


@fact
class LoaderThread(Event):
    """A capture runs while the thread of a loader that pins memory, or another thread, is alive.

    `does` is what the thread does that the capture does not bear, `in_both_modes` if `thread_local` does not either.  Of
    several threads that capture `at_once`, each is the one that runs beside the others.
    """

    loader: str
    thread: str = "the pinning thread of a loader"
    does: str = ""
    in_both_modes: bool = False
    at_once: bool = False


@fact
class CachedTensor(Event):
    """A bounded cache of a function's results is the only owner of a tensor that a region reads.

    Where it `grows`, it is scratch memory that is made anew for a call that needs more.  Where it `drops` entries, the
    event stands at the statement that does.
    """

    function: str
    grows: bool = False
    drops: bool = False


@fact
class GrowingState(Event):
    """State that outlives the region grows by concatenation in it, or, where `is_cut`, is read up to where calls move on.

    Where `is_window`, it is a container of tensors that calls fill, and that the region joins.
    """

    target: str
    is_cut: bool = False
    is_window: bool = False


@fact
class StreamNotForked(Event):
    """Work in a region runs on a stream that does not wait for the captured one."""

    stream: str


@fact
class StreamNotJoined(Event):
    """Work in a region runs on a stream that the captured one does not wait for afterwards."""

    stream: str


@fact
class OutsideEvent(Event):
    """A region waits for work that is not in it: `awaited` says which."""

    event: str
    awaited: str = "an event that was recorded before the capture"


@fact
class UnsharedPool(Event):
    """Graphs are captured in a loop, or for each key of `cache`, each with a pool of its own.

    With `stream`, they are given one pool, and each captures on another stream.
    """

    loop: str = ""
    cache: str = ""
    stream: str = ""


@fact
class AscendingBuckets(Event):
    """Graphs that share a pool are captured from the smallest size to the largest."""

    loop: str


@fact
class UnboundedCache(Event):
    """A graph is captured and kept for every shape that comes by."""

    cache: str


@fact
class CaptureInLoop(Event):
    """A graph is captured anew for every round of the loop that replays it."""

    loop: str


@fact
class PaddingLeft(Event):
    """Part of an input is filled, the rest keeps what the last replay had, and the region mixes the two."""

    target: str
    places: bool = False


@fact
class PaddingReturned(Event):
    """An output of full size is handed out although only part of the input was filled."""

    target: str


@fact
class LastBatch(Event):
    """A loader whose last batch can be smaller feeds an input of fixed size."""

    loader: str


@fact
class CompiledInputMutated(Event):
    """A compiled function with graphs writes into one of its arguments."""

    target: str


@fact
class CompiledOverwritten(Event):
    """A compiled function with graphs is called again while its earlier result is still needed."""

    target: str


@fact
class CompiledStaleRead(Event):
    """The result of a compiled function with graphs is read after a later call.

    With `gradients`, what an earlier backward pass left in `.grad`, to which `target` adds.  `other` is the later call, if
    that is one of another compiled function.
    """

    target: str
    gradients: bool = False
    other: str = ""


@fact
class CompiledDynamic(Event):
    """A function is compiled with graphs and with dynamic shapes, or a loop calls it with ever longer arguments.

    `number` is the parameter that gets another number in every round; if it `cuts`, what is read up to it is meant.  With
    `marks`, an argument of it is marked as dynamic by this call.
    """

    call: str
    grows: bool = False
    number: str = ""
    cuts: bool = False
    marks: bool = False


@fact
class CompiledClone(Event):
    """A compiled function with graphs copies its result inside, where the copy is an output again."""

    target: str


@fact
class DerivedInput(Event):
    """New data are written into the source of a copy that was made before the capture; the graph reads the copy.

    `source` is what writes them, where the event stands at the code that filled the copy and that replays pass over.
    """

    target: str
    copy: str
    source: str = ""


@fact
class ModeToggled(Event):
    """A captured module is switched between training and evaluation, and its graph is replayed.

    Or it is told something else: `what` is "mode", "learning", "hook", "setting" or, of an optimizer, "group".
    """

    target: str
    what: str = "mode"


@fact
class InputRaced(Event):
    """An input is written on a stream that the replay does not wait for."""

    target: str


@fact
class UnwaitedCopy(Event):
    """A copy to the host that nobody waited for is read."""

    target: str
