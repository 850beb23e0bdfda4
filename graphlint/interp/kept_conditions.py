"""Conditions about places that a variable keeps: where it is asked, what they ask about is known as if they stood there.

moves = x.device.type == "cpu" and not x.is_pinned()
if moves:
    return x.to(device, non_blocking=True)       # on the host here
return x.to(device)                              # and on the device here
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from graphlint.interp.agreeing import note_choice
from graphlint.interp.frame import Frame, Kept
from graphlint.interp.places import asked_place
from graphlint.syntax import walk
from graphlint.values import Value


def note_condition(frame: Frame, node: ast.Assign, value: Value) -> None:
    """Remember a condition about a place by the variable that keeps it, if that is all the variable ever keeps."""
    match node.targets:
        case [ast.Name(id=name)] if _asks_place(node.value) and _keeps_only_such(frame, name):
            asked = {each.id for each in walk(node.value) if isinstance(each, ast.Name)}
            held = tuple((each, frame.env[each]) for each in sorted(asked) if each in frame.env)
            known = frame.kept.get(name)
            is_other = known is not None and known.test is not node.value
            frame.kept = {**frame.kept, name: Kept(None if is_other else node.value, held)}


NOTES: dict[type[ast.expr], Callable[[Frame, ast.Assign, Value], None]] = {
    ast.IfExp: note_choice,
    ast.BoolOp: note_condition,
    ast.Compare: note_condition,
}
"""What is remembered of an assignment, by what is assigned."""


def kept_condition(frame: Frame, name: str) -> ast.expr | None:
    """The condition that a variable keeps, if what it asks about is still what it was."""
    kept = frame.kept.get(name)
    return kept.test if kept is not None and all(frame.env.get(each) is value for each, value in kept.held) else None


def _asks_place(node: ast.expr) -> bool:
    parts = node.values if isinstance(node, ast.BoolOp) else [node]
    return any(asked_place(each) is not None for each in parts)


def _keeps_only_such(frame: Frame, name: str) -> bool:
    """Whether everything that a function binds to a variable asks for a place."""
    decl = frame.summary.decl
    if decl is None:
        return False
    bound = sum(each.id == name and isinstance(each.ctx, ast.Store) for each in decl.every(ast.Name))
    asking = [
        each
        for each in decl.every(ast.Assign)
        if isinstance(each.targets[0], ast.Name) and each.targets[0].id == name and _asks_place(each.value)
    ]
    return bound == len(asking)
