"""A value that is read back only to be computed with on the device stays on the device.

`.item()` also cuts the gradient, so `.detach()` takes its place.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from graphlint.fix.cure import SAFE, UNSAFE, Site, cure, fix, method, only_assignment, positional
from graphlint.fix.tree import Tree
from graphlint.types import Fix

ARITHMETIC = (cst.Add, cst.Subtract, cst.Multiply, cst.Divide)
AUGMENTED = (cst.AddAssign, cst.SubtractAssign, cst.MultiplyAssign, cst.DivideAssign)
TAKE_TENSORS = frozenset(["clamp", "clamp_", "clamp_min", "clamp_max", "clip", "where", "masked_fill", "masked_fill_"])
CASTS = {"float": ".float()", "int": ".long()"}


@cure("GL101", "GL102")
def kept(site: Site) -> Fix | None:
    """`x / x.max().item()` becomes `x / x.max().detach()`, also through one variable."""
    call = site.call
    found = None if call is None else read(site.tree, call)
    if call is None or found is None:
        return None
    tensor, stays = found
    sure = _is_consumed(site.tree, call, _inner(site.tree, tensor))
    if sure is None:
        return None
    title = "keep the value on the device"
    edit = site.tree.replace(call, stays)
    return fix(title, SAFE, edit) if sure else fix(f"{title}, where it meets a tensor", UNSAFE, edit)


def read(tree: Tree, call: cst.Call) -> tuple[cst.BaseExpression, str] | None:
    """The tensor that a call reads back, and the code that leaves it where it is."""
    if isinstance(call.func, cst.Attribute) and method(call) == "item" and not call.args:
        tensor = call.func.value
        return tensor, f"{tree.code(tensor)}.detach()"
    name = call.func.value if isinstance(call.func, cst.Name) else ""
    places = positional(call)
    if name not in CASTS or len(call.args) != 1 or len(places) != 1:
        return None
    tensor = places[0].value
    code = tree.code(tensor)
    is_plain = isinstance(tensor, (cst.Name, cst.Attribute, cst.Call, cst.Subscript)) or tensor.lpar
    return tensor, f"{code if is_plain else f'({code})'}.detach(){CASTS[name]}"


def _inner(tree: Tree, tensor: cst.BaseExpression) -> set[str]:
    """The code of everything a value is computed from by a chain of methods and indices."""
    return {tree.code(each) for each in _chain(tensor)}


def _chain(node: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    while True:
        yield node
        if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
            node = node.func.value
        elif isinstance(node, cst.Subscript):
            node = node.value
        else:
            return


def _is_consumed(tree: Tree, value: cst.BaseExpression, known: set[str]) -> bool | None:
    """True if a value meets a tensor it was computed from, False if it may meet one, None if it is used otherwise."""
    parent = tree.parent(value)
    if isinstance(parent, cst.BinaryOperation) and isinstance(parent.operator, ARITHMETIC):
        other = parent.right if parent.left is value else parent.left
        return tree.code(other) in known
    if isinstance(parent, cst.AugAssign) and isinstance(parent.operator, AUGMENTED) and parent.value is value:
        return tree.code(parent.target) in known
    if isinstance(parent, cst.Arg):
        return _is_taken(tree, parent, known)
    if isinstance(parent, cst.Assign) and len(parent.targets) == 1 and parent.value is value:
        return _through_variable(tree, parent.targets[0].target, known)
    return None


def _is_taken(tree: Tree, argument: cst.Arg, known: set[str]) -> bool | None:
    """A call that takes a tensor in the place of a number; `clamp` wants two of a kind."""
    call = tree.parent(argument)
    if not isinstance(call, cst.Call) or method(call) not in TAKE_TENSORS:
        return None
    return False if isinstance(call.func, (cst.Attribute, cst.Name)) else None


def _through_variable(tree: Tree, target: cst.BaseExpression, known: set[str]) -> bool | None:
    function = tree.enclosing(target, cst.FunctionDef)
    if function is None or not isinstance(target, cst.Name) or only_assignment(tree, target) is None:
        return None
    uses = [_is_consumed(tree, each, known) for each in tree.loads(function, target.value)]
    if not uses or None in uses:
        return None
    bound = any(len(tree.assignments(function, each)) for each in known)
    return all(uses) and not bound
