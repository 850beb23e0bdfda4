"""Do new data reach the tensors that a graph reads?"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping

from graphlint.captors import class_prefix
from graphlint.events import Event
from graphlint.record import NamedTuple
from graphlint.site.acts import Act, Frame, Verb
from graphlint.site.branches import fills, moves_on, regrows
from graphlint.site.callers import handed_on, is_as_captured
from graphlint.site.counters import numbered
from graphlint.site.keyed import is_key
from graphlint.site.own_argument import passed_on
from graphlint.site.put_away import is_as_good, is_record, only_fills
from graphlint.site.replaced import is_fallback, is_given, replaced
from graphlint.site.story import Captured, Story, region, tell
from graphlint.site.taken import is_taken
from graphlint.site.things import STATE, Kind, Scope, Slot, Thing
from graphlint.site_events import EntryRebound, InputDies, InputNotRefreshed, InputRebound, RefreshMissesInput
from graphlint.syntax import last, last_called, receiver_name, stored, walk
from graphlint.types import Region

Told = Iterator[tuple[Region, Event]]
GROUPS = ("torch.distributed.new_group", "torch.distributed.new_subgroups")
"""Calls whose results torch keeps until the process group is destroyed."""

HOST = (Kind.NUMBER, Kind.CONSTANT)
"""Kinds of values that Python computes with."""


def rebound(story: Story) -> Told:
    """A slot that a region read is bound to something else before a replay."""
    for captured in story.captures:
        called = {id(act.thing) for act in story.acts[captured.begin : captured.end] if act.verb is Verb.CALL}
        held = {id(thing) for thing in captured.inputs.values() if thing.kind is Kind.TENSOR or _is_copy(thing)}
        put: set[int] = set()
        for index, act in story.between(captured.end, len(story.acts), Verb.BIND):
            # A caller's name for what the region read is as good as the region's own.
            before = _before(captured, act.slot) or (act.other if id(act.other) in held and _is_named(act) else None)
            before = before or replaced(story, captured, index, act)
            if before is None or id(before) in called or id(act.thing) in put or only_fills(story, captured, before):
                continue
            if before.kind not in STATE and not is_record(story, captured, index, before, act.thing):
                continue
            is_chosen = before is act.thing and _chooses(story, captured, act)
            if before is act.thing and not is_chosen:
                continue
            if act.is_maybe and not regrows(act) and not is_given(act) and not (_is_number(before, act) and moves_on(act)):
                continue
            if not is_chosen and (_moves_on(story, act) or _is_put_back(story, captured, act)):
                continue
            if (
                not story.is_captured(index)
                and _is_lost(story, captured, index, act, before)
                and not _stays(story, captured, index)
            ):
                host = act.thing.kind in HOST or (before.kind in HOST and act.thing.kind is not Kind.TENSOR)
                if (host and is_key(story, captured, act)) or is_fallback(story, act):
                    continue
                name, replay = passed_on(story, captured, act, before)
                if name:
                    yield region(captured, story.acts), tell(InputNotRefreshed, story.acts[replay], source=name)
                    continue
                handed = handed_on(story, captured, index, act)
                if handed is not None:
                    yield region(captured, story.acts), tell(InputNotRefreshed, handed[0], source=handed[1])
                    continue
                put |= {id(act.thing)} if act.thing.kind is Kind.INSTANCE else set()
                found = tell(InputRebound, act, target=written(act), place=_place(act.slot), is_host=host)
                yield region(captured, story.acts), found


def _stays(story: Story, captured: Captured, index: int) -> bool:
    """Whether an act only fills what is missing, and nothing has emptied it since the capture."""
    act = story.acts[index]
    emptied = (each for _, each in story.between(captured.end, index, Verb.BIND) if each.thing.kind is Kind.NONE)
    return fills(act) and not any(each.slot == act.slot and not each.is_maybe for each in emptied)


def _chooses(story: Story, captured: Captured, act: Act) -> bool:
    """Whether the only graph there is reads what is bound, an entry by a variable: `self.active = self.adapters[name]`."""
    value = act.node.value if isinstance(act.node, ast.Assign) else None
    is_entry = isinstance(value, ast.Subscript) and isinstance(value.slice, (ast.Name, ast.Attribute))
    if not is_entry or act.slot is None or not isinstance(act.slot.holder, Thing) or len(story.captures) > 1:
        return False
    looped = any(isinstance(layer.node, (ast.For, ast.While)) for layer in story.acts[captured.begin].layers)
    return not looped and captured.graph not in act.thing.family()


def _is_named(act: Act) -> bool:
    return act.slot is not None and bool(act.slot.key.strip("_"))


def _is_number(before: Thing, act: Act) -> bool:
    return before.kind in HOST and act.thing.kind in HOST


def _is_copy(thing: Thing) -> bool:
    """Whether something unknown is the copy of a tensor: `x.clone()` of an argument."""
    return thing.kind is Kind.UNKNOWN and thing.node is not None and last_called(thing.node) == "clone"


def _is_put_back(story: Story, captured: Captured, act: Act) -> bool:
    """Whether a flag gets the value again that it had before something set it for the capture."""
    if act.thing.kind is Kind.TENSOR:
        return False
    set_before = story.between(-1, captured.end, Verb.BIND)
    return any(each.slot == act.slot and each.other is act.thing for _, each in set_before)


def _moves_on(story: Story, act: Act) -> bool:
    """Whether a loop over graphs with their inputs and results, or over what each was captured for, binds the next one."""
    if any(_each_has_its_own(story, captured, act) for captured in story.captures):
        return True
    for other in story.captures:
        if any(act.thing is thing for thing in other.inputs.values()):
            return True
        if isinstance(act.node, (ast.Tuple, ast.List)) and other.made(act.thing):
            return True
    return False


def _each_has_its_own(story: Story, captured: Captured, act: Act) -> bool:
    """Whether a loop captured for every value of a variable, and what comes behind it picks one of these values."""
    loops = [layer.node for layer in story.acts[captured.begin].layers if isinstance(layer.node, ast.For)]
    names = {last(each) for loop in loops for each in stored(loop)}
    if act.slot is None or act.slot.key not in names:
        return False
    return not any(layer.node in loops for layer in act.layers)


def _before(captured: Captured, slot: Slot | None) -> Thing | None:
    """What a region read from a slot; any item will do where only that is known."""
    if slot is None:
        return None
    known = captured.inputs.get(slot)
    if known is not None or not slot.key.startswith("["):
        return known
    if slot.key == "[*]":
        items = (
            thing for each, thing in captured.inputs.items() if each.holder is slot.holder and each.key.startswith("[")
        )
        return next(items, None)
    return captured.inputs.get(Slot(slot.holder, "[*]"))


def _is_lost(story: Story, captured: Captured, index: int, act: Act, before: Thing) -> bool:
    replay = story.next_replay(captured, index)
    if (
        replay is None
        or act.thing.kind in (Kind.NONE, Kind.FUNCTION, Kind.CLASS)
        or _is_over(act, story.acts[replay].frame)
    ):
        return False
    if root(act.frame) is not root(story.acts[replay].frame) and not act.thing.owner.is_argument:
        return False
    # What was written for an earlier replay is used up.
    since = max((at for at in story.replays(captured) if at < index), default=captured.end)
    for at, later in story.between(since, replay, Verb.WRITE):
        is_filled = later.thing.owner is before.owner and (at > index or later.frame is act.frame)
        if is_filled or (later.other is act.thing and id(later.thing.owner) in captured.reads):
            return False
        if _fills_up_to(captured, later, act.slot):
            return False
    later_on = (later for _, later in story.between(index, replay, Verb.BIND) if later.slot == act.slot)
    return not any(is_as_good(captured, before, later.thing) for later in later_on)


def _fills_up_to(captured: Captured, write: Act, slot: Slot | None) -> bool:
    """`static[:n].copy_(batch)`: the number says how much of an input is filled, and not what the graph does with it."""
    if slot is None or id(write.thing.owner) not in captured.reads:
        return False
    slices = (each for each in walk(write.node) if isinstance(each, ast.Slice) and each.lower is None)
    return any(last(each.upper) == slot.key for each in slices if each.upper is not None)


def _is_over(act: Act, frame: Frame) -> bool:
    """Whether a variable belongs to a call that is over when the graph is replayed."""
    if act.slot is None or not isinstance(act.slot.holder, Scope) or act.slot.holder.name != act.frame.function:
        return False
    around: Frame | None = frame
    while around is not None and around is not act.frame:
        around = around.caller
    return around is None and act.frame.caller is not None


def _place(slot: Slot | None) -> str:
    if slot is None or isinstance(slot.holder, Scope):
        return "name"
    return "entry" if slot.key.startswith("[") else "attribute"


def written(act: Act) -> str:
    """What an act binds, as its statement spells it."""
    node = act.node
    if isinstance(node, ast.Assign) and node.targets:
        key = act.slot.key if act.slot is not None else ""
        return ast.unparse(next((each for each in stored(node) if last(each) == key), node.targets[0]))
    if isinstance(node, ast.Call) and last(node.func) == "setattr" and node.args and act.slot is not None:
        return f"{ast.unparse(node.args[0])}.{act.slot.key}"
    return ast.unparse(node.target) if isinstance(node, (ast.AnnAssign, ast.AugAssign)) else act.text


def root(frame: Frame) -> Frame:
    while frame.caller is not None:
        frame = frame.caller
    return frame


def entries(story: Story) -> Told:
    """A region that replaces an entry it reads; and the data that then goes to the replacement."""
    for captured in story.captures:
        replaced = dict(_replaced(story, captured))
        for act in replaced.values():
            yield region(captured, story.acts), tell(EntryRebound, act, target=written(act))
        for index, act in story.between(captured.end, len(story.acts), Verb.WRITE) if replaced else ():
            if _misses(act, replaced) and story.next_replay(captured, index) is not None:
                yield region(captured, story.acts), tell(RefreshMissesInput, act, target=act.text)


def _replaced(story: Story, captured: Captured) -> Iterator[tuple[Slot, Act]]:
    """Entries, and attributes that the block itself binds; attributes bound in a callee are the callee's own fault."""
    loaded: set[Slot] = set()
    for act in story.acts[captured.begin : captured.end]:
        if act.slot is None or isinstance(act.slot.holder, Scope):
            continue
        if not act.slot.key.startswith("[") and act.frame is not story.acts[captured.begin].frame:
            continue
        if act.verb is Verb.LOAD and act.slot in captured.inputs:
            loaded.add(act.slot)
        elif act.verb is Verb.BIND and act.slot in loaded and _replaces(captured, act):
            yield act.slot, act


