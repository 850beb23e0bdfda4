"""What is in or before a call of a compiled function with graphs that splits, skips or multiplies its graphs.

Measured on an H200 with torch 2.11: an operator tagged `cudagraph_unsafe` leaves two graphs where there was one; five sizes
of an argument that is marked as dynamic are five recordings.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from graphlint.events import Event, GraphBreak, GraphsSkipped
from graphlint.site.acts import Act, Verb
from graphlint.site.compiled import is_under, of_compiled, runs_graphs
from graphlint.site.story import Story, tell
from graphlint.site.things import Kind
from graphlint.site_events import CompiledDynamic
from graphlint.syntax import last_called
from graphlint.types import Region, Target

Told = Iterator[tuple[Region, Event]]
UNSAFE = "cudagraph_unsafe"
SPLITS = "Inductor runs an operator tagged `cudagraph_unsafe` between two graphs"


def unsafe(story: Story) -> Told:
    """Operators that say they cannot be captured, called in a compiled function."""
    for call, act in _inside(story, Verb.CALL) if UNSAFE in story.module.source.text else ():
        body = act.thing.function
        marks = body.decorator_list if isinstance(body, ast.FunctionDef) else []
        if any(last_called(mark) in ("custom_op", "triton_op") and UNSAFE in ast.unparse(mark) for mark in marks):
            told = tell(GraphBreak, act, construct=act.thing.name, why=SPLITS, targets=Target.COMPILE)
            yield of_compiled(call.thing, act), told


def _inside(story: Story, verb: Verb) -> Iterator[tuple[Act, Act]]:
    """Calls of compiled functions with graphs, each with the acts of a kind that they lead to."""
    for index, call in enumerate(story.acts):
        if runs_graphs(call):
            for _, act in story.between(index, len(story.acts), verb):
                if is_under(act.frame, call.node):
                    yield call, act


def spread(story: Story) -> Told:
    """Compiled functions whose parts, or tensors, are brought to several devices."""
    for index, call in enumerate(story.acts):
        if not runs_graphs(call) or call.thing.base is None:
            continue
        parts = {id(part) for part in call.thing.base.family()}
        before = [act for _, act in story.between(-1, index, Verb.METHOD) if id(act.thing) in parts]
        inside = [act for _, act in story.between(index, len(story.acts), Verb.METHOD) if is_under(act.frame, call.node)]
        places = sorted({place for act in (*before, *inside) if (place := _place(act))})
        if len(places) > 1:
            why = f"it works on {_listed(places)}, and Inductor records graphs of one device only"
            yield of_compiled(call.thing, call), tell(GraphsSkipped, call, call=call.text, why=why, targets=Target.COMPILE)


def _listed(places: list[str]) -> str:
    return " and ".join(f"`{place}`" for place in places[:3])


def _place(act: Act) -> str:
    """The device with a number that an act brings something to."""
    given = act.call.args[:1] if act.call is not None else []
    value = given[0].value if given and isinstance(given[0], ast.Constant) else None
    if act.name == "cuda" and isinstance(value, int) and not isinstance(value, bool):
        return f"cuda:{value}"
    return value if act.name == "to" and isinstance(value, str) and value.startswith("cuda:") else ""


def marked(story: Story) -> Told:
    """Arguments that are marked as dynamic before a call."""
    made: dict[int, Act] = {}
    for index, act in enumerate(story.acts):
        if act.verb is Verb.CALL and act.thing.kind is Kind.OUTSIDE and act.thing.name.endswith(".mark_dynamic"):
            made.update({id(each.owner): act for each in story.handed(index)})
        elif runs_graphs(act):
            found = next((made[id(each.owner)] for each in act.given if id(each.owner) in made), None)
            if found is not None:
                told = tell(CompiledDynamic, found, call=found.text, marks=True, targets=Target.COMPILE)
                yield of_compiled(act.thing, found), told
