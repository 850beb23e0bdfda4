"""Sets that are told the same on every call: what a replay does not add has been there since the capture."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from graphlint.interp.frame import Frame
from graphlint.interp.members import methods
from graphlint.outline import mentions
from graphlint.project import ClassDecl
from graphlint.syntax import receiver_name, walk
from graphlint.values import Instance, Nothing, Number, Origin, Seq, Text, Value, members

TAKING = (
    "clear", "difference_update", "discard", "intersection_update", "pop", "remove", "symmetric_difference_update",
)  # fmt: skip


def adds_for_good(frame: Frame, value: Value, node: ast.AST) -> bool:
    """Whether a call adds to a set what every call of the same shapes adds, and nothing near its owner takes out."""
    if not _is_constant(value):
        return False
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Attribute(value=owner, attr=name), attr="add")):
            with frame.untouched():
                owners = [each for each in members(frame.eval(owner)) if isinstance(each, Instance)]
            return bool(owners) and not any(_takes(frame, each, name) for each in owners)
    return False


def _is_constant(value: Value) -> bool:
    """Whether a key is the same on every replay and on every eager call that the replay stands for."""
    match value:
        case Seq(items=tuple(items), rest=None):
            return all(_is_constant(each) for each in items)
        case Number(origin=origin):
            return origin in (Origin.CONST, Origin.CONFIG, Origin.SHAPE)
    return isinstance(value, (Text, Nothing))


def _takes(frame: Frame, owner: Instance, name: str) -> bool:
    """Whether a method of an object, or other code of a file that its methods stand in, may take something out of a set."""
    named = (method for _, method in methods(frame.machine, owner.decl) if mentions(method, f".{name}"))
    if any(method.name != "__init__" and any(_changes(each, name) for each in walk(method)) for method in named):
        return True
    bases = [each for each in frame.machine.project.mro(owner.decl) if isinstance(each, ClassDecl)]
    own = {each.node for each in bases}
    files = dict.fromkeys(each.module for each in bases)
    beside = (each for file in files for each in file.source.tree.body if each not in own)
    return any(_changes(part, name, but) for each in beside for part, but in _parts(each, name))


def _parts(statement: ast.stmt, name: str) -> Iterator[tuple[ast.AST, str]]:
    """What stands in code beside a class and mentions an attribute, with what a method there calls its own object."""
    if not mentions(statement, f".{name}"):
        return
    for each in statement.body if isinstance(statement, ast.ClassDef) else [statement]:
        but = receiver_name(each) if isinstance(each, ast.FunctionDef) and each is not statement else ""
        for part in walk(each):
            yield part, but


def _changes(node: ast.AST, name: str, but: str = "") -> bool:
    """Whether a node takes something out of the attribute of anything but one variable, or binds it anew."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Attribute(value=owner, attr=attr), attr=verb)) if verb in TAKING:
            return attr == name and not _is(owner, but)
        case ast.Attribute(value=owner, attr=attr, ctx=ast.Store() | ast.Del()):
            return attr == name and not _is(owner, but)
    return False


def _is(owner: ast.expr, name: str) -> bool:
    return isinstance(owner, ast.Name) and owner.id == name
