"""What a condition asks, where that tells more than whether it holds.

Conditions about places that a variable keeps: where it is asked, what they ask about is known as if they stood there.

moves = x.device.type == "cpu" and not x.is_pinned()
if moves:
    return x.to(device, non_blocking=True)       # on the host here
return x.to(device)                              # and on the device here

Attributes that are only asked for being None: that reads nothing of what they hold.

if self.last is None: print("first")        # after the warm-up, every call goes the same way
self.last = x * 2                           # and nobody reads what the call before has left
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from graphlint.interp.agreeing import note_choice
from graphlint.interp.frame import Frame, Kept
from graphlint.project import FunctionDecl
from graphlint.syntax import against_none, walk
from graphlint.values import Value


def note_condition(frame: Frame, node: ast.Assign, value: Value) -> None:
    """Remember a condition about a place by the variable that keeps it, if that is all the variable ever keeps."""
    match node.targets:
        case [ast.Name(id=name)] if _asks_place(node.value) and _keeps_only_such(frame, name):
            asked = {each.id for each in walk(node.value) if isinstance(each, ast.Name)}
            if name in asked:
                return  # what it asks about is gone
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


def asked_place(node: ast.expr) -> tuple[ast.expr, bool, bool] | None:
    """(the tensor, whether the host is asked for, whether the answer is yes where the condition holds)."""
    match node:
        case ast.Attribute(value=subject, attr="is_cuda" | "is_cpu" as name):
            return subject, name == "is_cpu", True
        case ast.Compare(
            left=ast.Attribute(value=ast.Attribute(value=subject, attr="device"), attr="type"),
            ops=[ast.Eq() | ast.NotEq() as op],
            comparators=[ast.Constant(value="cpu" | "cuda" as word)],
        ):
            return subject, word == "cpu", isinstance(op, ast.Eq)
        case ast.Compare(
            left=ast.Attribute(value=subject, attr="device"),
            ops=[ast.Eq() | ast.NotEq() as op],
            comparators=[
                ast.Call(func=ast.Attribute(value=ast.Name(id="torch"), attr="device"), args=[ast.Constant(value="cpu")])
            ],
        ):
            return subject, True, isinstance(op, ast.Eq)
    return None


def looked_at(frame: Frame, node: ast.expr) -> Value:
    """The value of an expression that is asked for being None."""
    before = len(frame.summary.touched)
    value = frame.eval(node)
    if type(node) is ast.Attribute and len(frame.summary.touched) > before and node.attr in _only_asked(frame):
        frame.untouch(before)
    return value


def _only_asked(frame: Frame) -> frozenset[str]:
    """The attributes of which the function around asks nothing else; whether it is one that it sets to None tells more."""
    decl = frame.decl
    if decl is None:
        return frozenset()
    known = frame.machine.only_asked.get(decl)
    if known is None:
        known = frame.machine.only_asked[decl] = _read(decl)
    return known


def _read(decl: FunctionDecl) -> frozenset[str]:
    asked = {each.left for each in decl.every(ast.Compare) if against_none(each) is not None}
    read = (each for each in decl.every(ast.Attribute) if isinstance(each.ctx, ast.Load) and each not in asked)
    others = {each.attr for each in read}
    for each in decl.every(ast.Assign):
        if isinstance(each.value, ast.Constant) and each.value.value is None:
            others.update(target.attr for target in each.targets if isinstance(target, ast.Attribute))
    return frozenset(each.attr for each in asked if isinstance(each, ast.Attribute)) - others
