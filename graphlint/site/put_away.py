"""Objects that a region puts things into, or takes them from, and that others replace: Python does it at capture only."""

from __future__ import annotations

from collections.abc import Iterator

from graphlint.events import Event
from graphlint.site.acts import Act, Verb
from graphlint.site.story import Captured, Story, region, tell
from graphlint.site.things import Kind, Thing
from graphlint.site_events import StashReplaced
from graphlint.types import Region

EMPTYING = frozenset({"clear", "pop", "popitem", "popleft"})


def emptied(story: Story) -> Iterator[tuple[Region, Event]]:
    """What a region puts into a container that is emptied, or replaced, before a replay."""
    for captured in story.captures:
        for _, act in story.between(captured.begin, captured.end, Verb.BIND, Verb.KEEP):
            held = container(act)
            if held is None or held.born > captured.begin or not captured.made(act.thing) or act.is_maybe:
                continue
            if act.thing.kind in (Kind.TENSOR, Kind.UNKNOWN) and _is_dropped(story, captured, held):
                yield region(captured, story.acts), tell(StashReplaced, act, target=act.text)


def only_fills(story: Story, captured: Captured, held: Thing) -> bool:
    """Whether a region puts things into a container and looks at none in it."""
    inside = story.acts[captured.begin : captured.end]
    if held.kind is not Kind.CONTAINER or not any(container(act) is held for act in inside):
        return False
    return not any(
        (act.verb is Verb.LOAD and act.slot is not None and act.slot.holder is held)
        or (act.verb is Verb.READ and act.thing is held)
        for act in inside
    )


def is_record(story: Story, captured: Captured, index: int, before: Thing, after: Thing) -> bool:
    """Whether an object of which a region read attributes is replaced by another of its class: a batch by the next one.

    The code that replays may want another with the very tensors of the capture, or copy into these what a new one brings.
    """
    if before.kind is not Kind.INSTANCE or after.kind is not Kind.INSTANCE or after.decl is not before.decl:
        return False
    if captured.graph in before.family() or not any(slot.holder is before for slot in captured.inputs):
        return False
    return not is_as_good(captured, before, after) and not _is_copied(story, captured, index, before, after)


def is_as_good(captured: Captured, before: Thing, after: Thing) -> bool:
    """Whether something is what a region read, or another record with the very tensors that it read there."""
    read = _tensors(captured, before)
    return after is before or (
        bool(read) and all(key in after.slots and after.slots[key].owner is owner for key, owner in read.items())
    )


def _tensors(captured: Captured, held: Thing) -> dict[str, Thing]:
    """The tensors that a region read in attributes of an object."""
    if held.kind is not Kind.INSTANCE:
        return {}
    read = ((slot, thing) for slot, thing in captured.inputs.items() if slot.holder is held)
    return {slot.key: thing.owner for slot, thing in read if thing.kind is Kind.TENSOR}


def _is_copied(story: Story, captured: Captured, index: int, before: Thing, after: Thing) -> bool:
    """Whether what a new record holds is copied into tensors of the capture before the next replay."""
    replay = story.next_replay(captured, index)
    tensors = set(map(id, _tensors(captured, before).values()))
    brought = set(map(id, after.slots.values()))
    return replay is not None and any(
        id(act.thing.owner) in tensors and act.other is not None and id(act.other) in brought
        for _, act in story.between(index, replay, Verb.WRITE)
    )


def container(act: Act) -> Thing | None:
    """What an act puts something into."""
    if act.verb is Verb.KEEP:
        return act.other if act.other is not None and act.other.kind is Kind.CONTAINER else None
    holder = act.slot.holder if act.verb is Verb.BIND and act.slot is not None else None
    return holder if isinstance(holder, Thing) and holder.kind is Kind.CONTAINER else None


def _is_dropped(story: Story, captured: Captured, held: Thing) -> bool:
    for index, act in story.between(captured.end, len(story.acts), Verb.BIND, Verb.METHOD):
        is_emptied = act.thing is held and act.verb is Verb.METHOD and act.name in EMPTYING
        is_replaced = act.verb is Verb.BIND and act.other is held and act.thing is not held
        is_attribute = is_emptied or (act.slot is not None and isinstance(act.slot.holder, Thing))
        if (is_emptied or is_replaced) and is_attribute and story.next_replay(captured, index) is not None:
            return True
    return False
