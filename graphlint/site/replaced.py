"""Attributes and entries of which a graph reads what they hold: a record, or a dictionary of tensors, that is replaced.

self.metadata[n] = Metadata(lengths, pages)
if "adapter" in inputs:
    self.adapter = inputs["adapter"]
"""

from __future__ import annotations

import ast

from graphlint.site.acts import Act, Verb
from graphlint.site.branches import apart, lets_go
from graphlint.site.story import Captured, Story
from graphlint.site.things import Kind, Thing
from graphlint.syntax import stands_in, walk

HOLDERS = (Kind.INSTANCE, Kind.CONTAINER)
OTHERS = (Kind.CONTAINER, Kind.ANY_ITEM, Kind.UNKNOWN)


def replaced(story: Story, captured: Captured, index: int, act: Act) -> Thing | None:
    """What an act takes out of an attribute or entry, if the graph reads tensors that it holds and goes on reading them."""
    before, slot = act.other, act.slot
    if before is None or slot is None or not isinstance(slot.holder, Thing):
        return None
    if before.kind is Kind.TENSOR and id(before) in captured.reads:
        return before  # something was bound to it before the capture: `partial(step, table=self.table)`
    if before.kind not in HOLDERS:
        return None
    is_like = act.thing.decl is before.decl if before.kind is Kind.INSTANCE else act.thing.kind in OTHERS
    if not is_like or act.thing is before or captured.graph in before.family():
        return None
    read = {id(thing.owner) for each, thing in captured.inputs.items() if each.holder is before and _is_data(thing)}
    if not read or _is_refilled(story, captured, index, read):
        return None
    return before


def _is_data(thing: Thing) -> bool:
    return thing.kind is Kind.TENSOR or (thing.kind is Kind.UNKNOWN and not thing.is_guess)


def _is_refilled(story: Story, captured: Captured, index: int, read: set[int]) -> bool:
    """Whether the tensors of the capture get data as well before the next replay."""
    replay = story.next_replay(captured, index)
    return replay is None or any(id(act.thing.owner) in read for _, act in story.between(index, replay, Verb.WRITE))


def is_fallback(story: Story, act: Act) -> bool:
    """Whether an act binds what could not be copied into what was there: `old.copy_(new)` on the other side of the `if`."""
    return act.other is not None and any(
        each.verb is Verb.WRITE and each.frame is act.frame and each.thing.owner is act.other.owner and apart(each, act)
        for each in story.acts
    )


def is_given(act: Act) -> bool:
    """Whether an act binds what its function was given, under conditions on what it was given: it does so where it is."""
    body = act.frame.body
    if not isinstance(body, (ast.FunctionDef, ast.AsyncFunctionDef)) or not isinstance(act.node, ast.Assign):
        return False
    given = _root(act.node.value)
    if given not in {each.arg for each in (*body.args.posonlyargs, *body.args.args, *body.args.kwonlyargs)}:
        return False
    around = [each for each in walk(body) if isinstance(each, ast.If) and stands_in(each.body, act.node)]
    return bool(around) and all(_names(each.test) == {given} and not lets_go(each) for each in around)


def _root(value: ast.expr) -> str:
    """The name of which a value is a part, or what a method of it gives: `inputs["mask"].to(device)`."""
    match value:
        case ast.Name(id=name):
            return name
        case ast.Subscript(value=inner) | ast.Attribute(value=inner) | ast.Call(func=ast.Attribute(value=inner)):
            return _root(inner)
    return ""


def _names(node: ast.expr) -> set[str]:
    return {each.id for each in walk(node) if isinstance(each, ast.Name)}
