"""Results of one compiled function behind the call of another: each outermost call begins a step, which frees the last.

So it is while no gradients are waited for and nobody marks steps (measured: H200, torch 2.11).
"""

from __future__ import annotations

from collections.abc import Iterator

from graphlint.events import Event
from graphlint.site.acts import Act, Frame, Verb
from graphlint.site.compiled import of_compiled, runs_graphs
from graphlint.site.inputs import root
from graphlint.site.learning import is_unlearned
from graphlint.site.reuse import is_result, steps_marked
from graphlint.site.story import Story, tell
from graphlint.site.things import Kind
from graphlint.site_events import CompiledStaleRead
from graphlint.types import Region, Target


def chained(story: Story) -> Iterator[tuple[Region, Event]]:
    """Where a result is read after another compiled function was called, or by that call."""
    calls = [each for each in enumerate(story.acts) if runs_graphs(each[1])]
    if len({id(act.thing) for _, act in calls}) < 2:
        return
    nodes = {id(act.node) for _, act in calls}
    outer = [(at, act) for at, act in calls if not _is_within(act.frame, nodes)]
    told: set[int] = set()
    for place, (at, act) in enumerate(outer[:-1]):
        then, other = outer[place + 1]
        # The same function once more is asked of elsewhere.
        is_asked = other.thing is not act.thing and root(act.frame) is root(other.frame) and _is_unlearned(act)
        read = _read(story, act, at, then) if is_asked and not steps_marked(story, act, len(story.acts)) else None
        if read is not None and id(read.node) not in told:
            told.add(id(read.node))
            event = tell(CompiledStaleRead, read, target=read.text, other=other.text, targets=Target.COMPILE)
            yield of_compiled(act.thing, read), event


def _is_within(frame: Frame | None, nodes: set[int]) -> bool:
    """Whether a call is made inside one of some others: Dynamo takes the inner one in."""
    while frame is not None:
        if id(frame.node) in nodes:
            return True
        frame = frame.caller
    return False


def _read(story: Story, call: Act, at: int, then: int) -> Act | None:
    """The other call, where it is given the result, or the first act behind it that reads it."""
    other = story.acts[then]
    if any(is_result(each, call.thing, at, then) for each in other.given):
        return other
    reads = (act for _, act in story.between(then, len(story.acts), Verb.READ) if act.node is not other.node)
    return next((act for act in reads if is_result(act.thing, call.thing, at, then)), None)


def _is_unlearned(call: Act) -> bool:
    """Whether it is seen that nobody waits for gradients of a call."""
    inner = call.thing.base
    return is_unlearned(call) or (inner is not None and inner.kind is Kind.MODULE and inner.is_frozen)
