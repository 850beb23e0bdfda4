"""Attributes that a method moves on by way of a variable: `end = self.at + n`, and `self.at = end` further down."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from graphlint.syntax import spelled, walk


def moved_by_way(statements: Sequence[ast.AST]) -> Iterator[str]:
    """The attributes that are bound to a variable which was computed from them, or computed from such a variable.

    One that is bound to a variable that has its old value is put back, and so not moved on.
    """
    stores = list(_stores(statements))
    if not any(_names(value) for _, value in stores):
        return
    held = _held(statements)
    back = {name for name, value in stores if isinstance(value, ast.Name) and held.get(value.id, {}).get(name) is False}
    for name, value in stores:
        if name not in back and _reads(value, held).get(name):
            yield name.partition(".")[2]


def _stores(statements: Sequence[ast.AST]) -> Iterator[tuple[str, ast.expr]]:
    """What is bound to a variable or a sum, as it is written: `self.at`."""
    for each in statements:
        match each:
            case ast.Assign(targets=[ast.Attribute(value=ast.Name()) as target], value=ast.Name() | ast.BinOp() as value):
                yield spelled(target), value


def _held(statements: Sequence[ast.AST]) -> dict[str, dict[str, bool]]:
    """By variable: the attributes it was computed from, and whether more than their value is in it."""
    held: dict[str, dict[str, bool]] = {}
    for each in statements:
        match each:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Attribute() | ast.BinOp() as value):
                held.setdefault(name, {}).update(_reads(value, held))
    return held


def _reads(value: ast.expr, held: dict[str, dict[str, bool]]) -> dict[str, bool]:
    is_more = isinstance(value, ast.BinOp)
    found = {spelled(each): is_more for each in walk(value) if isinstance(each, ast.Attribute)}
    for name in _names(value):
        found.update({attr: is_more or known for attr, known in held.get(name, {}).items()})
    return found


def _names(value: ast.expr) -> list[str]:
    return [each.id for each in walk(value) if isinstance(each, ast.Name)]
