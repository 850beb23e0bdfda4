"""Gradients that compiled and graphed backward passes leave: their memory belongs to the graph of the pass."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from graphlint.events import Event
from graphlint.site.acts import Act, Verb
from graphlint.site.compiled import has_graphs, of_compiled
from graphlint.site.graphed import graphed_region
from graphlint.site.story import Story, tell
from graphlint.site.things import Kind, Thing
from graphlint.site.training import clears
from graphlint.site_events import CompiledStaleRead, GraphedOverwritten
from graphlint.syntax import last, last_called, stands_in, walk
from graphlint.types import Region, Target

DEEPEST = 8
RUNNING = frozenset({Kind.COMPILED, Kind.GRAPHED})


def accumulated(story: Story) -> Iterator[tuple[Region, Event]]:
    """A backward pass that adds to gradients of an earlier one: the same graph has written over them by then."""
    if not any(act.thing.kind in RUNNING for act in story.acts) or not any(map(_uses_gradients, story.acts)):
        return
    called: dict[int, Thing] = {}
    passed: set[int] = set()
    rare: dict[int, list[ast.If]] = {}
    owned: set[int] = set()
    for act in story.acts:
        if act.verb is Verb.CALL and _leaves_gradients(act.thing):
            called[id(act.thing)] = act.thing
        elif act.verb in (Verb.METHOD, Verb.BIND) and clears(act) and not act.is_maybe and not _is_every_few(act, rare):
            passed.clear()
            owned = owned | _given_own(act) if act.verb is Verb.BIND else set()
        elif act.verb is Verb.METHOD and act.name == "backward":
            # Of a sum of losses it is not known what they were computed with.
            for made in list(_made_by(act.thing)) or list(called.values()):
                if id(made) in passed and id(made) in called and not _is_owned(made, owned):
                    yield _told(made, act)
                passed.add(id(made))
                called.pop(id(made), None)


def _uses_gradients(act: Act) -> bool:
    """Whether an act looks at gradients, or steps with them: what adds up for nobody does no harm."""
    if act.verb is Verb.METHOD:
        return act.name in ("step", "unscale_")
    if act.verb is Verb.CALL:
        return "clip_grad" in act.thing.name
    return act.verb is Verb.LOAD and last(act.node) == "grad"


def _leaves_gradients(thing: Thing) -> bool:
    """Whether the backward pass of a callable is a graph that writes gradients of parameters."""
    if thing.kind is Kind.GRAPHED:
        return thing.base is not None and thing.base.kind is Kind.MODULE and not thing.base.is_frozen
    return thing.kind is Kind.COMPILED and has_graphs(thing)


def _given_own(act: Act) -> set[int]:
    """The module, if it is known, whose gradients an act binds to tensors: these are added to in place, and stay."""
    holder = act.slot.holder if act.slot is not None else None
    module = holder.base if isinstance(holder, Thing) else None
    return set() if act.thing.kind is Kind.NONE else {id(module)}


def _is_owned(made: Thing, owned: set[int]) -> bool:
    inner = made.base
    known = {id(part) for part in inner.family()} if inner is not None and inner.kind is Kind.MODULE else owned
    return not owned.isdisjoint({id(None), *known})


def _told(made: Thing, act: Act) -> tuple[Region, Event]:
    if made.kind is Kind.GRAPHED:
        return graphed_region(act, made), tell(GraphedOverwritten, act, target=act.text, gradients=True)
    told = tell(CompiledStaleRead, act, target=act.text, gradients=True, targets=Target.COMPILE)
    return of_compiled(made, act), told


def _is_every_few(act: Act, rare: dict[int, list[ast.If]]) -> bool:
    """Whether an act happens in some rounds only: behind `if (step + 1) % 4 == 0:`; `rare` keeps what was found.

    An `if` around the backward pass as well leaves no pass without it.
    """
    around = act.frame.body or act.frame.module.source.tree
    if id(around) not in rare:
        rare[id(around)] = [each for each in walk(around) if isinstance(each, ast.If) and _is_rare(each)]
    return any(stands_in(each.body, act.node) for each in rare[id(around)])


def _is_rare(branch: ast.If) -> bool:
    if not any(isinstance(part, ast.BinOp) and isinstance(part.op, ast.Mod) for part in walk(branch.test)):
        return False
    return not any(last_called(part) == "backward" for each in branch.body for part in walk(each))


def _made_by(loss: Thing) -> Iterator[Thing]:
    """The compiled functions with graphs, and the graphed modules, that a loss was computed with."""
    level, seen = [loss], {id(loss)}
    for _ in range(DEEPEST):
        parts = [
            part for each in level for part in (*each.made_by, *each.slots.values(), *([each.base] if each.base else []))
        ]
        level = [part for part in parts if id(part) not in seen]
        seen.update(map(id, level))
        yield from {id(part): part for part in level if _leaves_gradients(part)}.values()
