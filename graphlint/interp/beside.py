"""Conditions that ask whether a tensor is where something else is: where it is, it has been moved.

if self.table.device != x.device:
    self.table = self.table.to(x.device)
return self.table                               # on the device, either way
"""

from __future__ import annotations

import ast

from graphlint.interp.conditions import Arm, Test
from graphlint.interp.frame import Frame
from graphlint.interp.mutation import path_of
from graphlint.types import Confidence
from graphlint.values import DeviceValue, Place, Tensor, Value, join_all, members


def beside(frame: Frame, node: ast.Compare, outcome: Test) -> Test:
    """What a condition says, with what an attribute is where it is on the device."""
    match node:
        case ast.Compare(left=left, ops=[ast.Eq() | ast.NotEq() as op], comparators=[right]):
            for one, other in ((left, right), (right, left)):
                subject = one.value if isinstance(one, ast.Attribute) and one.attr == "device" else None
                moved = _moved(frame, subject, other) if isinstance(subject, ast.Attribute) else None
                if moved is not None:
                    return _told(outcome, isinstance(op, ast.Eq), moved)
    return outcome


def _told(outcome: Test, holds: bool, moved: dict[str, Value]) -> Test:
    true, false, moves = outcome
    if holds:
        return Test(Arm(true.live, {**true.facts, **moved}), false, moves)
    return Test(true, Arm(false.live, {**false.facts, **moved}), moves)


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
