"""Several graphs for several shapes: pools, caches, loops and padding."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from graphlint.events import Event
from graphlint.site.acts import Act, Layer, Verb, text
from graphlint.site.branches import apart, happens_once
from graphlint.site.construct import argument
from graphlint.site.devices import switches
from graphlint.site.fitting import fits, is_constant, is_set_first
from graphlint.site.mixing import dimension, mixes, runs_along
from graphlint.site.spawning import leads_to
from graphlint.site.story import Captured, Story, region, tell
from graphlint.site.things import Kind, Thing
from graphlint.site_events import (
    AscendingBuckets,
    CaptureInLoop,
    PaddingLeft,
    PaddingReturned,
    UnsharedPool,
)
from graphlint.syntax import last_called, spelled, stands_in, walk
from graphlint.types import Confidence, Region

Told = Iterator[tuple[Region, Event]]
LOOPS = (ast.For, ast.AsyncFor, ast.While, ast.ListComp, ast.DictComp, ast.GeneratorExp)


def _loop(act: Act) -> Layer | None:
    return next((layer for layer in act.layers if isinstance(layer.node, LOOPS)), None)


def _second(story: Story) -> Iterator[tuple[Captured, Captured, Act, Layer]]:
    """Pairs of captures that one statement makes in the first and in a later round of a loop."""
    for captured in story.captures:
        act = story.acts[captured.begin]
        loop = _loop(act)
        if loop is None or loop.round == 0:
            continue
        for other in story.captures:
            if other.begin < captured.begin and story.acts[other.begin].node is act.node:
                yield other, captured, act, loop
                break


def pools(story: Story) -> Told:
    """Graphs of a loop that do not share a pool, or share it from the smallest up."""
    for first, second, act, loop in _second(story):
        if first.graph is second.graph or not _are_kept(story, first.graph, second.graph) or happens_once(act):
            continue
        if switches(act, loop) or _is_let_go(story, first.graph, loop):
            continue  # GPUs have no memory in common, nor do graphs that are never there together
        pool = argument(second.capture, "pool", 1)
        source = _iterated(loop.node)
        iterated = "while" if source is None else text(story.module, source)
        if pool is None or (pool.kind is Kind.NONE and not _is_set_elsewhere(story, second)):
            yield region(second, story.acts), tell(UnsharedPool, act, loop=iterated)
        elif source is not None and _ascends(source, loop.thing) and _is_sized(loop.node, act):
            yield region(second, story.acts), tell(AscendingBuckets, act, loop=iterated)


def _is_sized(loop: ast.AST, act: Act) -> bool:
    """Whether what a loop counts is handed to something in it, as a size would be; a comprehension is about its items.

    A number that only picks an item, `layers[i](x)`, is no size where the loop counts from one to the next.
    """
    if not isinstance(loop, ast.For):
        return not act.is_maybe
    names = {each.id for each in walk(loop.target) if isinstance(each, ast.Name)}
    counts = isinstance(loop.iter, ast.Call) and last_called(loop.iter) == "range"
    items = [each.slice for each in walk(loop) if counts and isinstance(each, ast.Subscript)]
    picked = {id(part) for each in items if not _is_sliced(each) for part in walk(each)}
    used = (part for call in walk(loop) if isinstance(call, (ast.Call, ast.Slice)) for part in walk(call))
    return any(isinstance(part, ast.Name) and part.id in names and id(part) not in picked for part in used)


def _is_set_elsewhere(story: Story, captured: Captured) -> bool:
    """Whether what is given as the pool is None on one way and something else on another."""
    given = _pool_given(captured.capture.call)
    name = given.attr if isinstance(given, ast.Attribute) else given.id if isinstance(given, ast.Name) else ""
    bound = [act for act in story.acts if act.verb is Verb.BIND and act.slot is not None and act.slot.key == name]
    return any(act.thing.kind is not Kind.NONE for act in bound)


def _pool_given(call: ast.Call | None) -> ast.expr | None:
    """What a capture is told to take its memory from: `graph(graph, pool)`, `capture_begin(pool)`, or by name."""
    if call is None:
        return None
    place = 0 if isinstance(call.func, ast.Attribute) and call.func.attr == "capture_begin" else 1
    named = next((word.value for word in call.keywords if word.arg == "pool"), None)
    return named if named is not None else call.args[place] if len(call.args) > place else None


def _iterated(loop: ast.AST) -> ast.expr | None:
    """What a loop or a comprehension goes over."""
    match loop:
        case ast.For(iter=source) | ast.AsyncFor(iter=source):
            return source
        case ast.ListComp(generators=[first, *_]) | ast.DictComp(generators=[first, *_]):
            return first.iter
        case ast.GeneratorExp(generators=[first, *_]):
            return first.iter
    return None


def _is_kept(story: Story, graph: Thing) -> bool:
    for act in story.acts:
        if act.verb in (Verb.KEEP, Verb.READ) and graph in act.thing.family():
            return True
        if (
            act.verb is Verb.BIND
            and act.slot is not None
            and isinstance(act.slot.holder, Thing)
            and graph in act.thing.family()
        ):
            return True
    return False


def _are_kept(story: Story, first: Thing, second: Thing) -> bool:
    """Whether two graphs of a loop are there at the same time: one that takes the other's place lets go of its memory."""
    held = [{act.slot for act in story.acts if _holds(act, graph)} for graph in (first, second)]
    replaced = held[0] == held[1] and all(slot is not None and not slot.key.startswith("[") for slot in held[1])
    return _is_kept(story, second) and not (held[1] and replaced and not _is_put_away(story, second))


