"""Attributes that are only asked for being None: that reads nothing of what they hold.

if self.last is None: print("first")        # after the warm-up, every call goes the same way
self.last = x * 2                           # and nobody reads what the call before has left
"""

from __future__ import annotations

import ast

from graphlint.interp.frame import Frame
from graphlint.project import FunctionDecl
from graphlint.syntax import walk
from graphlint.values import Value


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
    asked = {each.left for each in walk(decl.node) if isinstance(each, ast.Compare) and asks_for_none(each)}
    others: set[str] = set()
    for each in walk(decl.node):
        if isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Load) and each not in asked:
            others.add(each.attr)
        elif isinstance(each, ast.Assign) and isinstance(each.value, ast.Constant) and each.value.value is None:
            others.update(target.attr for target in each.targets if isinstance(target, ast.Attribute))
    return frozenset(each.attr for each in asked if isinstance(each, ast.Attribute)) - others


def asks_for_none(node: ast.Compare) -> bool:
    """`x is None`, `x is not None`."""
    match node:
        case ast.Compare(ops=[ast.Is() | ast.IsNot()], comparators=[ast.Constant(value=None)]):
            return True
    return False
