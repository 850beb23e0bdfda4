"""Live inputs of graphed callables that are not like their samples.

A call copies each input into the tensor of the capture.  Measured on an H200 with torch 2.11: one row is spread over all of
them, half precision becomes that of the sample, a tensor of the host is taken too; only a shape that does not broadcast is
refused.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from graphlint.around_events import GraphedOtherInput
from graphlint.events import Event
from graphlint.site.acts import Verb
from graphlint.site.graphed import graphed_region
from graphlint.site.graphed_gradients import FACTORIES, MOVES, samples
from graphlint.site.story import Story, tell
from graphlint.site.things import Kind, Thing
from graphlint.syntax import last, last_called
from graphlint.types import Region

KINDS = {"half": "float16", "bfloat16": "bfloat16", "double": "float64", "float": "float32"}


def unlike(story: Story) -> Iterator[tuple[Region, Event]]:
    """Calls with an input of a shape or a type that is written down and another than that of the sample."""
    for act in story.acts:
        if act.verb is not Verb.CALL or act.thing.kind is not Kind.GRAPHED:
            continue
        pairs = list(zip(samples(act.thing), act.given))
        becomes = next((text for sample, given in pairs if (text := _becomes(sample, given))), "")
        if becomes:
            yield graphed_region(act, act.thing), tell(GraphedOtherInput, act, target=act.text, becomes=becomes)


def _becomes(sample: Thing, given: Thing) -> str:
    """What a copy into the sample makes of an input; empty if it is the same, or nobody knows."""
    (shape, kind), (own, own_kind) = _written(sample), _written(given)
    if shape and own and shape != own and len(shape) == len(own) and all(b in (1, a) for a, b in zip(shape, own)):
        return f"spread from {own} to {shape}"
    return f"{kind} instead of {own_kind}" if kind and own_kind and kind != own_kind else ""


def _written(thing: Thing) -> tuple[tuple[int, ...], str]:
    """The shape and the type of a tensor as its factory and the methods behind it say."""
    kind = ""
    while thing.name in MOVES and thing.made_by and isinstance(thing.node, ast.Call):
        kind = kind or KINDS.get(last_called(thing.node), "")
        if any(last(each).startswith(("float", "bfloat", "half")) for each in thing.node.args):
            kind = kind or next(last(each) for each in thing.node.args if last(each))
        thing = thing.made_by[0]
    call = thing.node if isinstance(thing.node, ast.Call) and thing.name in FACTORIES else None
    if call is None or thing.name.endswith("_like") or thing.kind is not Kind.TENSOR:
        return (), ""
    named = next((last(word.value) for word in call.keywords if word.arg == "dtype"), "float32")
    return _shape(call), kind or named


def _shape(call: ast.Call) -> tuple[int, ...]:
    first = call.args[0] if call.args else None
    parts = first.elts if isinstance(first, (ast.Tuple, ast.List)) else call.args
    sizes = [each.value for each in parts if isinstance(each, ast.Constant) and isinstance(each.value, int)]
    return tuple(sizes) if len(sizes) == len(parts) else ()
