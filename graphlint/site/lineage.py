"""What a value was computed from, as far as gradients flow."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from graphlint.site.acts import Verb
from graphlint.site.learning import LEARNING, is_false
from graphlint.site.story import Story
from graphlint.site.things import Kind, Thing
from graphlint.syntax import last_called

ENDS = frozenset({"detach", "detach_", "argmax", "argmin", "item", "long", "int", "bool"})
"""Methods behind which no gradient comes through."""
MOST = 300


def lineage(thing: Thing) -> Iterator[Thing]:
    """A thing and what it was made from, nearest first."""
    seen, waiting = set[int](), [thing]
    while waiting and len(seen) < MOST:
        each = waiting.pop(0)
        if id(each) in seen:
            continue
        seen.add(id(each))
        yield each
        if isinstance(each.node, ast.Call) and last_called(each.node) in ENDS and each.kind is Kind.TENSOR:
            continue
        parts = each.slots.values() if each.kind is Kind.CONTAINER else ()
        waiting += [*each.made_by, *([each.base] if each.base is not None else []), *parts]


def needs_gradients(story: Story, thing: Thing) -> bool:
    """Whether a value comes out of a module that learns, or of a tensor that is told to have gradients."""
    return any(_learns(each) or is_told(story, each) for each in lineage(thing))


def _learns(thing: Thing) -> bool:
    module = thing.base if thing.kind in (Kind.GRAPHED, Kind.COMPILED) else thing
    if module is None or module.kind is not Kind.MODULE:
        return thing.kind is Kind.TENSOR and thing.name in ("torch.nn.Parameter", "torch.nn.parameter.Parameter")
    parts = [part for part in module.family() if part.kind is Kind.MODULE]
    return any(part.name.startswith(LEARNING) and not part.is_frozen for part in parts)


def is_told(story: Story, thing: Thing) -> bool:
    """Whether a tensor is made with `requires_grad=True`, or asked to have gradients later."""
    if thing.kind is not Kind.TENSOR:
        return False
    words = thing.node.keywords if isinstance(thing.node, ast.Call) else []
    if any(word.arg == "requires_grad" and not is_false(word.value) for word in words):
        return True
    for _, act in story.between(thing.born - 2, len(story.acts), Verb.METHOD, Verb.BIND):
        if act.verb is Verb.METHOD and act.name in ("requires_grad_", "retain_grad") and act.thing is thing:
            return not (act.call is not None and act.call.args and is_false(act.call.args[0]))
        if act.verb is Verb.BIND and act.slot is not None and act.slot.key == "requires_grad" and act.slot.holder is thing:
            return True
    return False
