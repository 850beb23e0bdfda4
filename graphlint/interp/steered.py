"""Branches that a number decides which calls move on: a replay goes the way of the capture for ever."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from graphlint.events import FrozenScalar
from graphlint.interp.frame import Frame
from graphlint.syntax import last, stands_in
from graphlint.types import Confidence
from graphlint.values import tensors_in

TELLING = frozenset({"critical", "debug", "error", "exception", "info", "log", "print", "warn", "warning", "write"})
"""Calls that tell somebody something, and compute nothing."""


def note_steered(frame: Frame, node: ast.expr) -> None:
    """`if self.calls % 4 == 0:`, with an arm that does more than to tell somebody: the answer moves from call to call."""
    decl = frame.summary.decl
    # A function that computes with numbers alone gives one, of which is told where a kernel takes it.
    if decl is None or not any(True for each in list(frame.env.values()) for _ in tensors_in(each, 1)):
        return
    if any(stands_in((each.test,), node) and _works(each) for each in decl.every(ast.If)):
        frame.emit(FrozenScalar, node, Confidence.LIKELY, what="number", recorded="branch")


def _works(node: ast.If) -> bool:
    return not (_is_idle(node.body) and _is_idle(node.orelse))


def _is_idle(arm: Sequence[ast.stmt]) -> bool:
    """Whether an arm gives up, tells somebody something, or puts a number back: nothing that a graph would hold."""
    return all(map(_idles, arm))


def _idles(node: ast.stmt) -> bool:
    match node:
        case ast.Pass() | ast.Raise() | ast.Expr(value=ast.Constant()):
            return True
        case ast.Expr(value=ast.Call(func=func)):
            return last(func) in TELLING
        case ast.Assign(targets=[ast.Attribute()], value=ast.Constant() | ast.BinOp(right=ast.Constant())):
            return True
        case ast.AugAssign(target=ast.Attribute(), value=ast.Constant()):
            return True
        case ast.If():
            return not _works(node)
    return False
