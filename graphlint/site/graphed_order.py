"""Callables that were graphed together and are called in another order than they were passed in.

They share a pool, and their backward passes were captured in the order opposite to that of the tuple: what one keeps for
its backward pass may lie where another has its temporaries.  Measured on an H200 with torch 2.11: with two blocks called
the other way round, results were right and gradients as wrong as they were large.  Without gradients all was right.
"""

from __future__ import annotations

from collections.abc import Iterator

from graphlint.around_events import GraphedOutOfOrder
from graphlint.events import Event
from graphlint.site.acts import Act, Verb
from graphlint.site.branches import apart, excludes
from graphlint.site.construct import argument
from graphlint.site.graphed import graphed_region
from graphlint.site.learning import is_trained, is_unlearned
from graphlint.site.story import Story, tell
from graphlint.site.things import Kind, Thing
from graphlint.types import Region


def disordered(story: Story) -> Iterator[tuple[Region, Event]]:
    """Calls of a callable before another one that stands before it in the tuple."""
    calls = [
        act for act in story.acts if act.verb is Verb.CALL and act.thing.kind is Kind.GRAPHED and not is_unlearned(act)
    ]
    told: set[int] = set()
    for place, act in enumerate(calls):
        for later in calls[place + 1 :]:
            if id(act.thing) in told or not _is_same_round(act, later) or not _stands_before(later.thing, act.thing):
                continue
            if any(_is_same_round(each, act) and each.thing is later.thing for each in calls[:place]) or _parted(
                act, later
            ):
                continue
            if is_trained(story, act):
                told.add(id(act.thing))
                told_of = tell(GraphedOutOfOrder, act, target=act.text, before=later.text)
                yield graphed_region(act, act.thing), told_of


def _parted(one: Act, other: Act) -> bool:
    return excludes(one, other) or apart(one, other)


def _is_same_round(one: Act, other: Act) -> bool:
    """Whether two acts stand in one run of a function, in the same round of its loops."""
    rounds = [[(id(layer.node), layer.round) for layer in act.layers] for act in (one, other)]
    return one.frame is other.frame and rounds[0] == rounds[1]


def _stands_before(one: Thing, other: Thing) -> bool:
    """Whether both were graphed by one call, and one is named there before the other."""
    callables = argument(one, "callables", 0)
    if one.node is not other.node or callables is None or callables.kind is not Kind.CONTAINER:
        return False
    order = {id(each): place for place, each in enumerate(callables.slots.values())}
    first, second = (order.get(id(each.base)) for each in (one, other))
    return first is not None and second is not None and first < second
