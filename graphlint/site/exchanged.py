"""Names that are exchanged between replays: `src, dst = dst, src`.

Eager code goes on from the other buffer; a graph reads and writes those that each name stood for when it was captured.
"""

from __future__ import annotations

from collections.abc import Iterator

from graphlint.events import Event
from graphlint.site.acts import Act, Verb
from graphlint.site.story import Captured, Story, region, tell
from graphlint.site.things import Thing
from graphlint.site_events import InputRebound
from graphlint.syntax import permuted, spelled
from graphlint.types import Region


def exchanged(story: Story) -> Iterator[tuple[Region, Event]]:
    """What a region worked with changes places between a capture and a replay, and no other graph has the other order."""
    told: set[int] = set()
    for captured in story.captures:
        for index, act in story.between(captured.end, len(story.acts), Verb.BIND):
            parts = [] if id(act.node) in told or story.is_captured(index) else permuted(act.node)
            if parts and _works_with(captured, act.thing) and _is_missed(story, captured, index, act):
                told.add(id(act.node))
                target = ", ".join(map(spelled, parts))
                yield region(captured, story.acts), tell(InputRebound, act, target=target, place="name", is_exchange=True)


def _works_with(captured: Captured, thing: Thing) -> bool:
    """Whether a region touched a thing, or what one holds."""
    inside = any(slot.holder is thing and id(held.owner) in captured.reads for slot, held in captured.inputs.items())
    return inside or id(thing.owner) in captured.reads


def _is_missed(story: Story, captured: Captured, index: int, act: Act) -> bool:
    """Whether the next replay is of a graph that takes things as they were, and nothing is written for it before."""
    replay = story.next_replay(captured, index)
    if replay is None or any(each is not captured and _works_with(each, act.thing) for each in story.captures):
        return False
    written = story.between(index, replay, Verb.WRITE)
    return not any(id(each.thing.owner) in captured.reads for _, each in written)
