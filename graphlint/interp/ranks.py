"""What code proves of the ranks of tensors: `if x.ndim == 2:`, `assert x.dim() == 3`, `batch, length = x.shape`.

What an index says of that which it is looked up in.
"""

from __future__ import annotations

import ast

from graphlint.interp.frame import Frame
from graphlint.interp.mutation import path_of
from graphlint.modules import once_a_module
from graphlint.project import Module
from graphlint.syntax import COMPARISONS, last, last_called, spelled
from graphlint.types import Confidence
from graphlint.values import Kind, Nothing, Number, Place, Seq, SliceValue, Tensor, Value, join_all, members


def asked_rank(frame: Frame, node: ast.expr) -> tuple[str, Value | None, Value | None] | None:
    """(the variable, what it is where a test of its rank holds, and where it does not); None for another test.

    A part is None where no tensor of a known rank gets there.
    """
    match node:
        case ast.Compare(left=left, ops=[op], comparators=[ast.Constant(value=int(wanted))]) if type(op) in COMPARISONS:
            subject = _of_rank(left)
        case _:
            return None
    path = None if subject is None else path_of(subject)
    if subject is None or path is None:
        return None
    value = frame.eval(subject)
    if not any(isinstance(member, Tensor) for member in members(value)):
        return None
    holds = [_where(member, type(op), wanted, True) for member in members(value)]
    fails = [_where(member, type(op), wanted, False) for member in members(value)]
    return path, _joined(holds), _joined(fails)


def _of_rank(node: ast.expr) -> ast.expr | None:
    """The tensor whose rank an expression is: `x.ndim`, `x.dim()`, `len(x.shape)`, `len(x.size())`."""
    match node:
        case ast.Attribute(value=subject, attr="ndim"):
            return subject
        case ast.Call(func=ast.Attribute(value=subject, attr="dim" | "ndimension"), args=[], keywords=[]):
            return subject
        case ast.Call(func=ast.Name(id="len"), args=[shape]):
            return _of_shape(shape)
    return None


def _of_shape(node: ast.expr) -> ast.expr | None:
    match node:
        case ast.Attribute(value=subject, attr="shape"):
            return subject
        case ast.Call(func=ast.Attribute(value=subject, attr="size"), args=[], keywords=[]):
            return subject
    return None


def _where(member: Value, op: type[ast.cmpop], wanted: int, holds: bool) -> Value | None:
    """One of the values where the test holds, or where it fails; None if it cannot be there."""
    if isinstance(member, Nothing):
        return None
    if not isinstance(member, Tensor):
        return member
    if member.rank is not None:
        return member if COMPARISONS[op](member.rank, wanted) is holds else None
    proves = (op is ast.Eq and holds) or (op is ast.NotEq and not holds)
    return member.replace(rank=wanted) if proves else member


def _joined(found: list[Value | None]) -> Value | None:
    kept = [value for value in found if value is not None]
    return join_all(kept) if kept else None


def note_unpacked(frame: Frame, node: ast.Assign) -> None:
    """Remember, behind `batch, length = x.shape`, the rank that `x` must have."""
    target, subject = node.targets[-1], _of_shape(node.value)
    if not isinstance(target, (ast.Tuple, ast.List)) or not isinstance(subject, ast.Name):
        return
    value = frame.env.get(subject.id)
    if value is None or any(isinstance(part, ast.Starred) for part in target.elts):
        return
    rank = len(target.elts)
    if any(isinstance(member, Tensor) and member.rank is None for member in members(value)):
        frame.env[subject.id] = join_all([_of(member, rank) for member in members(value)])


def _of(member: Value, rank: int) -> Value:
    return member.replace(rank=rank) if isinstance(member, Tensor) and member.rank is None else member


def is_of_array(index: Value, written: ast.expr) -> bool:
    """Whether an index has a list of numbers beside a slice, `x[:, [0, 2]]`, which only arrays of some kind take."""
    if not isinstance(written, ast.Tuple) or not isinstance(index, Seq) or index.items is None:
        return False
    cuts = any(isinstance(part, SliceValue) for part in index.items)
    return cuts and any(
        isinstance(part, Seq) and part.form == "list" and all(isinstance(each, Number) for each in members(part.element()))
        for part in index.items
    )


def is_sure_mask(part: Value) -> bool:
    """Whether a component of an index is surely a mask on the device: what it selects from is a tensor there."""
    found = [each for each in members(part) if not isinstance(each, Nothing)]
    return all(
        isinstance(each, Tensor)
        and each.place is Place.DEVICE
        and each.kind is Kind.BOOL
        and each.rank != 0
        and each.sure is Confidence.CERTAIN
        for each in found
    ) and bool(found)


BYTES = ("torch.uint8", "torch.ByteTensor")
BYTE_WORDS = ("uint8", ".byte(", "ByteTensor")


@once_a_module
def _speaks_of_bytes(module: Module) -> bool:
    return any(word in module.source.text for word in BYTE_WORDS)


def is_of_bytes(frame: Frame, place: ast.AST) -> bool:
    """Whether an index is made of bytes, where it stands or where this function binds it: it selects by truth, as masks do.

    `x[(x > 0).to(torch.uint8)]`, `keep = a.byte()`.  The type of an integer is not followed; this is read off the code.
    """
    if not _speaks_of_bytes(frame.module):
        return False
    if not isinstance(place, ast.Name):
        return _makes_bytes(place)
    made = frame.summary.decl.every(ast.Assign) if frame.summary.decl is not None else []
    values = [each.value for each in made if any(isinstance(to, ast.Name) and to.id == place.id for to in each.targets)]
    return bool(values) and all(map(_makes_bytes, values))


def _makes_bytes(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call):
        return False
    given = [*node.args, *(word.value for word in node.keywords if word.arg == "dtype")]
    return last_called(node) == "byte" or (
        last_called(node) in ("to", "type") and any(spelled(each) in BYTES or last(each) == "uint8" for each in given)
    )


def one_index(tensor: Tensor) -> Confidence | None:
    """How sure it is that a tensor is one integer: Python refuses any other, and the container is not what was thought."""
    if tensor.rank == 1 and tensor.kind is Kind.INT:
        return min(tensor.sure, Confidence.LIKELY)  # a row of one number, as `nonzero` gives them
    if tensor.rank not in (None, 0) or tensor.kind not in (Kind.INT, Kind.ANY):
        return None
    return tensor.sure if tensor.rank == 0 else Confidence.POSSIBLE
