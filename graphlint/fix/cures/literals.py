"""Python values that are copied to the device become fills, which the device does itself."""

from __future__ import annotations

import libcst as cst

from graphlint.fix.cure import SAFE, SUGGESTION, UNSAFE, Site, cure, fix, keyword, method, number, only_assignment
from graphlint.fix.tree import Tree
from graphlint.types import Fix

FULL = {"tensor": "full", "as_tensor": "full", "asarray": "full", "new_tensor": "new_full"}
NUMBERS = ("int", "float", "bool")
KEPT = ("dtype", "device", "requires_grad")


@cure("GL301")
def filled(site: Site) -> Fix | None:
    """`torch.tensor(c, device=d)` becomes `torch.full((), c, device=d)`; `full` finds the type of `c` as `tensor` does."""
    call = site.call
    if call is None or not isinstance(call.func, cst.Attribute) or method(call) not in FULL:
        return None
    new = full(site.tree, call)
    if new is None:
        return None
    value, shape, sure = new
    made = as_full(site.tree, call, shape, value)
    title = f"fill on the device with `{FULL[method(call)]}`"
    if sure:
        return fix(title, SAFE, site.tree.replace(call, made))
    level = UNSAFE if _is_said_to_be_number(site.tree, value) else SUGGESTION
    return fix(f"{title}, if the value is a number", level, site.tree.replace(call, made))


def _is_said_to_be_number(tree: Tree, value: cst.BaseExpression) -> bool:
    """Whether a variable or attribute is bound to a number, or annotated as one; an unannotated one may be a list."""
    if isinstance(value, cst.Attribute):
        owner = tree.enclosing(value, cst.ClassDef)
        found = tree.assignments(owner, tree.code(value)) if owner is not None else ()
        only = found[0].value if len(found) == 1 else None
        return only is not None and (number(tree, only) or _is_said_to_be_number(tree, only))
    function = tree.enclosing(value, cst.FunctionDef)
    if not isinstance(value, cst.Name) or function is None:
        return False
    bound = only_assignment(tree, value)
    if bound is not None:
        return number(tree, bound)
    parameters = [each for each in tree.within(function.params, cst.Param) if each.name.value == value.value]
    return any(each.annotation and tree.code(each.annotation.annotation) in NUMBERS for each in parameters)


def as_full(tree: Tree, call: cst.Call, shape: str, value: cst.BaseExpression) -> cst.Call:
    """The call with its data replaced by a shape and a fill value; the other arguments stay."""
    assert isinstance(call.func, cst.Attribute)
    first = call.args[0]
    comma = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
    fill = cst.Arg(value.deep_clone(), comma=first.comma)
    func = call.func.with_changes(attr=cst.Name(FULL[method(call)]))
    return call.with_changes(func=func, args=[cst.Arg(cst.parse_expression(shape), comma=comma), fill, *call.args[1:]])


def full(tree: Tree, call: cst.Call) -> tuple[cst.BaseExpression, str, bool] | None:
    """The fill value, the shape, and whether it is certain that there is one value."""
    data = call.args[0] if call.args else None
    if data is None or data.star or (data.keyword is not None and data.keyword.value != "data"):
        return None
    if any(each.keyword is None or each.keyword.value not in KEPT for each in call.args[1:]):
        return None
    if isinstance(data.value, (cst.List, cst.Tuple)):
        return _equal(tree, data.value)
    if isinstance(data.value, (cst.ListComp, cst.GeneratorExp, cst.Dict, cst.Set, cst.BaseString)):
        return None
    return data.value, "()", number(tree, data.value)


def _equal(tree: Tree, data: cst.List | cst.Tuple) -> tuple[cst.BaseExpression, str, bool] | None:
    """A list of equal numbers, or of one value."""
    values = [each.value for each in data.elements if isinstance(each, cst.Element)]
    if not values or len(values) != len(data.elements) or isinstance(values[0], (cst.List, cst.Tuple)):
        return None
    if len({tree.code(each) for each in values}) > 1 or (len(values) > 1 and not number(tree, values[0])):
        return None
    return values[0], f"({len(values)},)", number(tree, values[0])


def is_constant(tree: Tree, node: cst.BaseExpression) -> bool:
    """Whether an expression is built of numbers only."""
    if isinstance(node, (cst.List, cst.Tuple)):
        return all(isinstance(each, cst.Element) and is_constant(tree, each.value) for each in node.elements)
    return number(tree, node) and not isinstance(node, cst.Call)


def device_of(call: cst.Call) -> cst.BaseExpression | None:
    given = keyword(call, "device")
    return None if given is None else given.value
