"""Statements of Pythons that are newer than this: what they bind is unknown, what they do is counted as not understood."""

from __future__ import annotations

import ast

from graphlint.interp.dispatch import count_unknown
from graphlint.interp.frame import Frame
from graphlint.values import Opaque, Unknown


def run_unforeseen(frame: Frame, node: ast.stmt) -> None:
    """Bind the name of a `type X = ...`, which computes nothing; of any other, evaluate the expressions in it."""
    name = getattr(node, "name", None)
    if isinstance(name, ast.Name):
        frame.env[name.id] = Opaque()
        return
    count_unknown(frame, node)
    for each in ast.iter_child_nodes(node):
        if isinstance(each, ast.expr):
            frame.eval(each)
    for each in ast.walk(node):
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
            frame.env[each.id] = Unknown()
