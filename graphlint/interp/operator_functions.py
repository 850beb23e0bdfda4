"""The functions of Python's `operator`, which are what its signs are, and the operator that indexing calls."""

from __future__ import annotations

import ast

from graphlint.effects.table import lookup
from graphlint.events import HostCast, HostCompare
from graphlint.interp.dispatch import item
from graphlint.interp.equality import read_in
from graphlint.interp.frame import Frame
from graphlint.interp.handlers import device_tensor, first, function
from graphlint.interp.torch_calls import call_row
from graphlint.values import EITHER, Arguments, Nothing, Opaque, Seq, SliceValue, Tensor, Unknown, Value

SIGNS = "lt le gt ge eq ne add sub mul truediv floordiv mod pow matmul neg abs and_ or_ xor invert"
SPELLED = {"truediv": "div", "floordiv": "floor_divide", "mod": "remainder", "invert": "bitwise_not"} | {
    f"{word}_".replace("xor_", "xor"): f"bitwise_{word}" for word in ("and", "or", "xor")
}


@function(*(f"operator.{name}" for name in SIGNS.split()))
def sign(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    """Of a tensor, the function of torch that does the same."""
    name = ast.unparse(node.func).rpartition(".")[2] if isinstance(node, ast.Call) else ""
    full = f"torch.{SPELLED.get(name, name)}"
    if any(isinstance(each, Tensor) for each in arguments.positional) and lookup(full) is not None:
        return call_row(frame, full, arguments, node, None)
    return Unknown() if any(isinstance(each, Unknown) for each in arguments.positional) else Opaque()


@function("operator.truth", "operator.not_")
def truth(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    tensor = device_tensor(arguments.positional[0]) if arguments.positional else None
    if tensor is not None:
        frame.emit(HostCast, node, tensor.sure, builtin="bool")
    return EITHER


@function("operator.contains", "operator.indexOf", "operator.countOf")
def contains(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    container, sought = first(arguments), first(arguments, 1)
    held = read_in(frame.machine.project, sought, container) if sought is not None and container is not None else None
    if held is not None:
        frame.emit(HostCompare, node, held.sure, builtin="in")
    return EITHER


@function("operator.getitem")
def getitem(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    owner, *index = arguments.positional or (Unknown(),)
    return item(frame, owner, index[0], node) if index else Unknown()


INDEXING = tuple(f"torch.ops.aten.{name}" for name in ("index", "_unsafe_index", "index.Tensor", "_unsafe_index.Tensor"))
ALL = SliceValue(Nothing(), Nothing(), Nothing())


@function(*INDEXING)
def index(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    """`torch.ops.aten.index(x, [i, None, j])` is `x[i, :, j]`."""
    owner, indices = first(arguments, 0, "self") or Unknown(), first(arguments, 1, "indices")
    if not isinstance(indices, Seq) or indices.items is None:
        return Unknown()
    parts = tuple(ALL if isinstance(each, Nothing) else each for each in indices.items)
    return item(frame, owner, Seq("tuple", parts), node)
