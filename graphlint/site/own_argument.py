"""A function that captures once and replays ever after, and whose graph reads the argument of the call that captured."""

from __future__ import annotations

import ast

from graphlint.site.acts import Act, Verb
from graphlint.site.story import Captured, Story
from graphlint.site.things import Kind, Scope, Thing
from graphlint.syntax import against_none, receiver_name, stands_in, walk


def unrefreshed(story: Story, captured: Captured) -> dict[str, int]:
    """The arguments that a graph reads where nothing is refreshed, with the replay behind the capture."""
    begin = story.acts[captured.begin]
    read = _read_arguments(story, captured) if _captures_once(begin) else {}
    replay = next((at for at in story.replays(captured) if story.acts[at].frame is begin.frame), None) if read else None
    if replay is None or _is_refreshed(story, captured):
        return {}
    return dict.fromkeys(read, replay)


def passed_on(story: Story, captured: Captured, act: Act, before: Thing) -> tuple[str, int]:
    """The argument and the replay, where an act binds a caller's name for what it passes to a function that captures it."""
    if act.slot is None or act.slot in captured.inputs or not isinstance(act.slot.holder, Scope):
        return "", 0
    read = unrefreshed(story, captured)
    found = ((slot.key, read[slot.key]) for slot, thing in captured.inputs.items() if thing is before and slot.key in read)
    return next(found, ("", 0))


def _read_arguments(story: Story, captured: Captured) -> dict[str, Thing]:
    """The parameters of the function around a capture that the graph reads as they are."""
    begin = story.acts[captured.begin]
    body = begin.frame.body
    if not isinstance(body, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return {}
    names = {each.arg for each in (*body.args.posonlyargs, *body.args.args)} - {receiver_name(body)}
    inside = story.acts[captured.begin : captured.end]
    read = {id(act.thing) for act in inside if act.verb is Verb.READ}
    called = {id(act.thing) for act in inside if act.verb in (Verb.CALL, Verb.METHOD)}
    return {
        slot.key: thing
        for slot, thing in captured.inputs.items()
        if isinstance(slot.holder, Scope) and slot.holder.name == begin.frame.function and slot.key in names
        if thing.kind in (Kind.TENSOR, Kind.UNKNOWN) and id(thing) in read and id(thing) not in called
    }


def _captures_once(begin: Act) -> bool:
    """Whether a capture stands under an `if` that asks whether there is a graph yet, with something behind it."""
    body = begin.frame.body
    return body is not None and any(
        isinstance(each, ast.If) and stands_in(each.body, begin.node) and _asks(each.test) for each in walk(body)
    )


def _asks(test: ast.expr) -> bool:
    match test:
        case ast.Compare(ops=[ast.NotIn()]) | ast.UnaryOp(op=ast.Not(), operand=ast.Attribute() | ast.Name()):
            return True
    return isinstance(test, ast.Compare) and against_none(test) is True


def _is_refreshed(story: Story, captured: Captured) -> bool:
    """Whether anything that the graph reads is written outside of the capture: then the argument may be one that stays."""
    return any(
        id(act.thing.owner) in captured.reads and not captured.holds(index)
        for index, act in story.between(-1, len(story.acts), Verb.WRITE)
    )
