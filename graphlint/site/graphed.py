"""Callables of `make_graphed_callables`: how they are made and called."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from graphlint.captors import region_name
from graphlint.events import Event
from graphlint.site.acts import Act, Verb, span
from graphlint.site.casts import caches
from graphlint.site.construct import argument
from graphlint.site.reuse import reuses
from graphlint.site.story import Story, tell
from graphlint.site.things import Kind, Thing
from graphlint.site.weights import is_on, moved_by
from graphlint.site_events import GraphedMisused, GraphedOtherMode, GraphedOverwritten, WeightsMoved
from graphlint.types import Confidence, Region

Told = Iterator[tuple[Region, Event]]
MAKES = "make_graphed_callables"
HOOKS = frozenset(
    {"register_forward_hook", "register_forward_pre_hook", "register_full_backward_hook", "register_backward_hook"}
)


def _region(act: Act) -> Region:
    return graphed_region(act, act.thing)


def graphed_region(act: Act, thing: Thing) -> Region:
    """The callable that is graphed, at the place where that happens, as an act of the same file has it."""
    module = act.frame.module
    name = region_name(module, act.frame.body, act.frame.function)
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
            cure = CURES[why.partition(" (")[0]]
            yield _region(act), tell(GraphedMisused, act, sure=Confidence.CERTAIN, why=why, cure=cure)


HOOKED, LEARNS = "the module has a hook", "the module has a buffer that needs gradients"
CACHED, NAMED = "the cache of `autocast` is on around it", "it is called with keyword arguments"
NO_TENSOR = "a sample argument is no tensor"
CURES = {
    HOOKED: "graph the module first, and register the hook on what comes out",
    LEARNS: "make it a parameter, or a buffer without `requires_grad`",
    CACHED: "make it under `autocast(..., cache_enabled=False)`",
    NAMED: "pass tensors by position only",
    NO_TENSOR: "pass tensors only, and bind the others before: `functools.partial`, or an attribute of the module",
}


def _made(story: Story, index: int, act: Act) -> str:
    for _, before in story.between(-1, index, Verb.METHOD):
        if before.thing is act.other and before.name in HOOKS:
            return f"{HOOKED} (`{before.name}`)"
    if act.other is not None and any(_learns(each, act.other) for _, each in story.between(-1, index, Verb.BIND)):
        return LEARNS
    for layer in act.layers:
        block = layer.thing
        if block is not None and block.kind is Kind.AUTOCAST and caches(block):
            return CACHED
    return _sample(act.thing)


def _learns(bind: Act, module: Thing) -> bool:
    """Whether an act registers a buffer of a module, or of a part of it, that needs gradients."""
    call, made = bind.node, bind.thing.node
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or call.func.attr != "register_buffer":
        return False
    needs = isinstance(made, ast.Call) and any(
        word.arg == "requires_grad" and is_true(word.value) for word in made.keywords
    )
    return needs and bind.slot is not None and any(part is bind.slot.holder for part in module.family())


def is_true(node: ast.expr | None) -> bool:
    """Whether an expression is `True` as it stands."""
    return isinstance(node, ast.Constant) and node.value is True


def _calls(story: Story) -> Iterator[tuple[int, Act, Thing]]:
    """Calls of graphed modules, with what was graphed."""
    for index, act in enumerate(story.acts):
        if act.verb is Verb.CALL and act.thing.kind is Kind.GRAPHED and act.thing.base is not None:
            yield index, act, act.thing.base


def other_mode(story: Story) -> Told:
    """Calls of a graphed module in a mode that was not captured."""
    for index, act, base in _calls(story):
        graphed = act.thing
        switches = [
            (at, is_on(each))
            for at, each in story.between(-1, index, Verb.METHOD)
            if each.name in ("eval", "train") and (each.thing is graphed or each.thing is base)
        ]
        made = [mode for at, mode in switches if at < graphed.born]
        mode = made[-1] if made else True
        if switches and switches[-1][1] is not mode:
            yield _region(act), tell(GraphedOtherMode, act, target=act.text)


def moved(story: Story) -> Told:
    """Parameters of a graphed module that get other memory between its making and a call."""
    for index, act, base in _calls(story):
        graphed, module = act.thing, base.family()
        for _, each in story.between(graphed.born, index, Verb.METHOD, Verb.BIND):
            how = _how(each, graphed, module)
            if how:
                yield _region(act), tell(WeightsMoved, each, target=each.text, how=how)


def _how(act: Act, graphed: Thing, module: list[Thing]) -> str:
    if act.verb is Verb.METHOD:
        return moved_by(act) if act.thing is graphed or any(act.thing is part for part in module) else ""
    holder = act.slot.holder if act.slot is not None else None
    if not isinstance(holder, Thing) or act.slot is None or act.slot.key != "data":
        return ""
    owner = holder.base if holder.kind is Kind.PARAMETER else holder
    return ".data = ..." if owner is graphed or any(owner is part for part in module) else ""


def _called(act: Act) -> str:
    is_named = act.thing.kind is Kind.GRAPHED and act.call is not None and act.call.keywords
    return NAMED if is_named else ""


def _sample(making: Thing) -> str:
    """What is wrong with the sample arguments: torch takes them apart, and every leaf must be a tensor."""
    given = argument(making, "sample_args", 1)
    parts = given.family() if given is not None and given.kind is Kind.CONTAINER else []
    is_other = any(part.kind in (Kind.NUMBER, Kind.CONSTANT, Kind.NONE) for part in parts)
    return NO_TENSOR if is_other else ""


def overwritten(story: Story) -> Told:
    """A second call before the first result was used."""
    for reuse in reuses(story, Kind.GRAPHED):
        act = reuse.place
        yield _region(reuse.again), tell(GraphedOverwritten, act, target=act.text)