def _is_let_go(story: Story, graph: Thing, loop: Layer) -> bool:
    """Whether a graph is held by what one round of a loop makes, which nothing older is given: it goes with the round."""
    begin = next(at for at, act in enumerate(story.acts) if any(layer.node is loop.node for layer in act.layers))
    seen, waiting = {id(graph)}, [graph]
    while waiting:
        thing = waiting.pop()
        for act in story.acts:
            if act.verb is Verb.READ and act.thing is thing:
                return False
            holder = _holder(act) if act.verb in (Verb.KEEP, Verb.BIND) and thing in act.thing.family() else None
            if holder is not None and holder.born <= begin:
                return False
            if holder is not None and id(holder) not in seen:
                seen.add(id(holder))
                waiting.append(holder)
    return len(seen) > 1


def _holder(act: Act) -> Thing | None:
    """The object or container into which an act puts something; None for a variable."""
    if act.verb is Verb.KEEP:
        return act.other
    return act.slot.holder if act.slot is not None and isinstance(act.slot.holder, Thing) else None


def _holds(act: Act, graph: Thing) -> bool:
    if act.verb is not Verb.BIND or act.slot is None or not isinstance(act.slot.holder, Thing):
        return False
    return graph in act.thing.family()


def _is_put_away(story: Story, graph: Thing) -> bool:
    return any(act.verb in (Verb.KEEP, Verb.READ) and graph in act.thing.family() for act in story.acts)


def _ascends(node: ast.expr, source: Thing | None) -> bool:
    if isinstance(node, ast.Call):
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name == "range":
            return len(node.args) < 3 or not isinstance(node.args[2], ast.UnaryOp)
        return name == "sorted" and not any(word.arg == "reverse" for word in node.keywords)
    if source is None or source.kind is not Kind.CONTAINER:
        return False
    values = [thing.node.value for thing in source.slots.values() if isinstance(thing.node, ast.Constant)]
    numbers = [value for value in values if isinstance(value, int)]
    return len(numbers) > 1 and len(numbers) == len(source.slots) and numbers == sorted(numbers)


def loops(story: Story) -> Told:
    """A graph that is captured in every round of the loop that replays it, each time with the same work."""
    for _, captured, act, loop in _second(story):
        if _is_kept(story, captured.graph) or (isinstance(loop.node, ast.For) and _is_short(loop.node.iter)):
            continue
        if _is_in_thread(story, captured, loop):
            continue
        replays = [each for each in (story.acts[at] for at in story.replays(captured)) if not apart(each, act)]
        inner = [_loop(replay) for replay in replays if any(layer.node is loop.node for layer in replay.layers)]
        # A graph that a loop in the round replays is worth its capture.
        if inner and all(layer is not None and layer.node is loop.node for layer in inner):
            if not _is_made_anew(story, captured, loop):
                yield region(captured, story.acts), tell(CaptureInLoop, act, loop=text(story.module, act.node))


