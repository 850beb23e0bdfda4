"""Conditions that ask whether a tensor is where something else is: where it is, it has been moved.

if self.table.device != x.device:
    self.table = self.table.to(x.device)
return self.table                               # on the device, either way
"""

from __future__ import annotations

import ast

from graphlint.interp.frame import Frame
from graphlint.interp.mutation import path_of
from graphlint.types import Confidence
from graphlint.values import DeviceValue, Place, Tensor, Value, join_all, members


def beside(frame: Frame, node: ast.Compare) -> tuple[bool, dict[str, Value]] | None:
    """(whether a condition holds where an attribute is on the device, what it is then); None if it asks for neither."""
    match node:
        case ast.Compare(left=left, ops=[ast.Eq() | ast.NotEq() as op], comparators=[right]):
            for one, other in ((left, right), (right, left)):
                subject = one.value if isinstance(one, ast.Attribute) and one.attr == "device" else None
                moved = _moved(frame, subject, other) if isinstance(subject, ast.Attribute) else None
                if moved is not None:
                    return isinstance(op, ast.Eq), moved
    return None


def _moved(frame: Frame, subject: ast.expr, other: ast.expr) -> dict[str, Value] | None:
    path, there = path_of(subject), members(frame.eval(subject))
    if path is None or not any(isinstance(each, Tensor) and each.place is Place.HOST for each in there):
        return None
    if not all(isinstance(each, DeviceValue) and each.place is Place.DEVICE for each in members(frame.eval(other))):
        return None
    return {path: join_all([_there(each) for each in there])}


def _there(value: Value) -> Value:
    if not isinstance(value, Tensor) or value.place is not Place.HOST:
        return value
    return value.replace(place=Place.DEVICE, sure=Confidence.LIKELY)
