"""Positions and lengths in an index that calls move on: they are recorded as they stand at capture."""

from __future__ import annotations

import ast

from graphlint.events import FrozenScalar
from graphlint.interp.frame import Frame
from graphlint.site_events import GrowingState
from graphlint.syntax import spelled, walk
from graphlint.types import Confidence
from graphlint.values import Number, Origin, Place, SliceValue, Tensor, Value, members

KEPT = ("buffer", "parameter", "state")
"""The roles of tensors that outlive the call."""


def note_bounds(frame: Frame, tensor: Tensor, parts: list[Value], node: ast.AST) -> None:
    """A position that other calls move is recorded where it stands; a slice up to it has another length in each call."""
    if tensor.place is not Place.DEVICE:
        return
    for part in parts:
        bounds = [moves(each) for each in ((part.low, part.high) if isinstance(part, SliceValue) else (part,))]
        if any(bounds):
            frame.emit(FrozenScalar, node, Confidence.LIKELY, what="number")
            if bounds[1:] == [True] and not bounds[0] and _is_read_up_to(tensor, node):
                frame.emit(GrowingState, node, Confidence.LIKELY, target=spelled(node), is_cut=True)
            return


def _is_read_up_to(tensor: Tensor, node: ast.AST) -> bool:
    """`self.keys[:, : self.used]`: part of what an object keeps, and no window at the end of what a call was given."""
    if not isinstance(node, ast.Subscript) or not isinstance(node.ctx, ast.Load):
        return False
    base: ast.expr = node.value
    while isinstance(base, ast.Subscript):
        base = base.value
    if tensor.role not in KEPT and not isinstance(base, ast.Attribute):
        return False
    return not any(isinstance(each, ast.Slice) and isinstance(each.upper, ast.UnaryOp) for each in walk(node.slice))


def note_narrowed(frame: Frame, length: Value | None, node: ast.AST) -> None:
    """The same of `narrow`, by its last argument."""
    if length is not None and moves(length) and isinstance(node, ast.Call):
        frame.emit(GrowingState, node, Confidence.LIKELY, target=spelled(node), is_cut=True)


def moves(value: Value) -> bool:
    """Whether a value is a number that calls move on."""
    return any(isinstance(member, Number) and member.origin is Origin.STATE for member in members(value))
