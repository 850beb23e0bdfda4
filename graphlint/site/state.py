"""State that outlives a region: remembered results, and attributes that grow."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from graphlint.events import Event
from graphlint.modules import once_a_module
from graphlint.project import Module
from graphlint.site.acts import Act, Verb
from graphlint.site.inputs import written
from graphlint.site.put_away import container, only_fills
from graphlint.site.story import Captured, Story, region, tell
from graphlint.site.things import Kind, Thing
from graphlint.site_events import CachedTensor, GrowingState
from graphlint.syntax import is_tail, nested, spelled, stands_in, stored, walk
from graphlint.types import Confidence, Region

Told = Iterator[tuple[Region, Event]]
SMALL = 16
"""Entries of a cache that a service with a few shapes can be expected to fill."""


def cached(story: Story) -> Told:
    """A function whose bounded cache owns a tensor that the region reads."""
    for captured in story.captures:
        for _, act in story.between(captured.begin, captured.end, Verb.CACHED):
            bound = _bound(act)
            made = _made(story, captured, act) if bound is not None and _is_placed(act) else None
            if made is not None and bound is not None:
                sure = Confidence.LIKELY if bound <= SMALL else Confidence.POSSIBLE
                yield region(captured, story.acts), tell(CachedTensor, made, sure=sure, function=made.frame.function)
        stores = (act for _, act in story.between(captured.begin, captured.end, Verb.BIND, Verb.KEEP))
        for act in (*(act for act in stores if _is_stored(act, captured)), *_filled_before(story, captured)):
            drop = _dropped(act) if act.thing.kind is Kind.TENSOR else None
            held = container(act) if drop is not None else None
            if drop is not None and (held is None or not only_fills(story, captured, held)):
                told = tell(CachedTensor, act, at=drop, function=act.frame.function, drops=True)
                yield region(captured, story.acts), told


def _filled_before(story: Story, captured: Captured) -> Iterator[Act]:
    """Where the warm-up stored what the region finds, in a function of the region that empties the dictionary itself."""
    bodies = {act.frame.body for act in story.acts[captured.begin : captured.end]}
    for _, act in story.between(-1, captured.begin, Verb.BIND):
        if act.slot is None or not act.slot.key.startswith("[") or id(act.thing.owner) not in captured.reads:
            continue
        body = act.frame.body if act.frame.body in bodies else None
        if isinstance(body, (ast.FunctionDef, ast.AsyncFunctionDef)) and isinstance(act.slot.holder, Thing):
            drop = _dropped(act)
            if drop is not None and stands_in(body.body, drop):
                yield act


def _is_stored(act: Act, captured: Captured) -> bool:
    """Whether an act puts something into a container that was there before the region."""
    if act.verb is Verb.KEEP:
        return act.name == "entry" and act.other is not None and act.other.born < captured.begin
    return act.slot is not None and act.slot.key.startswith("[") and _outlives(act, captured)


DROPPING = frozenset({"clear", "pop", "popitem"})


def _dropped(act: Act) -> ast.AST | None:
    """Where the file of an act that stores an entry takes entries out of the same dictionary, first in its function."""
    targets = act.node.targets if isinstance(act.node, ast.Assign) else ()
    stored_in = [spelled(each.value) for each in targets if isinstance(each, ast.Subscript)]
    drops = [drop for held in stored_in for drop in _dropping(act.frame.module).get(held, ())]
    body = act.frame.body
    inner = body.body if isinstance(body, (ast.FunctionDef, ast.AsyncFunctionDef)) else []
    return min(drops, key=lambda each: not stands_in(inner, each), default=None)


@once_a_module
def _dropping(module: Module) -> dict[str, list[ast.AST]]:
    """Where a file takes entries out of containers, by how these are spelled."""
    found: dict[str, list[ast.AST]] = {}
    for node in walk(module.source.tree):
        for held in _emptied(node):
            found.setdefault(spelled(held), []).append(node)
    return found


def _emptied(node: ast.AST) -> list[ast.expr]:
    match node:
        case ast.Call(func=ast.Attribute(value=held, attr=verb)) if verb in DROPPING:
            return [held]
        case ast.Delete(targets=targets):
            return [each.value for each in targets if isinstance(each, ast.Subscript)]
    return []


def _bound(act: Act) -> int | None:
    """How many results are kept; None when all are."""
    if act.thing.name == "functools.cache":
        return None
    size: ast.expr | None = None
    if act.call is not None:
        size = next((word.value for word in act.call.keywords if word.arg == "maxsize"), None)
        size = size or (act.call.args[0] if act.call.args else None)
    if size is None:
        return 128
    known = size.value if isinstance(size, ast.Constant) else None
    return known if isinstance(known, int) else None


def _is_placed(act: Act) -> bool:
    """Whether a function says on which device its tensor is; without a word of it the tensor is on the host."""
    body = act.thing.function
    words = ast.unparse(body) if body is not None else ""
    return any(word in words for word in ("device", ".cuda(", ".to("))


def _made(story: Story, captured: Captured, act: Act) -> Act | None:
    for _, each in story.between(captured.begin, captured.end, Verb.RETURN):
        if each.frame.node is act.node and each.thing.kind is Kind.TENSOR:
            return each
    return None


def growing(story: Story) -> Told:
    """An attribute that is concatenated with something and bound to the result."""
    for captured in story.captures:
        grown = list(story.between(captured.begin, captured.end, Verb.GROW))
        bound = list(story.between(captured.begin, captured.end, Verb.BIND))
        for at, act in grown:
            found = next((each for _, each in bound if _closes(each, act) and _outlives(each, captured)), None)
            if found is not None and not _is_begun(found, captured, [each for index, each in bound if index < at]):
                yield region(captured, story.acts), tell(GrowingState, act, target=written(found))


def _is_begun(bind: Act, captured: Captured, before: list[Act]) -> bool:
    """Whether a region puts something else into a slot before it reads it: every call begins anew."""
    return bind.slot not in captured.inputs and any(each.slot == bind.slot for each in before)


def _closes(bind: Act, grow: Act) -> bool:
    """Whether a result of `cat` ends up in the very slot that one of its parts came from."""
    if bind.slot is None or not isinstance(bind.slot.holder, Thing):
        return False
    parts = _parts(bind.thing)
    cut = parts[0] if len(parts) == 1 and parts[0].node is not None and is_tail(parts[0].node) else None
    # A window that is not full yet is longer with every call.
    fills = cut is not None and _begins_empty(bind.slot.holder, bind.slot.key)
    if fills and cut is not None and cut.base is not None:
        parts = _parts(cut.base)
    return any(grow.thing is part for part in parts) and _comes_from(grow.thing, bind.other, fills)


def _begins_empty(holder: Thing, attr: str) -> bool:
    """Whether the constructor of an object leaves None in an attribute."""
    init = holder.decl.members.get("__init__", [None])[-1] if holder.decl is not None else None
    found = (
        each for each in nested(init.body if isinstance(init, ast.FunctionDef) else []) if isinstance(each, ast.Assign)
    )
    set_ = [each.value for each in found if any(isinstance(to, ast.Attribute) and to.attr == attr for to in stored(each))]
    return len(set_) == 1 and isinstance(set_[0], ast.Constant) and set_[0].value is None


def _outlives(bind: Act, captured: Captured) -> bool:
    """Whether what holds the slot was there before the call: an argument or a copy is another one in the next call."""
    return bind.slot is not None and bind.slot.holder.born < captured.begin


def _parts(thing: Thing) -> list[Thing]:
    """A thing without the views that keep all of it, or what a container holds; a cut is a thing of its own."""
    parts = thing.family() if thing.kind is Kind.CONTAINER else [thing]
    return [_whole(part) for part in parts]


def _whole(thing: Thing) -> Thing:
    while thing.base is not None and not isinstance(thing.node, ast.Subscript):
        thing = thing.base
    return thing


def _comes_from(made: Thing, before: Thing | None, fills: bool) -> bool:
    # A list that is joined is not longer for it.
    if before is None or (before.kind is Kind.CONTAINER and any(part is before for part in made.made_by)):
        return False
    held = {id(thing) for thing in before.family()}
    waiting, seen = list(made.made_by), set[int]()
    while waiting:
        thing = waiting.pop()
        # With its first rows left out, it is a window, and no longer than before once it is full.
        if id(thing) in seen or (not fills and thing.node is not None and is_tail(thing.node)):
            continue
        seen.add(id(thing))
        if id(thing) in held or id(thing.owner) in held:
            return True
        waiting += [*thing.slots.values(), *([thing.base] if thing.base is not None else [])]
    return False
