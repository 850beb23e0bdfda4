"""The functions of Python's `operator`, which are what its signs are, and the operator that indexing calls.

Callables that `operator` makes: `methodcaller`, `attrgetter` and `itemgetter`, which do to what they are given
what they were told when they were made.
"""

from __future__ import annotations

import ast

from graphlint.effects.table import lookup
from graphlint.events import HostCast, HostCompare
from graphlint.interp.comparisons import read_in
from graphlint.interp.dispatch import apply, attribute, item
from graphlint.interp.frame import Frame
from graphlint.interp.handlers import device_tensor, first, function, made_by
from graphlint.interp.torch_calls import call_row
from graphlint.syntax import spelled
from graphlint.values import (
    EITHER,
    Arguments,
    Nothing,
    Opaque,
    Seq,
    SliceValue,
    Tensor,
    Text,
    Unknown,
    Value,
)

SIGNS = "lt le gt ge eq ne add sub mul truediv floordiv mod pow matmul neg abs and_ or_ xor invert"
SPELLED = {"truediv": "div", "floordiv": "floor_divide", "mod": "remainder", "invert": "bitwise_not"} | {
    f"{word}_".replace("xor_", "xor"): f"bitwise_{word}" for word in ("and", "or", "xor")
}


@function(*(f"operator.{name}" for name in SIGNS.split()))
def sign(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    """Of a tensor, the function of torch that does the same."""
    name = spelled(node.func).rpartition(".")[2] if isinstance(node, ast.Call) else ""
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


@made_by("operator.methodcaller")
def call_method(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    """`methodcaller("item")(x)` is `x.item()`."""
    if len(arguments.positional) < 2:
        return Unknown()
    name, *given, owner = arguments.positional
    if not isinstance(name, Text) or name.value is None:
        return Unknown()
    return apply(frame, attribute(frame, owner, name.value, node), arguments.replace(positional=tuple(given)), node)


@made_by("operator.attrgetter")
def get_attribute(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    """`attrgetter("a.b")(x)` is `x.a.b`; of several names it gives a tuple."""
    *names, owner = arguments.positional or (Unknown(),)
    found = [_followed(frame, owner, name, node) for name in names]
    return found[0] if len(found) == 1 else Seq("tuple", tuple(found))


def _followed(frame: Frame, owner: Value, name: Value, node: ast.AST) -> Value:
    if not isinstance(name, Text) or name.value is None:
        return Unknown()
    for word in name.value.split("."):
        owner = attribute(frame, owner, word, node)
    return owner


@made_by("operator.itemgetter")
def get_item(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    """`itemgetter(i)(x)` is `x[i]`; of several indices it gives a tuple."""
    *indices, owner = arguments.positional or (Unknown(),)
    found = [item(frame, owner, index, node) for index in indices]
    return found[0] if len(found) == 1 else Seq("tuple", tuple(found))
