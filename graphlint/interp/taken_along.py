"""Plain tensor attributes that move with their module, because its class says so in an `_apply` of its own.

`nn.Module._apply` is what `to`, `cuda` and `float` come down to; it moves parameters and buffers only.
"""

from __future__ import annotations

import ast
from typing import TypeGuard

from graphlint.project import ClassDecl, FunctionDecl, Project
from graphlint.values import Place, Tensor, Value, join_all, members


def along(project: Project, decl: ClassDecl, name: str, value: Value) -> Value:
    """What an attribute holds once its module has moved to the device."""
    if not any(map(_is_host, members(value))):
        return value
    return _moved(value) if _takes(project, decl, name) else value


def _takes(project: Project, decl: ClassDecl, name: str) -> bool:
    """Whether one of the classes sets the attribute anew in `_apply`, or any attribute by a variable name."""
    for base in project.mro(decl):
        symbol = base.members.get("_apply", [None])[-1] if isinstance(base, ClassDecl) else None
        if isinstance(base, ClassDecl) and isinstance(symbol, ast.FunctionDef):
            function = base.module.function(symbol, base, "_apply")
            if any(_by_name(call) for call in function.every(ast.Call)) or _sets(function, name):
                return True
    return False


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
    return join_all([each.replace(place=Place.DEVICE) if _is_host(each) else each for each in members(value)])


def _is_host(value: Value) -> TypeGuard[Tensor]:
    return isinstance(value, Tensor) and value.place is Place.HOST
