"""Tensors that one arm of an `if` moves to the device and the other leaves where they are.

mask = torch.ones(n)
if mask.ndim == 2:
    mask = mask.to(x.device)       # the copy is found here
return x[mask.bool()]              # on the host only where the test fails

Whoever writes this knows when the move is needed.  What stays on the host is no more than possible further down, and the
cure of the move, to build the tensor on the device, cures the rest too.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from graphlint.interp.frame import Frame, State
from graphlint.syntax import walk
from graphlint.types import Confidence
from graphlint.values import Place, Tensor, Value, join_all, members


def doubt_left_behind(frame: Frame, node: ast.If, before: dict[str, Value], ends: Sequence[State]) -> None:
    """Lower, behind an `if`, what is left on the host of variables that one of its arms moves to the device."""
    if len(ends) != 2 or not (ends[0].live and ends[1].live):
        return
    for name, value in _rebound(node):
        known, one, other = before.get(name), ends[0].env.get(name), ends[1].env.get(name)
        if known is None or one is None or other is None or one is other or not _is_left(known, one, other):
            continue
        if _reads(value, name):
            frame.env[name] = join_all([_doubted(member) for member in members(frame.env[name])])


def doubt_kept(node: ast.IfExp, found: list[Value]) -> list[Value]:
    """The same for `mask.to(x.device) if mask.ndim == 2 else mask`."""
    if len(found) != 2 or found[0] is found[1]:
        return found
    for kept, moved, part, name in ((1, 0, node.body, node.orelse), (0, 1, node.orelse, node.body)):
        if type(name) is ast.Name and type(part) is ast.Call and _is_left(found[kept], found[kept], found[moved]):
            if _reads(part, name.id):
                found[kept] = join_all([_doubted(member) for member in members(found[kept])])
    return found


def _reads(node: ast.Call, name: str) -> bool:
    return any(isinstance(each, ast.Name) and each.id == name for each in walk(node))


def _rebound(node: ast.If) -> Iterator[tuple[str, ast.Call]]:
    """Variables that an arm binds to what a call gives, `x = x.to(device)`, `x = move(x, device)`, with the call."""
    for body in (node.body, node.orelse):
        for statement in body:
            if type(statement) is ast.Assign and type(statement.value) is ast.Call:
                target = statement.targets[-1]
                if type(target) is ast.Name:
                    yield target.id, statement.value


def _is_left(before: Value, one: Value, other: Value) -> bool:
    """Whether a tensor that was on the host is on the device behind one arm, and as it was behind the other."""
    if Place.HOST not in _places(before):
        return False
    moved, left = (one, other) if Place.HOST not in _places(one) else (other, one)
    return _places(moved) == {Place.DEVICE} and set(members(left)) <= set(members(before))


def _places(value: Value) -> set[Place]:
    return {member.place for member in members(value) if isinstance(member, Tensor)}


def _doubted(value: Value) -> Value:
    is_left = isinstance(value, Tensor) and value.place is Place.HOST
    return value.replace(sure=Confidence.POSSIBLE) if is_left else value