def _replaces(captured: Captured, act: Act) -> bool:
    """Whether an act binds what the region made; of a number that is counted on, another rule tells."""
    if not captured.made(act.thing) or act.is_maybe or act.thing.kind is Kind.NUMBER:
        return False
    return act.thing.kind is Kind.TENSOR or act.slot is None or act.slot.key not in numbered(act.frame.module)


def _misses(act: Act, replaced: dict[Slot, Act]) -> bool:
    """Whether a write goes to what took the place of an input."""
    return any(
        act.thing is bound.thing or (act.thing.kind is Kind.ANY_ITEM and act.thing.base is slot.holder)
        for slot, bound in replaced.items()
    )


def unrefreshed(story: Story) -> Told:
    """A loop or a function that is given new data, replays, and writes none of them anywhere."""
    touched = _touched(story)
    for captured in story.captures:
        for index in story.replays(captured):
            act = story.acts[index]
            if act.thing is not captured.graph:
                continue
            for name in sorted(_ignored(story, captured, act, touched)):
                yield region(captured, story.acts), tell(InputNotRefreshed, act, source=name)


def _ignored(story: Story, captured: Captured, replay: Act, touched: Touched) -> set[str]:
    loop = next((layer for layer in replay.layers if isinstance(layer.node, (ast.For, ast.AsyncFor))), None)
    if loop is not None and loop.node not in [layer.node for layer in story.acts[captured.begin].layers]:
        assert isinstance(loop.node, (ast.For, ast.AsyncFor))
        is_data = loop.thing is not None and loop.thing.kind is not Kind.NUMBER and not _is_range(loop.node.iter)
        if is_data and loop.thing is not None and captured.graph not in loop.thing.family():
            inside = [act for act in story.acts[captured.end :] if loop.node in [layer.node for layer in act.layers]]
            return unused_targets(captured, _of_data(loop.node), inside)
    if not replay.frame.leads_to(story.acts[captured.begin].frame):
        return _unused_arguments(story, captured, replay.frame, touched)
    return set()


