"""Lists that a constructor leaves empty and other methods fill: they hold something by the time they are read."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from graphlint.interp.annotations import annotated
from graphlint.interp.binding import own_name, parameters
from graphlint.interp.members import methods
from graphlint.project import ClassDecl, FunctionDecl
from graphlint.values import Instance, Seq, Unknown, Value, join_all, members

if TYPE_CHECKING:
    from graphlint.interp.machine import Machine


def filled(machine: Machine, value: Instance, name: str, left: Value) -> Value:
    """An empty list with what methods append to it, as far as annotations and parameters say."""
    if not (isinstance(left, Seq) and left.form == "list" and left.items == ()):
        return left
    found = list(_appended(machine, value.decl, name))
    if not found:
        return left
    hint = _hint(machine, value.decl, name)
    return Seq("list", None, join_all(found) if hint is None else hint)


def _appended(machine: Machine, decl: ClassDecl, name: str) -> Iterator[Value]:
    for base, node in methods(machine, decl):
        function = base.module.function(node, base, node.name)
        for call in function.every(ast.Call) if node.name != "__init__" else ():
            if len(call.args) == 1 and _appends(call.func, own_name(function), name):
                yield _parameter(machine, function, call.args[0])


def _appends(func: ast.expr, owner: str, name: str) -> bool:
    match func:
        case ast.Attribute(value=ast.Attribute(value=ast.Name(id=held), attr=attr), attr="append"):
            return held == owner and attr == name
    return False


def _parameter(machine: Machine, function: FunctionDecl, given: ast.expr) -> Value:
    if isinstance(given, ast.Name):
        for arg in parameters(function):
            if arg.arg == given.id and arg.annotation is not None:
                return annotated(machine, function.module, arg.annotation, function.owner)
    return Unknown()


def _hint(machine: Machine, decl: ClassDecl, name: str) -> Value | None:
    """The element that an annotation in the body of the class gives the list."""
    found = machine.project.member(decl, name)
    symbol = found[1][-1] if found is not None else None
    if found is None or not isinstance(symbol, ast.AnnAssign):
        return None
    hint = annotated(machine, found[0].module, symbol.annotation, found[0])
    held = [each.element() for each in members(hint) if isinstance(each, Seq)]
    return join_all(held) if held else None
