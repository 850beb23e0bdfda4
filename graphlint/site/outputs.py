"""Are results of a graph read when they hold what is meant?"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from graphlint.events import Event
from graphlint.site.acts import Act, Frame, Verb, side_by_side
from graphlint.site.branches import apart, branches
from graphlint.site.inputs import root
from graphlint.site.story import NEAR, Captured, Story, region, tell
from graphlint.site.things import Kind, Scope, Thing
from graphlint.site.unchanged import is_same
from graphlint.site_events import OutputKept, OutputUnset, UnwaitedCopy
from graphlint.syntax import last_called, stands_in, walk
from graphlint.types import Region

Told = Iterator[tuple[Region, Event]]
LOOKS = frozenset(
    [
        "operator",
        "item",
        "tolist",
        "numpy",
        "cpu",
        "clone",
        "float",
        "f-string",
        "builtins.print",
        "builtins.float",
        "builtins.int",
        "to",
    ]
)


def kept(story: Story) -> Told:
    """A result that is kept without a copy although the next replay writes over it."""
    collected: set[ast.AST] = set()
    for captured in story.captures:
        first = next(story.replays(captured), None)
        if first is None:
            continue
        for index, act in story.between(first, len(story.acts), Verb.KEEP, Verb.BIND, Verb.RETURN):
            how = "" if story.is_captured(index) else _how(story, captured, index, act)
            if how:
                collected |= {act.node} if how == "collected" else set()
                given = index if act.verb is Verb.RETURN else _returned(story, captured, index)
                act = act if given is None else _innermost(story, given)
                # What is collected in what is returned has been told of.
                if how == "returned" and (
                    not collected.isdisjoint(walk(act.node)) or _copies_as_well(story, captured, act)
                ):
                    continue
                yield region(captured, story.acts), tell(OutputKept, act, target=_named(act), how=how)


def _how(story: Story, captured: Captured, index: int, act: Act) -> str:
    if act.verb is Verb.RETURN:
        return "returned" if _is_given_away(story, captured, index, act) else ""
    if not (_is_result(captured, act.thing) or is_same(captured, act.thing, act.frame.module)):
        return ""
    again = next(story.replays(captured, index), None)
    if again is None:
        return ""
    if act.verb is Verb.KEEP:
        return {"append": "appended", "comprehension": "collected", "yield": "yielded"}.get(act.name, "put away")
    assert act.slot is not None
    if isinstance(act.slot.holder, Thing):
        return "put away" if act.slot.holder.kind is Kind.CONTAINER or act.slot.key.startswith("[") else ""
    if _comes_with_graph(story, captured, index):
        return ""
    # A name given before the replay whose result it is read for is only a shorter name.
    is_old = any(_is_just_before(story.acts[at], act) for at in _before(story, captured, index))
    return "read after the next replay" if is_old and _is_read_later(story, act, index, again) else ""


def _is_result(captured: Captured, thing: Thing) -> bool:
    """Whether a thing is made by the region, or holds such without the graph: `{"logits": self.out, "best": best}`."""
    if captured.made(thing) or thing.kind is not Kind.CONTAINER:
        return captured.made(thing)
    return captured.graph not in thing.family() and any(map(captured.made, thing.slots.values()))


def _comes_with_graph(story: Story, captured: Captured, index: int) -> bool:
    """`graph, out = record(model, x)`: what is given together with the graph is where its results are, and none of them."""
    near = story.between(index - NEAR, index + NEAR, Verb.BIND)
    return any(act.node is story.acts[index].node and act.thing is captured.graph for _, act in near)


def _is_just_before(replay: Act, act: Act) -> bool:
    """Whether a replay stands before an act in the same activation and the same round of the loops around both."""
    frame: Frame | None = replay.frame
    while frame is not None and frame is not act.frame:
        frame = frame.caller
    rounds = {id(layer.node): layer.round for layer in act.layers}
    return frame is not None and all(rounds.get(id(each.node), each.round) == each.round for each in replay.layers)


def _is_read_later(story: Story, act: Act, index: int, again: int) -> bool:
    """Whether a name given to a result is read behind the next replay before it is bound anew."""
    for later, each in story.between(index, len(story.acts), Verb.LOAD, Verb.BIND):
        if each.slot != act.slot:
            continue
        if each.verb is Verb.BIND:
            return False
        if later > again:
            return isinstance(act.slot.holder, Scope) if act.slot is not None else False
    return False


def _is_given_away(story: Story, captured: Captured, index: int, act: Act) -> bool:
    is_root = act.frame.caller is None and root(story.acts[captured.begin].frame) is not act.frame
    if not is_root or not any(captured.made(thing) for thing in act.thing.family()):
        return False
    return any(
        story.acts[at].frame is act.frame or root(story.acts[at].frame) is act.frame
        for at in _before(story, captured, index)
    )


def _returned(story: Story, captured: Captured, index: int) -> int | None:
    """Where a function that replays the graph returned what an act keeps; None where no function did."""
    act = story.acts[index]
    for at in range(index - 1, captured.end, -1):
        inner = story.acts[at]
        if inner.verb is not Verb.RETURN or inner.thing is not act.thing or inner.frame.caller is not act.frame:
            continue
        if not any(part is inner.frame.node for part in ast.walk(act.node)):
            return None
        replays = _before(story, captured, at)
        return at if any(inner.frame.leads_to(story.acts[replay].frame) for replay in replays) else None
    return None


def _innermost(story: Story, index: int) -> Act:
    """The `return` from which a function has what it gives back as it got it: there a copy helps all callers."""
    act = story.acts[index]
    for at in range(index - 1, -1, -1):
        inner = story.acts[at]
        if inner.verb is Verb.RETURN and inner.thing is act.thing and inner.frame.caller is act.frame:
            if not any(part is inner.frame.node for part in ast.walk(act.node)):
                break
            act = inner
    return act


def _copies_as_well(story: Story, captured: Captured, act: Act) -> bool:
    """Whether the function gives a copy on another way: it knows when one is needed."""
    others = (each for each in story.acts if each.verb is Verb.RETURN and each.frame is act.frame and each is not act)
    return any(
        not captured.made(each.thing)
        and any(captured.made(thing) for made in each.thing.made_by for thing in made.family())
        for each in others
    )


def _before(story: Story, captured: Captured, index: int) -> Iterator[int]:
    return (at for at in story.replays(captured) if at < index)


def _named(act: Act) -> str:
    return act.thing.name or act.text


BLIND = frozenset({
    "", "argument", "callable", "get", "getattr", "hasattr", "hash", "id", "is_tensor", "isinstance", "issubclass", "items",
    "iter", "keys", "len", "tree_flatten", "tree_leaves", "tree_structure", "type", "values",
})  # fmt: skip
"""Calls that see that a tensor is there, or what a container holds, not what the tensor holds."""
LIBRARIES = frozenset({"builtins", "math", "numpy", "torch"})
"""What is known to look at values; a function of somebody else may only take a reference."""


def computes(act: Act) -> bool:
    """Whether a read is of the values, and not of the shape only."""
    library, dot, _ = act.name.partition(".")
    name = act.name.rpartition(".")[2]
    if act.name.startswith("torch.ops.") or (dot and library not in LIBRARIES):
        return False
    return name not in BLIND and not name.startswith("new_") and not name.endswith("_like")


def unwaited(story: Story) -> Told:
    """A host buffer that is read while the copy into it may still be running."""
    for captured in story.captures:
        for index, act in story.between(captured.end, len(story.acts), Verb.WRITE):
            if act.name != "copy_" or act.other is None or not captured.made(act.other) or not _is_async(act):
                continue
            for _, later in story.between(index, len(story.acts), Verb.READ, Verb.METHOD, Verb.CALL, Verb.WRITE):
                if _waits(later) or (later.verb is Verb.WRITE and later.thing is act.thing):
                    break
                if later.verb is Verb.READ and later.thing.owner is act.thing.owner and _looks(later):
                    yield region(captured, story.acts), tell(UnwaitedCopy, later, target=later.text)
                    break


def _looks(act: Act) -> bool:
    """Whether Python looks at a host buffer; a copy back to the device is queued behind the one that fills it."""
    return act.name in LOOKS or (act.name != "copy_" and computes(act))


def _is_async(act: Act) -> bool:
    call = act.node if isinstance(act.node, ast.Call) else None
    words = {word.arg: word.value for word in call.keywords} if call is not None else {}
    given = words.get("non_blocking")
    return isinstance(given, ast.Constant) and given.value is True


def _waits(act: Act) -> bool:
    name = act.name if act.verb is Verb.METHOD else act.thing.name
    return "synchronize" in name or (
        act.verb is Verb.METHOD and name in ("query", "item") and act.thing.kind is not Kind.TENSOR
    )


def unset(story: Story) -> Told:
    """A value that is read behind the capture and before the first replay."""
    for captured in story.captures:
        first, lazy = _first_replay(story, captured)
        kept = _first_made(story, captured)
        for act in _used(story, captured, first, lazy):
            store = kept.get(id(act.thing.owner))
            if store is not None:
                yield region(captured, story.acts), tell(OutputUnset, store, target=store.text, is_kept=True)
            elif act.verb is not Verb.LOAD:
                yield region(captured, story.acts), tell(OutputUnset, act, target=act.text)


def _first_replay(story: Story, captured: Captured) -> tuple[int, Frame | None]:
    """The first act behind a capture that may replay, and the call that captures where only later ones replay.

    `if self.graph is None: ... else: self.graph.replay()` replays in every call but the one that captures.
    """
    begin, lazy = story.acts[captured.begin], None
    first = len(story.acts)
    for at in story.replays(captured):
        replay, capture = side_by_side(story.acts[at], begin)
        if not apart(replay, capture):
            first = at
            break
        lazy = lazy if _asks_caller(replay, capture) else capture.frame
    handed = (at for at, act in story.between(captured.end, first, Verb.READ) if _may_replay(act.thing))
    return next(handed, first), lazy


def _used(story: Story, captured: Captured, first: int, lazy: Frame | None) -> Iterator[Act]:
    """What looks at results before there are any; where later calls replay, also what hands them on as if there were."""
    begin, home = story.acts[captured.begin], root(story.acts[captured.begin].frame)
    parts: set[int] = set()
    for index, act in story.between(captured.end, first, Verb.READ, Verb.LOAD, Verb.RETURN):
        if root(act.frame) is not home or story.is_captured(index):
            continue
        holder = act.slot.holder if act.verb is Verb.LOAD and act.slot is not None and lazy else None
        if isinstance(holder, Thing) and (captured.made(holder) or id(holder.owner) in parts):
            parts.add(id(act.thing.owner))
        is_result = captured.made(act.thing) or id(act.thing.owner) in parts
        is_looked_at = act.verb is Verb.READ and (computes(act) or (lazy is not None and act.name == "argument"))
        is_looked_at = is_looked_at or (act.verb is Verb.RETURN and act.frame is lazy)
        here, capture = side_by_side(act, begin)
        if (act.verb is Verb.LOAD or (is_result and is_looked_at)) and not apart(here, capture):
            yield here if lazy is not None and here.frame is lazy else act


def _asks_caller(replay: Act, begin: Act) -> bool:
    """Whether it is an argument that decides between capture and replay: who gives it knows what comes back."""
    body = replay.frame.body
    given = {each.arg for each in walk(body) if isinstance(each, ast.arg)} if body is not None else set()
    both = (replay.node, begin.node)
    around = (each for each in branches(replay.frame.module) if all(stands_in([each], node) for node in both))
    return any(isinstance(part, ast.Name) and part.id in given for each in around for part in walk(each.test))


def _may_replay(thing: Thing) -> bool:
    """Whether something replays a graph when it is called: `bench(graph.replay)`, `bench(lambda: graph.replay())`."""
    if thing.kind is Kind.FUNCTION and thing.function is not None:
        return any(isinstance(each, ast.Call) and last_called(each) == "replay" for each in walk(thing.function))
    return thing.name == "replay" and isinstance(thing.node, ast.Attribute)


def _first_made(story: Story, captured: Captured) -> dict[int, Act]:
    """Tensors that a region makes where there are none yet, by what puts them away for later calls."""
    before = {id(act.node) for _, act in story.between(-1, captured.begin, Verb.BIND, Verb.KEEP)}
    # What stands at the top of a file is met when a function first names it.
    loads = story.between(captured.begin, captured.end, Verb.LOAD)
    shared = {id(act.thing) for _, act in loads if act.slot is not None and _is_top(act.slot.holder)}
    found, begin = {}, story.acts[captured.begin]
    for _, act in story.between(captured.begin, captured.end, Verb.BIND, Verb.KEEP):
        holder = act.other if act.verb is Verb.KEEP and act.name == "entry" else act.slot.holder if act.slot else None
        is_old = isinstance(holder, Thing) and (holder.born < captured.begin or id(holder) in shared)
        if is_old and captured.made(act.thing) and id(act.node) not in before and _is_conditional(act, begin):
            found[id(act.thing.owner)] = act
    return found


def _is_conditional(act: Act, begin: Act) -> bool:
    """Whether an act stands below an `if` inside the region: `if self.table is None: self.table = ...`."""
    around = (each for each in branches(act.frame.module) if stands_in(each.body, act.node))
    return (act.is_maybe and not begin.is_maybe) or any(not stands_in(each.body, begin.node) for each in around)


def _is_top(holder: Scope | Thing) -> bool:
    return isinstance(holder, Scope) and not holder.name and holder.outer is None
