"""Operands and bounds: host values taken once, when a kernel is recorded, and tensors that texts and counts take in."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphlint.events import FrozenScalar, HostArgument, HostFormat
from graphlint.interp.frame import Frame
from graphlint.site_events import GrowingState
from graphlint.syntax import spelled, stands_in, walk
from graphlint.types import Confidence, Target
from graphlint.values import MOVED, REFILLED, Number, Origin, Place, SliceValue, Tensor, Value, members, tensors_in

CHANGING = frozenset({"input", REFILLED})
"""Roles of host tensors that hold something else in the next call."""
KEPT = ("buffer", "parameter", "state")
"""The roles of tensors that outlive the call."""


def note_frozen(frame: Frame, operands: Iterable[Value], node: ast.AST) -> bool:
    """A host scalar from outside the region meets a device tensor: a kernel takes its value, once, at capture.

    Of a number it is only known that other methods write it; whether the region does is seen when it is read out.
    Gives whether there is such a scalar.
    """
    values = list(operands)
    tensors = [each for each in values if isinstance(each, Tensor)]
    if not any(each.place is Place.DEVICE for each in tensors):
        return False
    hosted = [each for each in tensors if each.place is Place.HOST and each.role]
    frozen = next((each for each in hosted if each.role in CHANGING), None)
    if frozen is not None:
        frame.emit(FrozenScalar, node, frozen.sure, what="host tensor")
        return True
    if any(each.role == "state" and _is_kept(each) for each in hosted):
        # What nobody changes is recorded as it is; compiled code copies it all the same.
        live, frame.live = frame.live, frame.live & Target.COMPILE
        frame.emit(FrozenScalar, node, what="host tensor")
        frame.live = live
        return True
    counted = any(each.role == MOVED for each in hosted) or any(
        isinstance(each, Number) and each.origin is Origin.STATE for each in values
    )
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


def note_bounds(frame: Frame, tensor: Tensor, parts: list[Value], node: ast.AST) -> None:
    """A position that other calls move is recorded where it stands; a slice up to it has another length in each call."""
    if tensor.place is not Place.DEVICE:
        return
    for part in parts:
        bounds = [moves(each) for each in ((part.low, part.high) if isinstance(part, SliceValue) else (part,))]
        if any(bounds):
            frame.emit(FrozenScalar, node, Confidence.LIKELY, what="number")
            is_cut = bounds[1:] == [True] and not bounds[0]
            if is_cut and isinstance(node, ast.Subscript) and _is_read_up_to(tensor, node):
                frame.emit(GrowingState, node, Confidence.LIKELY, target=spelled(node), is_cut=True)
            return


def _is_read_up_to(tensor: Tensor, node: ast.Subscript) -> bool:
    """`self.keys[:, : self.used]`: part of what an object keeps, and no window at the end of what a call was given."""
    if not isinstance(node.ctx, ast.Load):
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


def taken(owner: Tensor, found: Value) -> Value:
    """What a position that calls move on takes out of a tensor: on the host, another number in every call."""
    return found.replace(role=MOVED) if owner.place is Place.HOST and type(found) is Tensor else found


def note_read_out(frame: Frame, value: Value | None, node: ast.AST) -> None:
    """`gain.item()` of a host tensor that a region is given: the number is the one of the capture.

    What a condition asks for may only be checked, and says nothing of what is computed.
    """
    given = [each for each in tensors_in(value) if each.place is Place.HOST and each.role in CHANGING] if value else []
    if given and max(each.sure for each in given) > Confidence.POSSIBLE and not _is_checked(frame, node):
        live, frame.live = frame.live, frame.live & Target.GRAPH
        frame.emit(FrozenScalar, node, max(each.sure for each in given), what="host tensor")
        frame.live = live


def _is_checked(frame: Frame, node: ast.AST) -> bool:
    decl = frame.summary.decl
    if decl is None:
        return False
    asked = [*(each.test for each in decl.every(ast.If)), *(each.test for each in decl.every(ast.Assert))]
    return any(stands_in((each,), node) for each in asked)
