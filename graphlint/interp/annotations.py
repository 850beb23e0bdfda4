"""Annotations as values: what a type hint says a parameter, field or variable holds.

An annotation is evidence, not proof: it fills in what is not known and never overrules a value that is.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from graphlint.project import Assigned, ClassDecl, Module, Outside
from graphlint.syntax import last
from graphlint.types import Confidence
from graphlint.values import (
    EITHER,
    DeviceValue,
    DtypeValue,
    ExternalObject,
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
    Unknown,
    Value,
    join_all,
    members,
)

if TYPE_CHECKING:
    from graphlint.interp.machine import Machine

WRAPPERS = {"Annotated", "ClassVar", "Final", "Required", "NotRequired", "ReadOnly", "InitVar", "Type", "type"}
SEQUENCES = {
    "list": "list",
    "List": "list",
    "Sequence": "list",
    "Iterable": "list",
    "Collection": "list",
    "MutableSequence": "list",
    "Iterator": "iter",
    "Generator": "iter",
    "set": "set",
    "Set": "set",
    "frozenset": "set",
}
TABLES = {"dict", "Dict", "Mapping", "MutableMapping", "OrderedDict", "DefaultDict"}
PLAIN: dict[str, Value] = {
    "int": Number(Kind.INT, None, Origin.ARGUMENT),
    "float": Number(Kind.FLOAT, None, Origin.ARGUMENT),
    "bool": EITHER,
    "str": Text(),
    "bytes": Opaque(),
    "None": Nothing(),
    "tuple": Seq("tuple", None, Unknown()),
    "list": Seq("list", None, Unknown()),
    "dict": Table((), Unknown()),
    "Tuple": Seq("tuple", None, Unknown()),
    "List": Seq("list", None, Unknown()),
    "Dict": Table((), Unknown()),
}
TENSORS = {
    "torch.Tensor": Kind.ANY,
    "torch.BoolTensor": Kind.BOOL,
    "torch.ByteTensor": Kind.INT,
    "torch.CharTensor": Kind.INT,
    "torch.ShortTensor": Kind.INT,
    "torch.IntTensor": Kind.INT,
    "torch.LongTensor": Kind.INT,
    "torch.HalfTensor": Kind.FLOAT,
    "torch.FloatTensor": Kind.FLOAT,
    "torch.DoubleTensor": Kind.FLOAT,
    "torch.nn.Parameter": Kind.ANY,
    "torch.nn.parameter.Parameter": Kind.ANY,
}
"""The tensor classes that hints name (torch documentation, "Tensor class reference")."""


def annotated(machine: Machine, module: Module, node: ast.expr, owner: ClassDecl | None, depth: int = 0) -> Value:
    """What an annotation stands for; `Unknown` when it says nothing usable."""
    if depth > 8:
        return Unknown()
    match node:
        case ast.Constant(value=None):
            return Nothing()
        case ast.Constant(value=str(text)):
            parsed = _parse(text)
            return Unknown() if parsed is None else annotated(machine, module, parsed, owner, depth + 1)
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return join_all([annotated(machine, module, part, owner, depth + 1) for part in (left, right)])
        case ast.Subscript(value=base, slice=inner):
            return _generic(machine, module, base, inner, owner, depth)
        case ast.Name() | ast.Attribute():
            return _named(machine, module, node, depth)
    return Unknown()


def _parse(text: str) -> ast.expr | None:
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _generic(
    machine: Machine, module: Module, base: ast.expr, inner: ast.expr, owner: ClassDecl | None, depth: int
) -> Value:
    name = last(base)
    parts = inner.elts if isinstance(inner, ast.Tuple) else [inner]

    def inside(part: ast.expr) -> Value:
        return annotated(machine, module, part, owner, depth + 1)

    if name == "Optional":
        return join_all([inside(parts[0]), Nothing()])
    if name == "Union":
        return join_all([inside(part) for part in parts])
    if name in WRAPPERS:
        return inside(parts[0])
    if name == "Literal":
        return join_all([_literal(part) for part in parts])
    if name in SEQUENCES:
        return Seq(SEQUENCES[name], None, inside(parts[0]))
    if name in TABLES:
        return Table((), inside(parts[-1]))
    if name in ("tuple", "Tuple"):
        return _tuple(parts, inside)
    return _named(machine, module, base, depth) if not _is_shape_hint(parts) else inside(parts[0])


def _is_shape_hint(parts: list[ast.expr]) -> bool:
    """`Float[Tensor, "batch dim"]`: the type first, the shape as text behind it."""
    return len(parts) == 2 and isinstance(parts[1], ast.Constant) and isinstance(parts[1].value, str)


def _literal(node: ast.expr) -> Value:
    if not isinstance(node, ast.Constant):
        return Unknown()
    if isinstance(node.value, bool):
        return EITHER
    if isinstance(node.value, str):
        return Text()
    return Nothing() if node.value is None else Number(Kind.INT, None, Origin.ARGUMENT)


def _tuple(parts: list[ast.expr], inside: object) -> Value:
    assert callable(inside)
    if len(parts) == 2 and isinstance(parts[1], ast.Constant) and parts[1].value is Ellipsis:
        return Seq("tuple", None, inside(parts[0]))
    return Seq("tuple", tuple(inside(part) for part in parts))


def _named(machine: Machine, module: Module, node: ast.expr, depth: int) -> Value:
    found = machine.project.dotted(module, node)
    if isinstance(found, ClassDecl):
        return Instance(found)
    if isinstance(found, Outside):
        return outside(found.name)
    if isinstance(found, Assigned) and len(found.values) == 1:
        return annotated(machine, found.module, found.values[0], None, depth + 1)
    return PLAIN.get(last(node), Unknown()) if found is None else Unknown()


def outside(name: str) -> Value:
    """A class from outside the tree as a type."""
    kind = TENSORS.get(name.replace("torch.cuda.", "torch."))
    if kind is not None:
        return Tensor(Place.DEVICE, kind, None, Confidence.CERTAIN, "input")
    if name == "torch.device":
        return DeviceValue(Place.UNKNOWN)
    if name == "torch.dtype":
        return DtypeValue(Kind.ANY)
    if name in ("torch.Size",):
        return Seq("tuple", None, Number(Kind.INT, None, Origin.SHAPE))
    if name.startswith(("typing.", "collections.", "typing_extensions.")):
        return PLAIN.get(name.rpartition(".")[2], Unknown())
    if name.startswith("numpy."):
        return Opaque()
    return ExternalObject(name) if name.startswith("torch.") else Unknown()


def narrow_to(value: Value, hint: Value) -> Value:
    """An unknown value as the hint has it; tensors so found are likely, not certain."""
    if not isinstance(value, Unknown):
        return value
    return join_all([_less_sure(member) for member in members(hint)])


def _less_sure(value: Value) -> Value:
    if isinstance(value, Tensor):
        return value.replace(sure=min(value.sure, Confidence.LIKELY), role="")
    return value


def without(value: Value, unwanted: type[Value]) -> Value:
    kept = [member for member in members(value) if not isinstance(member, unwanted)]
    return join_all(kept) if kept else value