def _is_in_thread(story: Story, captured: Captured, loop: Layer) -> bool:
    """Whether each round of a loop starts a thread that captures for itself."""
    started = (act for _, act in story.between(-1, captured.begin, Verb.SPAWN))
    own = (act for act in started if any(layer.node is loop.node for layer in act.layers))
    return any(leads_to(act, story.acts[captured.begin].frame) for act in own)


def _is_made_anew(story: Story, captured: Captured, loop: Layer) -> bool:
    """Whether a region calls what this round of the loop has made: each round is about something else."""
    begin = next((at for at, act in enumerate(story.acts) if any(_is_round(each, loop) for each in act.layers)), 0)
    inside = story.acts[captured.begin : captured.end]
    made = {id(act.thing): act.thing for act in inside if begin < act.thing.born < captured.begin}
    called = [made[id(act.thing)] for act in inside if act.verb is Verb.CALL and id(act.thing) in made]
    body = getattr(loop.node, "body", [])
    # A function that stands in the loop is made in every round, but may do the same in all of them.
    own = {id(each) for each in called if each.function is not None and stands_in(body, each.function)}
    return any(each.kind in WORK and (id(each) not in own or made.keys() - own) for each in called)


WORK = (Kind.FUNCTION, Kind.UNKNOWN, Kind.MODULE, Kind.COMPILED)


def _is_round(layer: Layer, loop: Layer) -> bool:
    return layer.node is loop.node and layer.round == loop.round


def _is_short(node: ast.expr) -> bool:
    return isinstance(node, (ast.Tuple, ast.List))


def padding(story: Story) -> Told:
    """An input that is filled in part, and what becomes of the rest."""
    for captured in story.captures:
        for index, act in story.between(captured.end, len(story.acts), Verb.WRITE):
            if not _is_part(act, captured) or story.is_captured(index):
                continue
            replay = next(story.replays(captured, index), None)
            cut = _cut(act)
            if replay is None or fits(story, captured, index, replay, cut.upper if cut is not None else None):
                continue
            if is_set_first(story, captured, index, replay):
                continue
            addresses = _is_address(story, captured, act.thing.owner)
            sure = Confidence.LIKELY if addresses else None
            if not addresses and not _is_marked(story, captured, act, replay):
                sure = mixes(story, captured, act)
            if sure is not None and not _is_cleared(story, captured, index, replay):
                yield region(captured, story.acts), tell(PaddingLeft, act, sure=sure, target=act.text, places=addresses)
            yield from _returned(story, captured, act)


def _is_part(act: Act, captured: Captured) -> bool:
    if not act.is_partial or id(act.thing.owner) not in captured.reads:
        return False
    cut = _cut(act)
    return cut is not None and (cut.lower is None or not is_constant(act))


PLACING = frozenset({
    "index_copy_", "index_add_", "index_fill_", "index_put_", "index_reduce_",
    "scatter_", "scatter_add_", "scatter_reduce_",
})  # fmt: skip


def _is_address(story: Story, captured: Captured, owner: Thing) -> bool:
    """Whether an input says where a region writes: what is left of it makes the region write there again."""
    placed: set[int] = set()
    for _, act in story.between(captured.begin, captured.end, Verb.WRITE):
        targets = act.node.targets if isinstance(act.node, ast.Assign) else ()
        slices = (each.slice for each in targets if isinstance(each, ast.Subscript))
        placed |= {id(part) for each in slices for part in walk(each)}
    for _, act in story.between(captured.begin, captured.end, Verb.READ, Verb.LOAD):
        if act.thing.owner is owner and (id(act.node) in placed or last_called(act.node) in PLACING):
            return True
    return False


def _cut(act: Act) -> ast.Slice | None:
    """The slice with an end that is not fixed through which an act writes."""
    ends = (node for node in _slices(act) if node.upper is not None and not isinstance(node.upper, ast.Constant))
    return next(ends, None)


def _slices(act: Act) -> list[ast.Slice]:
    """The slices through which an act writes; `x.narrow(0, 0, n)` is `x[:n]`, and from elsewhere on it is the rest."""
    found = [node for node in ast.walk(act.node) if isinstance(node, ast.Slice)]
    for node in ast.walk(act.node):
        if isinstance(node, ast.Call) and last_called(node) == "narrow" and len(node.args) == 3:
            start, length = node.args[1:]
            is_first = isinstance(start, ast.Constant) and start.value == 0
            found.append(ast.Slice(None, length) if is_first else ast.Slice(start, None))
    return found


