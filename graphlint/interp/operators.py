"""Arithmetic, comparison and logic on abstract values."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

from graphlint.interp import specials
from graphlint.interp.conditions import test
from graphlint.interp.frame import Frame, State, expression
from graphlint.interp.frozen import note_formatted, note_frozen, note_repeated
from graphlint.interp.left_behind import doubt_kept
from graphlint.interp.untraced import array_among
from graphlint.interp.warmth import product
from graphlint.types import Confidence, Target
from graphlint.values import (
    EITHER,
    MOVED,
    REFILLED,
    Bool,
    Instance,
    Kind,
    Nothing,
    Number,
    Opaque,
    Origin,
    Place,
    Seq,
    Table,
    Tensor,
    Text,
    Union,
    Unknown,
    Value,
    join_all,
    later,
    members,
)

ARITHMETIC: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
WIDTH = {Kind.BOOL: 0, Kind.INT: 1, Kind.FLOAT: 2, Kind.COMPLEX: 3}
LARGEST_FOLD = 1 << 40


@expression(ast.BinOp)
def eval_binary(frame: Frame, node: ast.BinOp) -> Value:
    return binary(frame, node.op, frame.eval(node.left), frame.eval(node.right), node)


def binary(frame: Frame, op: ast.operator, left: Value, right: Value, node: ast.AST) -> Value:
    """The value of `left op right`."""
    if isinstance(left, Union) or isinstance(right, Union):
        pairs = [(one, other) for one in members(left) for other in members(right)]
        legal = [pair for pair in pairs if not any(isinstance(value, Nothing) for value in pair)]
        return join_all([binary(frame, op, one, other, node) for one, other in legal]) if legal else Unknown()
    note_repeated(frame, op, left, right, node)
    if isinstance(left, Text):
        note_formatted(frame, op, right, node)
        return Text()
    if isinstance(left, Instance) or isinstance(right, Instance):
        found = specials.binary(frame, op, left, right, node)
        if found is not None and not isinstance(found, Unknown):
            return found
    if isinstance(left, Tensor) or isinstance(right, Tensor):
        note_frozen(frame, (left, right), node)
        if isinstance(op, ast.MatMult):
            product(frame, left, right, node)
        return tensor_binary(op, left, right)
    if (isinstance(left, Number) and isinstance(right, (Number, Bool))) or (
        isinstance(right, Number) and isinstance(left, Bool)
    ):
        return _number(op, left, right)
    if isinstance(left, Seq):
        return _sequence(op, left, right)
    return _unknown(op, left, right)


def _unknown(op: ast.operator, left: Value, right: Value) -> Value:
    if isinstance(left, Bool) and isinstance(right, Bool):
        return _logic(op, left, right)
    if isinstance(left, Table) and isinstance(right, Table):
        return join_all([left, right])
    found = array_among(left, right)
    if found is not None:
        return found
    if isinstance(left, Unknown) or isinstance(right, Unknown):
        return Unknown()
    return Opaque()


def _logic(op: ast.operator, left: Bool, right: Bool) -> Bool:
    """`|` and `&` of flags, target by target."""
    origin = later(left.origin, right.origin)
    if isinstance(op, ast.BitOr):
        return Bool(left.true_on | right.true_on, left.false_on & right.false_on, origin)
    if isinstance(op, ast.BitAnd):
        return Bool(left.true_on & right.true_on, left.false_on | right.false_on, origin)
    return EITHER


def place_of(*values: Value) -> Place:
    """Where the result of an operation on these operands lives; host scalars go where the others are."""
    tensors = [value for value in values if isinstance(value, Tensor)]
    places = [tensor.place for tensor in tensors]
    if Place.DEVICE in places:
        return Place.DEVICE
    if any(tensor.place is Place.HOST and tensor.rank for tensor in tensors):
        return Place.HOST  # torch refuses to mix a tensor on the host that has dimensions with one on the device
    if Place.UNKNOWN in places or any(isinstance(value, Unknown) for value in values):
        return Place.UNKNOWN
    return Place.HOST if places else Place.UNKNOWN


def surest(*values: Value) -> Confidence:
    """How sure it is that a result is a tensor at its place: as sure as the surest operand that says so."""
    place = place_of(*values)
    found = [value.sure for value in values if isinstance(value, Tensor) and value.place is place]
    return max(found, default=Confidence.LIKELY)


def promoted(*values: Value) -> Kind:
    """The kind of the result by type promotion."""
    kinds = [
        value.kind if isinstance(value, (Tensor, Number)) else Kind.BOOL if isinstance(value, Bool) else Kind.ANY
        for value in values
    ]
    if Kind.ANY in kinds or not kinds:
        return Kind.FLOAT if Kind.FLOAT in kinds else Kind.ANY
    return max(kinds, key=WIDTH.__getitem__)


def tensor_binary(op: ast.operator, left: Value, right: Value) -> Value:
    """An operator with a tensor on either side."""
    kind = promoted(left, right)
    if isinstance(op, ast.Div):
        kind = Kind.FLOAT if kind in (Kind.BOOL, Kind.INT, Kind.ANY) else kind
    elif isinstance(op, (ast.BitAnd, ast.BitOr, ast.BitXor)):
        kind = _logic_kind(left, right)
    elif kind is Kind.BOOL:
        kind = Kind.INT if isinstance(op, (ast.Add, ast.Sub, ast.Mult)) and not _both_bool(left, right) else kind
    rank = product_rank(left, right) if isinstance(op, ast.MatMult) else highest_rank(left, right)
    place = place_of(left, right)
    return Tensor(place, kind, rank, surest(left, right), role_of(place, left, right))


def role_of(place: Place, *values: Value) -> str:
    """What is computed on the host of what calls move on, or are given anew, does so as well."""
    if place is not Place.HOST:
        return ""
    roles = {role_on_host(value) for value in values if isinstance(value, Tensor)}
    return MOVED if MOVED in roles else REFILLED if REFILLED in roles else ""


def role_on_host(tensor: Tensor) -> str:
    """The role of what is computed of a tensor on the host: of an argument, another number in every call."""
    if tensor.place is not Place.HOST:
        return ""
    return REFILLED if tensor.role in ("input", REFILLED) else MOVED if tensor.role == MOVED else ""


def _both_bool(left: Value, right: Value) -> bool:
    return all(isinstance(value, Tensor) and value.kind is Kind.BOOL for value in (left, right))


def _logic_kind(left: Value, right: Value) -> Kind:
    kinds = {value.kind for value in (left, right) if isinstance(value, Tensor)}
    return Kind.BOOL if Kind.BOOL in kinds and kinds <= {Kind.BOOL, Kind.ANY} else promoted(left, right)


def _number(op: ast.operator, left: Value, right: Value) -> Value:
    origin = later(_origin(left), _origin(right))
    kind = Kind.FLOAT if isinstance(op, ast.Div) else promoted(left, right)
    one, other = getattr(left, "value", None), getattr(right, "value", None)
    fold = ARITHMETIC.get(type(op))
    if one is None or other is None or fold is None:
        return Number(kind, None, origin)
    try:
        value = fold(one, other)
    except (ZeroDivisionError, OverflowError, ValueError):
        return Number(kind, None, origin)
    small = abs(value) < LARGEST_FOLD
    return Number(Kind.INT if isinstance(value, int) else Kind.FLOAT, value if small else None, origin)


def _origin(value: Value) -> Origin:
    return value.origin if isinstance(value, (Number, Bool)) else Origin.CONFIG


def _sequence(op: ast.operator, left: Seq, right: Value) -> Value:
    if isinstance(op, ast.Add) and isinstance(right, Seq):
        if left.items is not None and right.items is not None and left.rest is None and right.rest is None:
            return Seq(left.form, left.items + right.items)
        return Seq(left.form, None, join_all([left.element(), right.element()]))
    if isinstance(op, ast.Mult):
        count = right.value if isinstance(right, Number) else None
        if left.items is not None and isinstance(count, int) and 0 <= count * len(left.items) <= 16:
            return Seq(left.form, left.items * count, left.rest)
        return Seq(left.form, None, left.element())
    return Unknown() if isinstance(right, Unknown) else Opaque()


@expression(ast.UnaryOp)
def eval_unary(frame: Frame, node: ast.UnaryOp) -> Value:
    if isinstance(node.op, ast.Not):
        outcome = test(frame, node.operand, "not")
        return Bool(outcome.false.live, outcome.true.live)
    return join_all([_unary(frame, node, member) for member in members(frame.eval(node.operand))])


def _unary(frame: Frame, node: ast.UnaryOp, value: Value) -> Value:
    op = node.op
    if isinstance(value, Instance):
        return specials.special(frame, value, specials.UNARY[type(op)], (), node) or Opaque()
    if isinstance(value, Tensor):
        return value.replace(role=role_on_host(value))
    if isinstance(value, Number):
        if value.value is not None and isinstance(op, ast.USub):
            return value.replace(value=-value.value)
        return value if isinstance(op, ast.UAdd) else value.replace(value=None)
    return Unknown() if isinstance(value, Unknown) else Opaque()


@expression(ast.BoolOp)
def eval_boolean(frame: Frame, node: ast.BoolOp) -> Value:
    """`a and b` as a value: all operands but the last are asked for their truth."""
    word = "and" if isinstance(node.op, ast.And) else "or"
    before, ceiling = frame.save(), frame.ceiling
    found: list[Value] = []
    for position, operand in enumerate(node.values):
        if position == len(node.values) - 1:
            found.append(_limited(frame.eval(operand), frame.live, before.live))
            break
        value = frame.eval(operand) if not isinstance(operand, (ast.BoolOp, ast.UnaryOp)) else None
        outcome = test(frame, operand, word)
        value = Bool(outcome.true.live, outcome.false.live) if value is None else value
        going, stopped = (outcome.true, outcome.false) if word == "and" else (outcome.false, outcome.true)
        if stopped.live & frame.live:
            found.extend(_stopping(value, word, frame.live))
        if not outcome.is_static:
            frame.ceiling = min(frame.ceiling, Confidence.LIKELY)
        frame.restore(State({**frame.env, **going.facts}, going.live & frame.live))
        if not frame.live:
            break
    frame.restore(before)
    frame.ceiling = ceiling
    return join_all(found) if found else EITHER


def _stopping(value: Value, word: str, live: Target) -> list[Value]:
    """The members of an operand that can end the chain: false ones for `and`, true ones for `or`."""
    if isinstance(value, Bool):
        true, false = (value.true_on & live, Target.NONE) if word == "or" else (Target.NONE, value.false_on & live)
        return [Bool(true, false, value.origin)]
    if word == "or":
        return [member for member in members(value) if not isinstance(member, Nothing)]
    kept = (Nothing, Bool, Number, Text, Seq, Table, Unknown, Opaque, Tensor)
    return [member for member in members(value) if isinstance(member, kept)]


@expression(ast.IfExp)
def eval_conditional(frame: Frame, node: ast.IfExp) -> Value:
    outcome = test(frame, node.test, "if")
    before = frame.save()
    found, reached = [], []
    for arm, part in ((outcome.true, node.body), (outcome.false, node.orelse)):
        live = before.live & arm.live
        if live:
            reached.append(live)
            frame.restore(State({**before.env, **arm.facts}, live))
            found.append(_limited(frame.eval(part), live, before.live))
    frame.restore(before)
    frame.chosen = found = doubt_kept(node, found)
    frame.chosen_on = reached
    if outcome.moves and len(found) > 1:
        from graphlint.interp.picked import moving  # here because few conditions move on

        return moving(frame, found, node)
    return join_all(found) if found else Unknown()


def _limited(value: Value, live: Target, of: Target) -> Value:
    if isinstance(value, Bool) and live != of:
        return Bool(value.true_on & live, value.false_on & live, value.origin)
    return value


@expression(ast.NamedExpr)
def eval_walrus(frame: Frame, node: ast.NamedExpr) -> Value:
    value = frame.eval(node.value)
    if isinstance(node.target, ast.Name):
        frame.env[node.target.id] = value
    return value


def highest_rank(*values: Value) -> int | None:
    """The rank after broadcasting."""
    ranks = [value.rank for value in values if isinstance(value, Tensor)]
    if any(rank is None for rank in ranks) or any(isinstance(value, Unknown) for value in values):
        return None
    return max((rank for rank in ranks if rank is not None), default=None)


def product_rank(left: Value, right: Value) -> int | None:
    """The rank of a matrix product: a vector on either side takes a dimension away (documentation of `torch.matmul`)."""
    highest = highest_rank(left, right)
    vectors = [isinstance(value, Tensor) and value.rank == 1 for value in (left, right)]
    return None if highest is None else max(highest - sum(vectors), 0) if any(vectors) else highest
