"""Gradients that compiled backward passes leave: their memory belongs to the graph of the pass."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from graphlint.events import Event
from graphlint.site.acts import Act, Verb
from graphlint.site.compiled import has_graphs, of_compiled
from graphlint.site.story import Story, tell
from graphlint.site.things import Kind, Thing
from graphlint.site.training import clears
from graphlint.site_events import CompiledStaleRead
from graphlint.syntax import stands_in, walk
from graphlint.types import Region, Target

DEEPEST = 8


def accumulated(story: Story) -> Iterator[tuple[Region, Event]]:
    """A backward pass that adds to gradients of an earlier one: the same graph has written over them by then."""
    if not any(act.thing.kind is Kind.COMPILED for act in story.acts):
        return
    called: dict[int, Thing] = {}
    passed: set[int] = set()
    rare: dict[int, list[ast.If]] = {}
    for act in story.acts:
        if act.verb is Verb.CALL and act.thing.kind is Kind.COMPILED and has_graphs(act.thing):
            called[id(act.thing)] = act.thing
        elif act.verb in (Verb.METHOD, Verb.BIND) and clears(act) and not act.is_maybe and not _is_every_few(act, rare):
            passed.clear()
        elif act.verb is Verb.METHOD and act.name == "backward":
            # Of a sum of losses it is not known what they were computed with.
            for made in list(_compiled(act.thing)) or list(called.values()):
                if id(made) in passed and id(made) in called:
                    told = tell(CompiledStaleRead, act, target=act.text, gradients=True, targets=Target.COMPILE)
                    yield of_compiled(made, act), told
                passed.add(id(made))
                called.pop(id(made), None)


def _is_every_few(act: Act, rare: dict[int, list[ast.If]]) -> bool:
    """Whether an act happens in some rounds only: behind `if (step + 1) % 4 == 0:`; `rare` keeps what was found."""
    around = act.frame.body or act.frame.module.source.tree
    if id(around) not in rare:
        rare[id(around)] = [each for each in walk(around) if isinstance(each, ast.If) and _divides(each.test)]
    return any(stands_in(each.body, act.node) for each in rare[id(around)])


def _divides(test: ast.expr) -> bool:
    return any(isinstance(part, ast.BinOp) and isinstance(part.op, ast.Mod) for part in walk(test))


def _compiled(loss: Thing) -> Iterator[Thing]:
    """The compiled functions with graphs that a loss was computed with."""
    level, seen = [loss], {id(loss)}
    for _ in range(DEEPEST):
        parts = [
            part for each in level for part in (*each.made_by, *each.slots.values(), *([each.base] if each.base else []))
        ]
        level = [part for part in parts if id(part) not in seen]
        seen.update(map(id, level))
        yield from {id(part): part for part in level if part.kind is Kind.COMPILED and has_graphs(part)}.values()
