"""Attributes that are taken away, so that the next access makes anew what a graph goes on reading.

self.__dict__.pop("table", None)        # `table` is a cached property, or is made where it is not there
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from graphlint.events import Event
from graphlint.site.acts import Act, Verb
from graphlint.site.construct import constant
from graphlint.site.story import Story, region, tell
from graphlint.site.things import Kind, Scope, Slot, Thing
from graphlint.site.walker import Walker
from graphlint.site_events import CachedTensor
from graphlint.syntax import walk
from graphlint.types import Region

VALUES = frozenset({Kind.TENSOR, Kind.UNKNOWN})
OWN = "__dict__"
"""The dictionary that an object keeps its attributes in; `vars(self)` gives it as well."""


def dropped(story: Story) -> Iterator[tuple[Region, Event]]:
    """Where an attribute is taken away that a graph reads, which is replayed afterwards."""
    for captured in story.captures:
        for index, act in story.between(captured.end, len(story.acts), Verb.DROP):
            read = captured.inputs.get(act.slot) if act.slot is not None else None
            if act.slot is None or read is None or read.kind not in VALUES or story.is_captured(index):
                continue
            if story.next_replay(captured, index) is not None:
                yield region(captured, story.acts), tell(CachedTensor, act, function=act.slot.key, drops=True)


def let_go(story: Story) -> Iterator[tuple[Region, Event]]:
    """Where an attribute that nobody else holds is set to None, and a graph that reads it is replayed without it."""
    for captured in story.captures:
        for index, act in story.between(captured.end, len(story.acts), Verb.BIND):
            read = captured.inputs.get(act.slot) if act.slot is not None and act.thing.kind is Kind.NONE else None
            if act.slot is None or read is None or read.kind is not Kind.TENSOR or not isinstance(act.slot.holder, Thing):
                continue
            replay = story.next_replay(captured, index)
            if replay is None or act.is_maybe or story.is_captured(index) or _is_held(story, index, replay, read):
                continue
            yield region(captured, story.acts), tell(CachedTensor, act, function=act.slot.key, drops=True)


def _is_held(story: Story, index: int, until: int, thing: Thing) -> bool:
    """Whether something else holds a tensor, or the attribute is bound anew before the replay."""
    slot = story.acts[index].slot
    if any(act.slot == slot and act.thing.kind is not Kind.NONE for _, act in story.between(index, until, Verb.BIND)):
        return True
    acts = (act for _, act in story.between(-1, until, Verb.BIND, Verb.KEEP) if act.thing.owner is thing.owner)
    return any(act.slot != slot and not _is_over(act, story.acts[until]) for act in acts)


def _is_over(act: Act, replay: Act) -> bool:
    """Whether a variable belongs to a call that has come back by the time of a replay."""
    is_local = act.slot is not None and isinstance(act.slot.holder, Scope) and act.slot.holder.outer is not None
    return is_local and not act.frame.leads_to(replay.frame)


def drop(walker: Walker, owner: Thing, name: str, node: ast.AST) -> None:
    """Take an attribute away; a cached property is computed again when it is asked for."""
    if _lets_go(walker, owner):
        return
    gone = owner.slots.pop(name, None)
    if gone is not None:
        walker.act(Verb.DROP, node, gone, slot=Slot(owner, name))


def _lets_go(walker: Walker, owner: Thing) -> bool:
    """Whether the function that is walked takes graphs away: behind it the object replays no more."""
    body = walker.frame.body
    deleted = (target for each in walk(body) if isinstance(each, ast.Delete) for target in each.targets) if body else ()
    held = (owner.slots.get(each.attr) for each in deleted if isinstance(each, ast.Attribute))
    return any(part.kind is Kind.GRAPH for each in held if each is not None for part in each.family())


def popped(walker: Walker, node: ast.Call, places: Sequence[Thing]) -> bool:
    """`self.__dict__.pop("table", None)`; whether a call is one of these."""
    name = constant(places[0]) if places else ...
    if not isinstance(node.func, ast.Attribute) or not isinstance(name, str):
        return False
    match node.func.value:
        case ast.Attribute(value=inner, attr=attr) if attr == OWN:
            owner = inner
        case ast.Call(func=ast.Name(id="vars"), args=[inner]):
            owner = inner
        case _:
            return False
    drop(walker, walker.evaluate(owner), name, node)
    return True
