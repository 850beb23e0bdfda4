"""Sets that are told the same on every call: what a replay does not add has been there since the capture."""

from __future__ import annotations

import ast

from graphlint.interp.frame import Frame
from graphlint.interp.members import methods
from graphlint.outline import mentions
from graphlint.syntax import walk
from graphlint.values import Instance, Nothing, Number, Origin, Seq, Text, Value, members

TAKING = ("clear", "discard", "pop", "remove")


def adds_for_good(frame: Frame, container: Seq, value: Value, node: ast.AST) -> bool:
    """Whether a call adds to a set what every call of the same shapes adds, and no method of its owner takes out."""
    if container.form != "set" or not _is_constant(value):
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
    """Whether a method of an object may take something out of its set, or bind it anew."""
    named = (method for _, method in methods(frame.machine, owner.decl) if mentions(method, f".{name}"))
    return any(method.name != "__init__" and any(_changes(each, name) for each in walk(method)) for method in named)


def _changes(node: ast.AST, name: str) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Attribute(attr=attr), attr=verb)) if verb in TAKING:
            return attr == name
        case ast.Attribute(attr=attr, ctx=ast.Store() | ast.Del()):
            return attr == name
    return False
