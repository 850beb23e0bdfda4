"""What a caller binds anew for every call of a function that replays: there it is an argument that no input gets."""

from __future__ import annotations

import ast

from graphlint.captors import class_prefix
from graphlint.site.acts import Act, Frame, Verb
from graphlint.site.story import Captured, Story
from graphlint.site.things import Scope
from graphlint.syntax import receiver_name

FunctionDef = ast.FunctionDef | ast.AsyncFunctionDef


def handed_on(story: Story, captured: Captured, index: int, act: Act) -> tuple[Act, str] | None:
    """The replay to which a caller hands what it binds, and the parameter that takes it there; None if there is none."""
    replay = story.next_replay(captured, index)
    if replay is None or act.slot is None or act.slot in captured.inputs or not isinstance(act.slot.holder, Scope):
        return None
    frame = story.acts[replay].frame
    while frame.caller is not None and frame.caller is not act.frame:
        frame = frame.caller
    if frame.caller is None:
        return None
    for name, value in _given(frame):
        if isinstance(value, ast.Name) and value.id == act.slot.key:
            return story.acts[replay], name
    return None


def is_as_captured(story: Story, captured: Captured, frame: Frame, name: str) -> bool:
    """Whether a call gives for a parameter the very thing that the graph reads, so that nothing need be copied."""
    node = next((value for parameter, value in _given(frame) if parameter == name), None)
    loads = story.between(-1, len(story.acts), Verb.LOAD) if node is not None else ()
    return any(act.node is node and act.frame is frame.caller and id(act.thing.owner) in captured.reads for _, act in loads)


def _given(frame: Frame) -> list[tuple[str, ast.expr]]:
    """The parameters of the function of a call, with what it writes for each."""
    if not isinstance(frame.node, ast.Call) or not isinstance(frame.body, FunctionDef):
        return []
    parameters = [each.arg for each in (*frame.body.args.posonlyargs, *frame.body.args.args)]
    if class_prefix(frame.module, frame.body) and receiver_name(frame.body):
        parameters = parameters[1:]
    named = [(word.arg, word.value) for word in frame.node.keywords if word.arg is not None]
    return [*zip(parameters, frame.node.args), *named]
