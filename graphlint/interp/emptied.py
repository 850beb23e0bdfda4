"""Caches that last for one call only: what each `forward` sets to None again is filled anew in the next one."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphlint.interp.binding import own_name
from graphlint.project import ClassDecl, Project

DEEPEST = 4
"""Methods that call one another on the way to the assignment."""


def empties(project: Project, decl: ClassDecl, name: str, method: str = "forward", depth: int = DEEPEST) -> bool:
    """Whether a method of a class, as its objects have it, sets an attribute to None whatever happens."""
    found = project.member(decl, method)
    symbol = found[1][-1] if found is not None else None
    if found is None or not isinstance(symbol, ast.FunctionDef) or depth == 0:
        return False
    receiver = own_name(found[0].module.function(symbol, found[0], method))
    return _Search(project, decl, name, receiver, depth).always(symbol.body)


class _Search:
    """A look for one assignment in the body of one method."""

    __slots__ = ("decl", "depth", "name", "project", "receiver")

    def __init__(self, project: Project, decl: ClassDecl, name: str, receiver: str, depth: int) -> None:
        self.project = project
        self.decl = decl
        self.name = name
        self.receiver = receiver
        self.depth = depth

    def always(self, body: Iterable[ast.stmt]) -> bool:
        return any(self._does(statement) for statement in body)

    def _does(self, statement: ast.stmt) -> bool:
        match statement:
            case ast.Assign(targets=targets, value=ast.Constant(value=None)) if any(map(self._is_meant, targets)):
                return True
            case ast.If(body=body, orelse=orelse):
                return self.always(body) and self.always(orelse)
            case ast.With(body=body) | ast.Try(body=body):
                return self.always(body)
            case ast.Expr(value=value) | ast.Assign(value=value) | ast.Return(value=value):
                return self._calls(value)
        return False

    def _is_meant(self, target: ast.expr) -> bool:
        match target:
            case ast.Attribute(value=ast.Name(id=owner), attr=attr):
                return owner == self.receiver and attr == self.name
        return False

    def _calls(self, value: ast.expr | None) -> bool:
        match value:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=owner), attr=attr)) if owner == self.receiver:
                return empties(self.project, self.decl, self.name, attr, self.depth - 1)
        return False
