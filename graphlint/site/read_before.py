"""Numbers that were read out of an object before the capture, and that calls of the object go on to change.

scale = scaler.get_scale()              # before the capture: a number on the host
(loss * scale).backward()               # in it: the kernel is recorded with that number
scaler.update()                         # between replays: the graph is not told
"""

from __future__ import annotations

from collections.abc import Iterator

from graphlint.events import Event, FrozenScalar
from graphlint.site.acts import Act, Verb
from graphlint.site.derived import sources
from graphlint.site.names import MOVING
from graphlint.site.story import Captured, Story, region, tell
from graphlint.site.things import Slot, Thing
from graphlint.types import Region

READING = frozenset({"item", "tolist", "builtins.bool", "builtins.float", "builtins.int"})
"""What gives a number that a tensor holds."""


def frozen(story: Story) -> Iterator[tuple[Region, Event]]:
    """Where a region computes with a number that is another one by the next replay."""
    for captured in story.captures:
        for slot, thing in captured.inputs.items():
            number = thing.owner
            if number.name in MOVING or number.name in READING:
                use = _use(story, captured, number) if _is_moved(story, captured, slot, number) else None
                if use is not None:
                    yield region(captured, story.acts), tell(FrozenScalar, use, what="number")


def _use(story: Story, captured: Captured, number: Thing) -> Act | None:
    """The first act of a region that computes with a number.

    What was read from a tensor and is handed on may be a bound, as the longest length is: that is to stand still.
    """
    reads = (each for _, each in story.between(captured.begin, captured.end, Verb.READ) if each.thing.owner is number)
    return next((each for each in reads if each.name == "operator" or number.name in MOVING), None)


def _is_moved(story: Story, captured: Captured, slot: Slot, number: Thing) -> bool:
    """Whether a replay follows on what changes the number in its object, and it has not been read again by then."""
    verb = Verb.METHOD if number.name in MOVING else Verb.WRITE
    from_ids = {id(each.owner) for each in (number.made_by if verb is Verb.METHOD else sources(number))}
    for index, act in story.between(captured.end, len(story.acts), verb):
        if id(act.thing.owner) not in from_ids or story.is_captured(index):
            continue
        if verb is Verb.METHOD and act.name != MOVING[number.name]:
            continue
        # Where the region reads the source itself, nothing else tells that the number is left behind.
        if verb is Verb.WRITE and id(act.thing.owner) not in captured.reads:
            continue
        replay = story.next_replay(captured, index)
        if replay is not None and not _is_bound(story, captured, slot, replay):
            return True
    return False


def _is_bound(story: Story, captured: Captured, slot: Slot, until: int) -> bool:
    return any(each.slot == slot for _, each in story.between(captured.end, until, Verb.BIND))