def _of_data(loop: ast.For | ast.AsyncFor) -> ast.expr:
    """What a loop gives data to: the batch of `for n, batch in enumerate(batches)`, `in batches.items()`, and the like."""
    match loop:
        case ast.For(target=ast.Tuple(elts=[_, data]), iter=ast.Call(func=ast.Attribute(attr="items"), args=[])):
            return data
        case ast.For(target=ast.Tuple(elts=[_, data]), iter=ast.Call(func=ast.Name(id="enumerate"))):
            return data
        case ast.For(target=ast.Tuple(elts=elts), iter=ast.Call(func=ast.Name(id="zip"), args=args)):
            given = [each for each, source in zip(elts, args) if not _is_range(source)]
            return given[0] if len(given) == 1 else ast.Tuple(given, ast.Store())
    return loop.target


def _is_range(node: ast.expr) -> bool:
    """Whether a loop only counts, also behind something that shows how far it is: `tqdm(range(n))`."""
    if not isinstance(node, ast.Call):
        return False
    called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    given = node.args if called == "zip" else node.args[:1]
    return called in COUNTING or (bool(given) and all(map(_is_range, given)))


COUNTING = frozenset({"range", "trange", "count"})
"""Calls that give numbers: Python's, those of progress bars, and what counts without end."""


