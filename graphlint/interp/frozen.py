"""Operands: host values that a kernel takes once, when it is recorded, and tensors that texts and counts take in."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphlint.events import FrozenScalar, HostArgument, HostFormat
from graphlint.interp.frame import Frame
from graphlint.types import Confidence, Target
from graphlint.values import MOVED, REFILLED, Number, Origin, Place, Tensor, Value, tensors_in

CHANGING = frozenset({"input", REFILLED})
"""Roles of host tensors that hold something else in the next call."""


def note_frozen(frame: Frame, operands: Iterable[Value], node: ast.AST) -> bool:
    """A host scalar from outside the region meets a device tensor: a kernel takes its value, once, at capture.

    Of a number it is only known that other methods write it; whether the region does is seen when it is read out.
    Gives whether there is such a scalar.
    """
    values = list(operands)
    tensors = [each for each in values if isinstance(each, Tensor)]
    if not any(each.place is Place.DEVICE for each in tensors):
        return False
    frozen = next((each for each in tensors if each.place is Place.HOST and each.role in CHANGING), None)
    if frozen is not None:
        frame.emit(FrozenScalar, node, frozen.sure, what="host tensor")
        return True
    if any(each.place is Place.HOST and each.role == "state" and _is_kept(each) for each in tensors):
        # What nobody changes is recorded as it is; compiled code copies it all the same.
        live, frame.live = frame.live, frame.live & Target.COMPILE
        frame.emit(FrozenScalar, node, what="host tensor")
        frame.live = live
        return True
    counted = any(each.place is Place.HOST and each.role == MOVED for each in tensors)
    counted = counted or any(isinstance(each, Number) and each.origin is Origin.STATE for each in values)
    if counted:
        frame.emit(FrozenScalar, node, Confidence.LIKELY, what="number")
    return counted


def _is_kept(tensor: Tensor) -> bool:
    """Whether it is sure that a tensor without dimensions is still where its object was made."""
    return tensor.rank == 0 and tensor.sure is Confidence.CERTAIN


def note_formatted(frame: Frame, op: ast.operator, value: Value, node: ast.AST) -> None:
    """`"mean %s" % x.mean()` copies the tensor to the host."""
    for tensor in tensors_in(value) if isinstance(op, ast.Mod) else ():
        if tensor.place is Place.DEVICE:
            frame.emit(HostFormat, node, tensor.sure, construct="%")


def note_repeated(frame: Frame, op: ast.operator, left: Value, right: Value, node: ast.AST) -> None:
    """`[0] * n`: how often a list or a text is repeated is a number on the host.

    Of one that is written out: what a hint says is a list may as well be a tensor.
    """
    if not isinstance(op, ast.Mult) or not isinstance(node, ast.BinOp):
        return
    written = _is_repeated(node.left) or _is_repeated(node.right)
    count = next((each for each in (left, right) if isinstance(each, Tensor)), None)
    if written and count is not None and count.place is Place.DEVICE:
        frame.emit(HostArgument, node, min(count.sure, Confidence.LIKELY), call="*", argument="count")


def _is_repeated(node: ast.expr) -> bool:
    text = isinstance(node, ast.Constant) and isinstance(node.value, str)
    return text or isinstance(node, (ast.List, ast.Tuple, ast.ListComp, ast.JoinedStr))
