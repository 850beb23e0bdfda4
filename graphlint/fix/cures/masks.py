"""Reductions of what a mask selects become reductions of the whole, with what is not selected made neutral."""

from __future__ import annotations

import libcst as cst

from graphlint.fix.cure import SAFE, UNSAFE, Site, cure, fix, method, only_assignment
from graphlint.fix.tree import Tree
from graphlint.types import Fix

ELEMENTWISE = frozenset(
    ["isfinite", "isnan", "isinf", "logical_not", "logical_and", "logical_or", "eq", "ne", "gt", "ge", "lt", "le", "bool"]
)
NEUTRAL = {"sum": "0", "mean": "0", "prod": "1", "max": '-float("inf")', "min": 'float("inf")'}
EXACT = ("sum", "prod", "mean")


@cure("GL202")
def neutral(site: Site) -> Fix | None:
    """`x[mask].sum()` becomes `torch.where(mask, x, 0).sum()`; the number of selected elements is never asked for."""
    tree = site.tree
    node = tree.at(site.span, cst.Subscript)
    owner = None if node is None else tree.parent(node)
    call = None if owner is None else tree.parent(owner)
    if node is None or not isinstance(owner, cst.Attribute) or not isinstance(call, cst.Call) or call.args:
        return None
    if call.func is not owner or owner.attr.value not in NEUTRAL or not tree.torch or len(node.slice) != 1:
        return None
    index = node.slice[0].slice
    if not isinstance(index, cst.Index) or index.star is not None or not isinstance(node.value, (cst.Name, cst.Attribute)):
        return None
    return _reduced(tree, call, node.value, index.value, owner.attr.value)


def _reduced(tree: Tree, call: cst.Call, tensor: cst.BaseExpression, mask: cst.BaseExpression, name: str) -> Fix:
    masked = f"{tree.torch}.where({tree.code(mask)}, {tree.code(tensor)}, {NEUTRAL[name]})"
    count = tree.code(mask) if isinstance(mask, (cst.Name, cst.Attribute)) else f"({tree.code(mask)})"
    new = f"{masked}.sum() / {count}.sum()" if name == "mean" else f"{masked}.{name}()"
    if name == "mean" and not _stands_alone(tree, call):
        new = f"({new})"
    same = is_of_shape(tree, mask, tree.code(tensor))
    sure = same and name in EXACT
    title = f"reduce the whole with `torch.where`{'' if same else ', if the mask has the shape of the tensor'}"
    return fix(
        title if same and sure else f"{title}; an empty selection differs" if same else title,
        _level(sure),
        tree.replace(call, new),
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
