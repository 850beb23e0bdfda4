"""Tensors that get another memory in a region: `self.last.data = y`, `self.last.set_(y)`.

A replay reads and writes the memory of the capture, whatever the tensor was given since.  Measured on an H200 with torch
2.11: a state that was moved on either way went wrong with the second replay.
"""

from __future__ import annotations

import ast

from graphlint.events import Rebound
from graphlint.interp.frame import Frame
from graphlint.syntax import last_called, spelled
from graphlint.types import Confidence
from graphlint.values import Place, Tensor, Value, tensors_in

LASTING = frozenset({"buffer", "state"})
"""Not parameters: their places are changed with such as stay, when weights are merged, sliced or brought in."""
CONVERTING = frozenset({"to", "type", "type_as", "contiguous", "float", "half", "bfloat16", "cuda", "double"})
"""Methods that give the tensor itself as soon as it is what they make of it."""


def exchanged(frame: Frame, tensor: Value, named: ast.expr, value: Value, node: ast.AST) -> None:
    """Tell that a tensor which outlives the region is given the memory of another one."""
    if not isinstance(tensor, Tensor) or tensor.role not in LASTING or not frame.recording or frame.summary.decl is None:
        return
    moving = [each.sure for each in tensors_in(value, 2) if each.place is not Place.HOST and not each.role]
    if moving and not _is_converted(node, named):
        sure = min(Confidence.LIKELY, tensor.sure, max(moving))
        frame.emit(Rebound, node, sure, target=spelled(named), buffer=tensor.role == "buffer")


def _is_converted(node: ast.AST, named: ast.expr) -> bool:
    """Whether a tensor is only given its own values in another form: `w.data = w.data.contiguous()`."""
    given = node.value if isinstance(node, ast.Assign) else None
    is_method = isinstance(given, ast.Call) and isinstance(given.func, ast.Attribute) and last_called(given) in CONVERTING
    return is_method and spelled(given.func.value).removesuffix(".data") == spelled(named)  # type: ignore[union-attr]
