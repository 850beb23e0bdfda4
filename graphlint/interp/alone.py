"""Expressions in a method with none of its variables in them, which say what they give without the method being run."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from graphlint.interp.binding import own_name
from graphlint.project import FunctionDecl
from graphlint.syntax import bound, walk
from graphlint.values import Instance, Value

if TYPE_CHECKING:
    from graphlint.interp.machine import Machine


def alone(machine: Machine, value: Instance, decl: FunctionDecl, node: ast.expr | None) -> Value | None:
    """What an expression in a method of an object gives; None if more of the method has to run for it."""
    own = own_name(decl)
    if node is None or not _stands_alone(decl, node):
        return None
    with machine.exploring(value, {}):
        frame = machine.toplevel(decl.module)
        frame.env[own] = value
        frame.owner, frame.receiver, frame.own = decl.owner, value, own
        return frame.eval(node)


def _stands_alone(decl: FunctionDecl, node: ast.expr) -> bool:
    used = {each.id for each in walk(node) if isinstance(each, ast.Name)}
    return used.isdisjoint(decl.signature.order[1:]) and used.isdisjoint(bound(decl.node))
