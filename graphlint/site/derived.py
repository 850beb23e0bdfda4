"""Tensors that were made from others before the capture, which a graph reads and nothing makes again."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from graphlint.events import Event
from graphlint.site.acts import Act, Verb, outward
from graphlint.site.story import Captured, Story, region, tell
from graphlint.site.things import Kind, Thing
from graphlint.site_events import DerivedInput
from graphlint.syntax import walk
from graphlint.types import Region

MOST_SOURCES = 40
VALUES = (Kind.TENSOR, Kind.UNKNOWN)
EMPTY = ("_like", "new_zeros", "new_ones", "new_empty", "new_full")
"""What takes of a tensor its shape and type only."""


def derived(story: Story) -> Iterator[tuple[Region, Event]]:
    """New data for what a tensor was made from that the graph reads."""
    for captured in story.captures:
        # What another region makes, its own replays make again.
        read = [thing for thing in captured.reads.values() if thing.made_by and not story.is_captured(thing.born)]
        made = [(thing, _fill(story, captured, thing)) for thing in read]
        copies = {
            id(source.owner): each for each in made for source in (sources(each[0]) if each[1] else _nearest(each[0]))
        }
        for index, act in story.between(captured.end, len(story.acts), Verb.WRITE) if copies else ():
            copy, fill = copies.get(id(act.thing.owner), (None, None))
            if copy is None or copy.kind is Kind.CONTAINER or _follows(story, captured, index, copy):
                continue
            if fill is not None:
                found = tell(DerivedInput, fill, target=fill.text, copy=_name(copy), source=act.text)
            elif id(act.thing.owner) not in captured.reads:
                found = tell(DerivedInput, act, target=act.text, copy=_name(copy))
            else:
                continue
            yield region(captured, story.acts), found


def _name(copy: Thing) -> str:
    return copy.name or "a copy"


def _follows(story: Story, captured: Captured, index: int, copy: Thing) -> bool:
    """Whether nothing is replayed with the new data, or the copy is written or made again before that is done."""
    replay = story.next_replay(captured, index)
    if replay is None or story.is_captured(index):
        return True
    written = story.acts[index].thing.owner
    if any(_is_given(act, written) for _, act in story.between(index, replay, Verb.READ)):
        return True
    slots = {slot for slot, thing in captured.inputs.items() if thing.owner is copy}
    return any(
        later.thing.owner is copy if later.verb is Verb.WRITE else later.slot in slots and later.thing.kind is not Kind.NONE
        for _, later in story.between(captured.end, replay, Verb.WRITE, Verb.BIND)
    )


def _is_given(act: Act, written: Thing) -> bool:
    """Whether somebody unknown is given new data, or an object that holds them: `runner.prepare(inputs)` may copy them."""
    return act.name == "argument" and any(part.owner is written for part in act.thing.family())


def sources(made: Thing) -> Iterator[Thing]:
    """What a tensor was made from, in any number of steps."""
    waiting, seen = [made], {id(made)}
    while waiting and len(seen) < MOST_SOURCES:
        thing = waiting.pop()
        called = thing.name.rpartition(".")[2]
        parts = () if called.endswith(EMPTY) else (*thing.made_by, *thing.slots.values(), thing.base)
        for part in parts:
            if part is not None and id(part) not in seen and part.kind in (*VALUES, Kind.CONTAINER):
                seen.add(id(part))
                waiting.append(part)
                yield part


def _nearest(made: Thing) -> Iterator[Thing]:
    """What a tensor was made from by one expression: `self.raw.half().contiguous()` has no name for what is in between."""
    inner = {id(each) for each in walk(made.node)} if made.node is not None else set()
    waiting = [made]
    while waiting:
        thing = waiting.pop()
        parts = thing.slots.values() if thing.kind is Kind.CONTAINER else thing.made_by
        for source in () if thing.name.rpartition(".")[2].endswith(EMPTY) else parts:
            if source.kind in VALUES:
                yield source
            if source.node is not None and id(source.node) in inner and source.kind in (*VALUES, Kind.CONTAINER):
                waiting.append(source)


def _fill(story: Story, captured: Captured, copy: Thing) -> Act | None:
    """Where a function that the region runs as well, but for this, has put a tensor into an attribute or an entry."""
    around = {each.frame.body for each in outward(story.acts[captured.begin])}
    bodies = {act.frame.body for act in story.acts[captured.begin : captured.end]} - around
    for act in story.acts[: captured.begin]:
        is_own = act.verb is Verb.BIND and act.thing.owner is copy and act.slot is not None
        if is_own and act.slot is not None and isinstance(act.slot.holder, Thing) and act.frame.body in bodies:
            return act if isinstance(act.node, (ast.Assign, ast.AnnAssign)) else None
    return None
