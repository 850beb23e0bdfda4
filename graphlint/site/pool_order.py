"""Graphs that share a pool and are replayed in another order than they were captured in.

What a capture needs only for itself is free again when it ends, and the next capture of the pool puts its own tensors
there.  A later replay of the first graph writes over them; in the order of capture that does no harm.
"""

from __future__ import annotations

from collections.abc import Iterator

from graphlint.events import Event
from graphlint.site.acts import Verb
from graphlint.site.construct import argument
from graphlint.site.outputs import computes
from graphlint.site.story import Captured, Story, region, tell
from graphlint.site.things import Kind
from graphlint.site_events import OutputKept, UnsharedPool
from graphlint.types import Region

SHARED = "the pool is shared"


def disordered(story: Story) -> Iterator[tuple[Region, Event]]:
    """Replays that write over the results of a graph that was captured later, before those are read."""
    for first, second in sharing(story):
        for index in story.replays(first):
            act = story.acts[index]
            if act.thing is first.graph and not act.is_maybe and _is_read(story, first, second, index):
                yield region(first, story.acts), tell(OutputKept, act, target=act.text, how=SHARED)
                break


def sharing(story: Story) -> Iterator[tuple[Captured, Captured]]:
    """Pairs of graphs of one pool, in the order of their capture."""
    pools: dict[int, int] = {}
    known: list[Captured] = []
    for captured in story.captures if len(story.captures) > 1 else ():
        pool = argument(captured.capture, "pool", 1)
        given = captured.graph if pool is None else pool.base if pool.base is not None else pool
        if pool is not None and pool.kind is not Kind.POOL:
            continue
        own = pools[id(captured.graph)] = pools.get(id(given), id(given))
        yield from ((each, captured) for each in known if pools[id(each.graph)] == own and each.graph is not captured.graph)
        known.append(captured)


def _is_read(story: Story, first: Captured, second: Captured, index: int) -> bool:
    """Whether a result of the later graph, which was replayed before the earlier one, is read behind that replay."""
    act = story.acts[index]
    before = max((at for at in story.replays(second) if at < index), default=None)
    if before is None or story.acts[before].frame is not act.frame or story.acts[before].thing is not second.graph:
        return False
    again = next(story.replays(second, index), len(story.acts))
    reads = (each for _, each in story.between(index, again, Verb.READ) if second.made(each.thing) and computes(each))
    return any(each.frame is act.frame for each in reads)


def apart(story: Story) -> Iterator[tuple[Region, Event]]:
    """Captures that are given the pool of an earlier one and a stream of their own."""
    told: set[int] = set()
    for first, second in sharing(story):
        one, other = (argument(each.capture, "stream", 2) for each in (first, second))
        act = story.acts[second.begin]
        if one is None or other is None or one is other or id(act.node) in told:
            continue
        if one.kind is Kind.STREAM and other.kind is Kind.STREAM and not (one.is_argument or other.is_argument):
            told.add(id(act.node))
            yield region(second, story.acts), tell(UnsharedPool, act, stream=act.text)
