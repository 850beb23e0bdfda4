"""What a number or a flag that calls move on picks out of several: every replay has what the capture picked.

row = self.rows[self.turn % 2]
mean = self.even if self.is_even else self.odd
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from graphlint.events import FrozenScalar
from graphlint.interp.frame import Frame
from graphlint.interp.objects import is_module
from graphlint.syntax import last_called, walk
from graphlint.types import Confidence
from graphlint.values import (
    ExternalObject,
    Function,
    Instance,
    Number,
    Opaque,
    Origin,
    Value,
    join_all,
    members,
    tensors_in,
)


def picked(frame: Frame, found: Value, node: ast.Subscript) -> Value:
    """What an index that calls move on takes out of a list or a dictionary."""
    # A container that is asked how much it holds is full by the time of the capture: `self.rows[len(self.rows) - 1]`.
    if any(isinstance(each, ast.Call) and _measures(each, node) for each in walk(node.slice)):
        return found
    return moving(frame, members(found), node)


def _measures(call: ast.Call, node: ast.Subscript) -> bool:
    return last_called(call) == "len" and not _is_wrapped(call, node)


def _is_wrapped(call: ast.Call, node: ast.Subscript) -> bool:
    """Whether a length is only what an index is taken modulo of: `rows[turn % len(rows)]`."""
    parts = (each for each in walk(node.slice) if isinstance(each, ast.BinOp) and isinstance(each.op, ast.Mod))
    return any(each.right is call for each in parts)


def moving(frame: Frame, found: Sequence[Value], node: ast.AST) -> Value:
    """One of several values, where calls move on which: a number moves too, and a part of the graph is recorded."""
    if any(_is_part(frame, each) for each in found):
        frame.emit(FrozenScalar, node, Confidence.LIKELY, what="number", recorded="choice")
    return join_all([_moved(each) for each in found])


def _moved(value: Value) -> Value:
    """The value as one that calls move on; what is no tensor, and that an object was given, is as good as a number."""
    if isinstance(value, Number):
        return Number(value.kind, None, Origin.STATE)
    return Number(origin=Origin.STATE) if isinstance(value, Opaque) else value


def _is_part(frame: Frame, value: Value) -> bool:
    """Whether a value is something that kernels read or that launches them."""
    if isinstance(value, Instance):
        return is_module(frame.machine, value.decl)
    if isinstance(value, ExternalObject):
        return value.name.startswith("torch.nn.")
    return isinstance(value, Function) or next(tensors_in(value, 1), None) is not None
