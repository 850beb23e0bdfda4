"""Callables of `make_graphed_callables`: how they are made and called."""

from __future__ import annotations

from collections.abc import Iterator

from graphlint.events import Event
from graphlint.site.acts import Act, Verb, span
from graphlint.site.construct import argument, constant
from graphlint.site.reuse import reuses
from graphlint.site.story import Story, tell
from graphlint.site.things import Kind, Thing
from graphlint.site_events import GraphedMisused, GraphedOverwritten
from graphlint.types import Confidence, Region

Told = Iterator[tuple[Region, Event]]
MAKES = "make_graphed_callables"
HOOKS = frozenset(
    {"register_forward_hook", "register_forward_pre_hook", "register_full_backward_hook", "register_backward_hook"}
)


def _region(act: Act) -> Region:
    """The callable that is graphed, at the place where that happens."""
    module, thing = act.frame.module, act.thing
    name = f"{module.name}.{act.frame.function}".rstrip(".")
    node = thing.node if thing.kind is Kind.GRAPHED and thing.node is not None else act.node
    return Region(name, "graphed", span(module, node))


def seen(story: Story) -> Iterator[Region]:
    """Every callable that is graphed and called."""
    for act in story.acts:
        if act.verb is Verb.CALL and act.thing.kind is Kind.GRAPHED:
            yield _region(act)


def misused(story: Story) -> Told:
    """Ways of making or calling that are refused."""
    for index, act in enumerate(story.acts):
        if act.verb is not Verb.CALL:
            continue
        why = (
            _made(story, index, act) if act.thing.name.endswith(MAKES) and act.thing.kind is Kind.OUTSIDE else _called(act)
        )
        if why:
            yield _region(act), tell(GraphedMisused, act, sure=Confidence.CERTAIN, why=why)


def _made(story: Story, index: int, act: Act) -> str:
    for _, before in story.between(-1, index, Verb.METHOD):
        if before.thing is act.other and before.name in HOOKS:
            return f"the module has a hook (`{before.name}`)"
    for layer in act.layers:
        block = layer.thing
        if block is not None and block.kind is Kind.AUTOCAST and constant(argument(block, "cache_enabled")) is not False:
            return "it is made under `autocast` with the cache of casts on"
    return ""


def _called(act: Act) -> str:
    if act.thing.kind is not Kind.GRAPHED or act.call is None or not act.call.keywords:
        return _sample(act.thing) if act.thing.kind is Kind.GRAPHED else ""
    return "it is called with keyword arguments"


def _sample(graphed: Thing) -> str:
    given = argument(graphed, "sample_args", 1)
    parts = list(given.slots.values()) if given is not None and given.kind is Kind.CONTAINER else []
    return (
        "a sample argument is no tensor"
        if any(part.kind in (Kind.NUMBER, Kind.CONSTANT, Kind.NONE) for part in parts)
        else ""
    )


def overwritten(story: Story) -> Told:
    """A second call before the first result was used."""
    for reuse in reuses(story, Kind.GRAPHED):
        act = reuse.keep or reuse.again
        yield _region(reuse.again), tell(GraphedOverwritten, act, target=act.text)