def _is_cleared(story: Story, captured: Captured, index: int, replay: int) -> bool:
    filled = story.acts[index]
    before = max((at for at in story.replays(captured) if at < index), default=captured.end)
    for at, act in story.between(before, replay, Verb.WRITE):
        is_rest = not act.is_partial or _rest(act) or _follows(act, filled)
        if act.thing.owner is filled.thing.owner and at != index and is_rest:
            return True
    return False


def _is_marked(story: Story, captured: Captured, filled: Act, replay: int) -> bool:
    """Whether another input tells which rows count: before the replay, it is set to a constant in what is left of it.

    Or in what is filled, `mask[:n] = 1`: then it is that one of which something is left.
    """
    before = max((at for at in story.replays(captured) if at < replay), default=captured.end)
    return any(
        is_constant(act)
        and act.thing.owner is not filled.thing.owner
        and any(id(act.thing.owner) in each.reads for each in story.captures)
        and (not act.is_partial or _rest(act) or _ends(act) == _ends(filled))
        for _, act in story.between(before, replay, Verb.WRITE)
    )


def _rest(act: Act) -> bool:
    slices = _slices(act)
    return any(node.lower is not None and node.upper is None for node in slices)


def _follows(act: Act, filled: Act) -> bool:
    """Whether an act begins where another ends: `x[n:size].zero_()` behind `x[:n].copy_(batch)`."""
    end, slices = _ends(filled), _slices(act)
    return end is not None and any(node.lower is not None and ast.dump(node.lower) == end for node in slices)


def _ends(act: Act) -> str | None:
    """Up to where an act fills."""
    cut = _cut(act)
    return None if cut is None or cut.upper is None else ast.dump(cut.upper)


def _returned(story: Story, captured: Captured, filled: Act) -> Told:
    for _, act in story.between(captured.end, len(story.acts), Verb.RETURN):
        if (
            act.frame is filled.frame
            and _is_result(captured, act.thing)
            and not _is_sliced(act.node)
            and not _is_cut_out(captured, act.thing)
            and not _is_number(act.node)
            and not _is_reduced(captured, act.thing, dimension(filled.node))
        ):
            yield region(captured, story.acts), tell(PaddingReturned, act, target=act.text)


def _is_result(captured: Captured, thing: Thing) -> bool:
    """A tensor of the graph, or a plain copy of one."""
    return captured.made(thing) or any(captured.made(each) for each in thing.made_by if thing.born > captured.end)


def _is_cut_out(captured: Captured, thing: Thing) -> bool:
    """Whether a tensor is, or was copied from, a part that was taken out of the result behind the capture."""
    views: list[Thing | None] = [thing, *thing.made_by]
    while views:
        view = views.pop()
        if view is None or view.born <= captured.end:
            continue
        if isinstance(view.node, ast.Subscript) and _is_sliced(view.node.slice):
            return True
        views.append(view.base)
    return False


def _is_reduced(captured: Captured, thing: Thing, dim: int) -> bool:
    """Whether a result, or what a copy was made of, has no rows of the bucket: the region took them together."""
    for each in (thing, *thing.made_by):
        if captured.made(each) and any(_reduces(part, each, dim) for part in _operands(each.node)):
            return True
    return False


def _operands(node: ast.AST | None) -> Iterator[ast.AST]:
    """What is computed with: `a` and `b` of `a / b`."""
    if isinstance(node, ast.BinOp):
        yield from _operands(node.left)
        yield from _operands(node.right)
    elif node is not None:
        yield node


def _reduces(node: ast.AST, made: Thing, dim: int) -> bool:
    if not isinstance(node, ast.Call) or last_called(node) not in REDUCING:
        return False
    return runs_along(node, not (made.name or spelled(node.func)).startswith("torch."), dim)


REDUCING = frozenset({
    "all", "amax", "amin", "any", "argmax", "argmin", "logsumexp", "max", "mean", "median", "min", "norm", "prod", "std",
    "sum", "var",
})  # fmt: skip


def _is_number(node: ast.AST) -> bool:
    """Whether what is returned is one number of the host."""
    calls = (each for each in ast.walk(node) if isinstance(each, ast.Call))
    return any(last_called(each) in ("item", "float", "int", "bool") for each in calls)


def _is_sliced(node: ast.AST) -> bool:
    return any(isinstance(each, ast.Slice) or last_called(each) == "narrow" for each in ast.walk(node))
