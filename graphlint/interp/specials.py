"""Special methods: what operators, conversions and texts call on objects of the tree."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from graphlint.interp.dispatch import apply, attribute
from graphlint.interp.fields import is_record
from graphlint.interp.frame import Frame
from graphlint.interp.objects import record_of
from graphlint.values import Arguments, Function, Instance, Tensor, Text, Value, members, on_device

BINARY: dict[type[ast.operator], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "truediv",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
    ast.Pow: "pow",
    ast.MatMult: "matmul",
    ast.BitOr: "or",
    ast.BitAnd: "and",
    ast.BitXor: "xor",
    ast.LShift: "lshift",
    ast.RShift: "rshift",
}
UNARY: dict[type[ast.unaryop], str] = {ast.USub: "__neg__", ast.UAdd: "__pos__", ast.Invert: "__invert__"}
COMPARED: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Eq: ("__eq__", "__eq__"),
    ast.NotEq: ("__ne__", "__ne__"),
    ast.Lt: ("__lt__", "__gt__"),
    ast.LtE: ("__le__", "__ge__"),
    ast.Gt: ("__gt__", "__lt__"),
    ast.GtE: ("__ge__", "__le__"),
}
"""The methods of the left and of the right operand."""

TEXTS = {"repr": ("__repr__",), "ascii": ("__repr__",), "str": ("__str__", "__repr__"), "print": ("__str__", "__repr__")}
FORMATTED = ("__format__", "__str__", "__repr__")
DEEPEST = 3


def special(frame: Frame, owner: Value, name: str, given: tuple[Value, ...], node: ast.AST) -> Value | None:
    """What a special method gives; None where no class of the tree defines it."""
    if not isinstance(owner, Instance) or frame.machine.project.member(owner.decl, name) is None:
        return None
    method = attribute(frame, owner, name, node)
    return apply(frame, method, Arguments(given), node) if isinstance(method, Function) else None


def binary(frame: Frame, op: ast.operator, left: Value, right: Value, node: ast.AST) -> Value | None:
    """`left + right`: the method of the left operand, else the reflected one of the right."""
    word = BINARY[type(op)]
    found = special(frame, left, f"__{word}__", (right,), node)
    return special(frame, right, f"__r{word}__", (left,), node) if found is None else found


def augmented(frame: Frame, op: ast.operator, left: Value, right: Value, node: ast.AST) -> Value | None:
    return special(frame, left, f"__i{BINARY[type(op)]}__", (right,), node)


def compared(frame: Frame, op: ast.cmpop, left: Value, right: Value, node: ast.AST) -> Value | None:
    """`left < right`; `!=` is what `==` is not, where that is all there is."""
    mine, theirs = COMPARED[type(op)]
    for owner, name, other in ((left, mine, right), (right, theirs, left)):
        found = special(frame, owner, name, (other,), node)
        if found is None and name == "__ne__":
            found = special(frame, owner, "__eq__", (other,), node)
        if found is not None:
            return found
    return None


def converted(frame: Frame, owner: Value, word: str, node: ast.AST) -> Value | None:
    """`float(owner)`, `int(owner)`, `round(owner)`."""
    for name in (f"__{word}__", "__index__"):
        found = special(frame, owner, name, (), node)
        if found is not None:
            return found
    return None


def texted(frame: Frame, owner: Instance, construct: str, node: ast.AST, depth: int = DEEPEST) -> Iterator[Value]:
    """What turning an object into text turns into text: fields of records that have no method for it.

    Runs the method of those that have one: not of objects that hold settings only, whose texts are much work.
    """
    project = frame.machine.project
    for name in TEXTS.get(construct, FORMATTED):
        if project.member(owner.decl, name) is not None:
            if _may_hold_tensors(frame, owner):
                special(frame, owner, name, (Text(),) if name == "__format__" else (), node)
            return
    held = fields(frame, owner) if is_record(project, owner.decl) else []
    for each in (part for value in held for part in members(value)):
        if not isinstance(each, Instance):
            yield each
        elif depth:
            yield from texted(frame, each, "repr", node, depth - 1)


def _may_hold_tensors(frame: Frame, owner: Instance) -> bool:
    held = fields(frame, owner)
    return not held or any(on_device(each) is not None for each in held)


def fields(frame: Frame, owner: Instance) -> list[Value]:
    return [value for _, value in record_of(frame.machine, owner).items(frame.machine)]


def compared_records(frame: Frame, left: Value, right: Value) -> Tensor | None:
    """The device tensor among the fields of two records of one class that are held against each other."""
    if not isinstance(left, Instance) or not isinstance(right, Instance) or left.decl is not right.decl:
        return None
    found = [on_device(each) for each in fields(frame, left)] if is_record(frame.machine.project, left.decl) else []
    return next((each for each in found if each is not None), None)
