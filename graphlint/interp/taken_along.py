"""Plain tensor attributes that move with their module, because its class says so in an `_apply` of its own.

`nn.Module._apply` is what `to`, `cuda` and `float` come down to; it moves parameters and buffers only.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeGuard

from graphlint.project import ClassDecl, FunctionDecl, Project
from graphlint.syntax import last
from graphlint.values import Place, Seq, Table, Tensor, Value, join_all, members, tensors_in


def along(project: Project, decl: ClassDecl, name: str, value: Value) -> Value:
    """What an attribute holds once its module has moved to the device."""
    if any(map(_is_host, members(value))):
        return _moved(value) if any(_takes(each, name) for each in _applied(project, decl)) else value
    if any(isinstance(each, (Seq, Table)) and any(map(_is_host, tensors_in(each))) for each in members(value)):
        return _moved(value) if any(_puts(each, name) for each in _applied(project, decl)) else value
    return value


def _applied(project: Project, decl: ClassDecl) -> Iterator[FunctionDecl]:
    """Every `_apply` of a class and its bases in the tree."""
    for base in project.mro(decl):
        symbol = base.members.get("_apply", [None])[-1] if isinstance(base, ClassDecl) else None
        if isinstance(base, ClassDecl) and isinstance(symbol, ast.FunctionDef):
            yield base.module.function(symbol, base, "_apply")


def _takes(function: FunctionDecl, name: str) -> bool:
    """Whether `_apply` sets the attribute anew, or any attribute by a variable name."""
    return any(_by_name(call) for call in function.every(ast.Call)) or _sets(function, name)


def _puts(function: FunctionDecl, name: str) -> bool:
    """Whether `_apply` puts anew what a container holds: `self.states[key] = fn(held)`."""
    return any(
        isinstance(target, ast.Subscript) and last(target.value) == name and isinstance(node.value, FRESH)
        for node in function.every(ast.Assign)
        for target in node.targets
    )


FRESH = (ast.Call, ast.ListComp)


def _by_name(call: ast.Call) -> bool:
    """`setattr(module, key, fn(held))`."""
    match call:
        case ast.Call(func=ast.Name(id="setattr"), args=[_, ast.Name(), _]):
            return True
    return False


def _sets(function: FunctionDecl, name: str) -> bool:
    return any(
        isinstance(target, ast.Attribute) and target.attr == name and isinstance(node.value, ast.Call)
        for node in function.every(ast.Assign)
        for target in node.targets
    )


def _moved(value: Value) -> Value:
    return join_all([_on_device(each) for each in members(value)])


def _on_device(value: Value) -> Value:
    if isinstance(value, Table):
        entries = tuple((key, _moved(each)) for key, each in value.items)
        return Table(entries, None if value.rest is None else _moved(value.rest))
    if isinstance(value, Seq):
        items = None if value.items is None else tuple(_moved(each) for each in value.items)
        return Seq(value.form, items, None if value.rest is None else _moved(value.rest))
    return value.replace(place=Place.DEVICE) if _is_host(value) else value


def _is_host(value: Value) -> TypeGuard[Tensor]:
    return isinstance(value, Tensor) and value.place is Place.HOST