def unused_targets(captured: Captured, target: ast.expr, inside: list[Act]) -> set[str]:
    """The variables of a loop that bring data which no input of a graph gets."""
    names = {node.id for node in ast.walk(target) if isinstance(node, ast.Name) and not node.id.startswith("_")}
    binds = [(act.slot, act.thing) for act in inside if act.verb is Verb.BIND and act.slot is not None]
    if {slot for slot, _ in binds} & set(captured.inputs) or any(thing is captured.graph for _, thing in binds):
        return set()
    written = [act for act in inside if act.verb is Verb.WRITE and id(act.thing.owner) in captured.reads]
    if not written:
        bound_to = {
            id(act.thing) for act in inside if act.verb is Verb.BIND and act.slot is not None and act.slot.key in names
        }
        told = names and _reads_data(captured) and not is_taken(captured, bound_to, inside)
        return {ast.unparse(target)} if told else set()
    loaded = {act.slot.key for act in inside if act.verb is Verb.LOAD and act.slot is not None}
    # What only bounds a slice is no load of its own.
    loaded |= {node.id for act in written for node in walk(act.node) if isinstance(node, ast.Name)}
    return names - loaded if len(names) > 1 and not isinstance(target, ast.Name) else set()


def _reads_data(captured: Captured) -> bool:
    return any(thing.kind in (Kind.TENSOR, Kind.UNKNOWN) for slot, thing in captured.inputs.items())


class Touched(NamedTuple):
    """By call: the variables that its function looks at, and the tensors that are written in it and what it calls."""

    loaded: Mapping[Frame, set[str]]
    written: Mapping[Frame, set[int]]


def _touched(story: Story) -> Touched:
    loaded: defaultdict[Frame, set[str]] = defaultdict(set)
    written: defaultdict[Frame, set[int]] = defaultdict(set)
    for act in story.acts if story.captures else ():
        if act.verb is Verb.LOAD and act.slot is not None:
            loaded[act.frame].add(act.slot.key)
        frame = act.frame if act.verb is Verb.WRITE else None
        while frame is not None:
            written[frame].add(id(act.thing.owner))
            frame = frame.caller
    return Touched(loaded, written)


def _unused_arguments(story: Story, captured: Captured, frame: Frame, touched: Touched) -> set[str]:
    """Arguments that are never looked at: none of them at all, or one that an input is called after."""
    written = touched.written[frame]
    if not written and _reads_data(captured) and frame.body is not story.acts[captured.begin].frame.body:
        every = {name for name in _parameters(story, frame) if not name.startswith("_")}
        return every if every.isdisjoint(touched.loaded[frame]) else set()
    given = _parameters(story, frame) - touched.loaded[frame] if written else set()
    inputs = [(slot.key, thing) for slot, thing in captured.inputs.items() if given and id(thing.owner) not in written]
    unused = {name for name in given if any(_is_for(key, thing, name) for key, thing in inputs)}
    return {name for name in unused if not is_as_captured(story, captured, frame, name)}


def _is_for(key: str, thing: Thing, name: str) -> bool:
    """Whether what is kept under a key takes an argument of a name: `static_mask` takes `mask`."""
    return name in (key if thing.kind is Kind.TENSOR else key.split("_") if thing.kind is Kind.UNKNOWN else ())


def _parameters(story: Story, frame: Frame) -> set[str]:
    """What a function of the story's own file is given, apart from the object of a method."""
    node = frame.body
    if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) or frame.module is not story.module:
        return set()
    own = receiver_name(node) if class_prefix(frame.module, node) else ""
    rest = [each for each in (node.args.vararg, node.args.kwarg) if each is not None]
    return {each.arg for each in [*node.args.args, *node.args.kwonlyargs, *rest]} - {own}


def dying(story: Story) -> Told:
    """A function that gives its graph away and keeps an input to itself."""
    for captured in story.captures:
        frame = story.acts[captured.begin].frame
        for _, act in story.between(captured.end, len(story.acts), Verb.RETURN):
            if act.frame is not frame or captured.graph not in act.thing.family():
                continue
            kept = {id(thing.owner) for thing in act.thing.family()} | _held(story)
            for slot, thing in captured.inputs.items():
                if _is_own(slot, thing, frame) and id(thing.owner) not in kept:
                    yield region(captured, story.acts), tell(InputDies, act, target=slot.key, graph=act.text)


def _held(story: Story) -> set[int]:
    """Things that something else than a variable holds."""
    found: set[int] = set()
    for act in story.acts:
        if act.verb is Verb.KEEP or (act.verb is Verb.BIND and act.slot is not None and isinstance(act.slot.holder, Thing)):
            found |= {id(thing.owner) for thing in act.thing.family()}
    return found


def _is_own(slot: Slot, thing: Thing, frame: Frame) -> bool:
    local = isinstance(slot.holder, Scope) and slot.holder.name == frame.function and slot.holder.outer is not None
    made_here = not thing.owner.is_argument and thing.born > slot.holder.born
    return local and thing.kind is Kind.TENSOR and made_here and not thing.name.startswith(GROUPS)
