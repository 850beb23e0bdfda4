"""Calls that give a tensor back as it is: `out.float()` is `out` where that is float32, as nearly all results are."""

from __future__ import annotations

import ast

from graphlint.modules import once_a_module
from graphlint.project import Module
from graphlint.site.story import Captured
from graphlint.site.things import Thing
from graphlint.syntax import last, walk

UNCHANGED = frozenset({"contiguous", "cuda", "float"})
OTHER_KINDS = frozenset({
    "argmax", "argmin", "argsort", "autocast", "bfloat16", "bool", "complex128", "complex64", "double", "float16",
    "float64", "half", "int", "int16", "int32", "int64", "int8", "long", "short", "uint8",
})  # fmt: skip
"""Attributes, and names of types in texts, by which a file says that some results may be of another kind than float32."""
ASKING = frozenset({
    "all", "any", "eq", "ge", "gt", "isfinite", "isinf", "isnan", "le", "logical_and", "logical_not", "logical_or", "lt",
    "ne",
})  # fmt: skip
"""Functions and methods of tensors that give answers."""


def is_same(captured: Captured, thing: Thing, module: Module) -> bool:
    """Whether a call gives a result of the graph back as it is."""
    call = thing.node
    if thing.name not in UNCHANGED or not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return False
    if thing.name == "float" and ("mask" in last(call.func.value) or _has_other_kinds(module)):
        return False
    return any(_is_of_graph(captured, each, module) for each in thing.made_by[:1])


def _is_of_graph(captured: Captured, thing: Thing, module: Module) -> bool:
    if captured.made(thing):
        return not isinstance(thing.node, ast.Compare) and thing.name.rpartition(".")[2] not in ASKING
    return is_same(captured, thing, module)


@once_a_module
def _has_other_kinds(module: Module) -> bool:
    return any(_word(each) in OTHER_KINDS for each in walk(module.source.tree))


def _word(node: ast.AST) -> str:
    match node:
        case ast.Attribute(attr=word) | ast.Constant(value=str(word)):
            return word
        case ast.Name(id="autocast"):
            return node.id
    return ""
