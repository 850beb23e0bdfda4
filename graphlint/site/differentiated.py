"""Gradients of gradients that go through a callable which has no second derivative.

The backward pass of a graphed callable is a graph, and that of a compiled one compiled code: neither can be differentiated.
Measured on an H200 with torch 2.11: gradients that come out of the first need none themselves, so what is made of them is a
constant; the second is refused where the second backward pass runs.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from graphlint.around_events import DifferentiatedTwice
from graphlint.events import Event
from graphlint.site.acts import Act, Verb
from graphlint.site.compiled import has_graphs, of_compiled
from graphlint.site.graphed import graphed_region
from graphlint.site.lineage import lineage
from graphlint.site.reuse import is_beside
from graphlint.site.story import Story, tell
from graphlint.site.things import Kind, Thing
from graphlint.types import Region, Target

GRAD = "torch.autograd.grad"


def twice(story: Story) -> Iterator[tuple[Region, Event]]:
    """Calls with `create_graph=True` behind which another backward pass runs."""
    for index, act in enumerate(story.acts):
        if act.call is None or not _creates(act) or not _goes_on(story, index, act):
            continue
        callee = next((each for root in _roots(story, index, act) for each in lineage(root) if _is_final(each)), None)
        if callee is None:
            continue
        if callee.kind is Kind.GRAPHED:
            yield graphed_region(act, callee), tell(DifferentiatedTwice, act, call=act.text, targets=Target.GRAPH)
        elif has_graphs(callee):
            told = tell(DifferentiatedTwice, act, call=act.text, is_compiled=True, targets=Target.COMPILE)
            yield of_compiled(callee, act), told


def _creates(act: Act) -> bool:
    """Whether an act asks for gradients that can be differentiated again."""
    is_asking = (act.verb is Verb.CALL and act.thing.name == GRAD) or (act.verb is Verb.METHOD and act.name == "backward")
    words = act.call.keywords if is_asking and act.call is not None else []
    return any(word.arg == "create_graph" and isinstance(word.value, ast.Constant) and word.value.value for word in words)


def _goes_on(story: Story, index: int, asked: Act) -> bool:
    """Whether another backward pass runs behind an act, of the same run."""
    later = (act for _, act in story.between(index, len(story.acts), Verb.METHOD, Verb.CALL))
    return any(
        ((act.name == "backward" and act.verb is Verb.METHOD) or act.thing.name == GRAD)
        and act.node is not asked.node
        and is_beside(act, asked)
        for act in later
    )


def _roots(story: Story, index: int, act: Act) -> list[Thing]:
    """What is differentiated."""
    if act.verb is Verb.METHOD:
        return [act.thing]
    return list(story.handed(index))[:1]


def _is_final(thing: Thing) -> bool:
    return thing.kind in (Kind.GRAPHED, Kind.COMPILED)
