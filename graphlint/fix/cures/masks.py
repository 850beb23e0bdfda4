"""Reductions of what a mask selects become reductions of the whole, with what is not selected made neutral."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import libcst as cst

from graphlint.fix.cure import SAFE, UNSAFE, Site, cure, fix, method, only_assignment
from graphlint.fix.tree import Tree
from graphlint.types import Fix

ELEMENTWISE = frozenset(
    ["isfinite", "isnan", "isinf", "logical_not", "logical_and", "logical_or", "eq", "ne", "gt", "ge", "lt", "le", "bool"]
)
NEUTRAL = {"sum": "0", "mean": "0", "prod": "1", "max": '-float("inf")', "min": 'float("inf")'}
EXACT = ("sum", "prod", "mean")


KEEP_ZERO = frozenset(["abs", "square", "relu", "neg", "clone", "detach", "float", "double", "half", "bfloat16"])
"""Methods without arguments that make zero of zero, with a gradient there, so that a sum behind them is still neutral."""


class Reduction(NamedTuple):
    """A reduction of what a mask selects: the whole call, its name, and the methods between."""

    call: cst.Call
    name: str
    between: tuple[str, ...]


@cure("GL202")
def neutral(site: Site) -> Fix | None:
    """`x[mask].sum()` becomes `torch.where(mask, x, 0).sum()`; the number of selected elements is never asked for."""
    tree = site.tree
    node = tree.at(site.span, cst.Subscript)
    found = None if node is None else _reduction(tree, node)
    if node is None or found is None or not tree.torch or len(node.slice) != 1:
        return None
    index = node.slice[0].slice
    if not isinstance(index, cst.Index) or index.star is not None or not isinstance(node.value, (cst.Name, cst.Attribute)):
        return None
    return _reduced(tree, found, node.value, index.value)


def _reduction(tree: Tree, node: cst.BaseExpression) -> Reduction | None:
    """`node.sum()`, `node.abs().sum()` or `torch.sum(node)`."""
    between: list[str] = []
    here: cst.BaseExpression = node
    while True:
        owner = tree.parent(here)
        call = None if owner is None else tree.parent(owner)
        if not isinstance(call, cst.Call):
            return None
        if isinstance(owner, cst.Arg):
            name = tree.qualified(call.func).removeprefix("torch.")
            is_plain = len(call.args) == 1 and owner.keyword is None and not owner.star
            return Reduction(call, name, tuple(between)) if is_plain and _is_neutral(name, between) else None
        if not isinstance(owner, cst.Attribute) or call.func is not owner or call.args:
            return None
        name = owner.attr.value
        if name not in KEEP_ZERO:
            return Reduction(call, name, tuple(between)) if _is_neutral(name, between) else None
        between.append(name)
        here = call


def _is_neutral(name: str, between: Sequence[str]) -> bool:
    return name in NEUTRAL and (not between or NEUTRAL[name] == "0")


def _reduced(tree: Tree, found: Reduction, tensor: cst.BaseExpression, mask: cst.BaseExpression) -> Fix:
    name = found.name
    masked = f"{tree.torch}.where({tree.code(mask)}, {tree.code(tensor)}, {NEUTRAL[name]})"
    masked += "".join(f".{each}()" for each in found.between)
    count = tree.code(mask) if isinstance(mask, (cst.Name, cst.Attribute)) else f"({tree.code(mask)})"
    new = f"{masked}.sum() / {count}.sum()" if name == "mean" else f"{masked}.{name}()"
    if name == "mean" and not _stands_alone(tree, found.call):
        new = f"({new})"
    same = is_of_shape(tree, mask, tree.code(tensor))
    sure = same and name in EXACT
    title = f"reduce the whole with `torch.where`{'' if same else ', if the mask has the shape of the tensor'}"
    return fix(
        title if same and sure else f"{title}; an empty selection differs" if same else title,
        _level(sure),
        tree.replace(found.call, new),
    )


def _level(sure: bool) -> str:
    return SAFE if sure else UNSAFE


def _stands_alone(tree: Tree, call: cst.Call) -> bool:
    return isinstance(tree.parent(call), (cst.Assign, cst.Return, cst.Arg, cst.Element, cst.Expr))


def is_of_shape(tree: Tree, mask: cst.BaseExpression, tensor: str) -> bool:
    """Whether a mask is computed element by element from a tensor.

    A mask selects from a tensor only if its shape begins the tensor's, and it has at least the tensor's dimensions.
    """
    if isinstance(mask, cst.Name):
        value = only_assignment(tree, mask)
        return value is not None and _is_settled(tree, mask, tensor) and is_of_shape(tree, value, tensor)
    if isinstance(mask, cst.Comparison):
        return any(tree.code(each) == tensor for each in (mask.left, *(each.comparator for each in mask.comparisons)))
    if isinstance(mask, cst.UnaryOperation):
        return is_of_shape(tree, mask.expression, tensor)
    if isinstance(mask, cst.BinaryOperation) and isinstance(mask.operator, (cst.BitAnd, cst.BitOr, cst.BitXor)):
        return is_of_shape(tree, mask.left, tensor) or is_of_shape(tree, mask.right, tensor)
    if isinstance(mask, cst.Call) and method(mask) in ELEMENTWISE:
        parts = [each.value for each in mask.args]
        parts += [mask.func.value] if isinstance(mask.func, cst.Attribute) else []
        return any(tree.code(each) == tensor for each in parts)
    return False


def _is_settled(tree: Tree, mask: cst.Name, tensor: str) -> bool:
    """Whether the tensor is bound to nothing else in the function, so that mask and tensor belong together."""
    function = tree.enclosing(mask, cst.FunctionDef)
    return function is not None and len(tree.assignments(function, tensor)) <= 1
