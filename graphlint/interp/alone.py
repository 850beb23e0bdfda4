"""Expressions in a method with none of its variables in them, which say what they give without the method being run."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from graphlint.interp.binding import own_name
from graphlint.interp.members import late_writers
from graphlint.project import FunctionDecl
from graphlint.syntax import bound, walk
from graphlint.values import Instance, Value

if TYPE_CHECKING:
    from graphlint.interp.machine import Machine


def alone(machine: Machine, value: Instance, decl: FunctionDecl, node: ast.expr | None) -> Value | None:
    """What an expression in a method of an object gives; None if more of the method has to run for it."""
    own = own_name(decl)
    if node is None or not _stands_alone(machine, value, decl, node):
        return None
    with machine.exploring(value, {}):
        frame = machine.toplevel(decl.module)
        frame.env[own] = value
        frame.owner, frame.receiver, frame.own = decl.owner, value, own
        return frame.eval(node)


BLOCKS = (ast.With, ast.AsyncWith, ast.If, ast.While, ast.Match, ast.Try)
LEAVING = (ast.Return, ast.Raise)


def _stands_alone(machine: Machine, value: Instance, decl: FunctionDecl, node: ast.expr) -> bool:
    """Whether no variable, attribute, block around it or statement before it has a part in what an expression gives."""
    parts = list(walk(node))
    used = {each.id for each in parts if isinstance(each, ast.Name)}
    own = own_name(decl)
    if not used.isdisjoint(decl.signature.order[1:]) or not used.isdisjoint(bound(decl.node) - {own}):
        return False
    asked = {each.attr for each in parts if isinstance(each, ast.Attribute) and _is(each.value, own)}
    if any(late_writers(machine, value.decl, name) for name in asked) or not asked.isdisjoint(_stored_in(decl, own)):
        return False
    return not any(_holds(each, node) for kind in BLOCKS for each in decl.every(kind)) and not any(
        (each.lineno, each.col_offset) < (node.lineno, node.col_offset) for kind in LEAVING for each in decl.every(kind)
    )


def _is(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _holds(block: ast.AST, node: ast.expr) -> bool:
    return any(each is node for each in walk(block))


def _stored_in(decl: FunctionDecl, own: str) -> set[str]:
    """The attributes of its object that a method binds, or anything below them."""
    found: set[str] = set()
    stores: list[ast.Attribute | ast.Subscript] = [*decl.every(ast.Attribute), *decl.every(ast.Subscript)]
    for each in stores:
        if isinstance(each.ctx, ast.Store):
            found |= {part.attr for part in walk(each) if isinstance(part, ast.Attribute) and _is(part.value, own)}
    return found
