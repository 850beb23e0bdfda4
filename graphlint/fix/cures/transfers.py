"""What is born on the host and copied to the device is born on the device."""

from __future__ import annotations

from typing import NamedTuple

import libcst as cst

from graphlint.fix.cure import SAFE, UNSAFE, Site, argument, cure, fix, keyword, method, only_assignment, passed, positional
from graphlint.fix.cures.literals import as_full, full
from graphlint.fix.tree import Tree
from graphlint.types import Fix

EXACT = frozenset(["arange", "zeros", "ones", "empty", "full", "eye", "tril_indices", "triu_indices"])
ROUNDED = frozenset(["linspace", "logspace"])
DRAWN = frozenset(["rand", "randn", "randint", "randperm"])
FACTORIES = EXACT | ROUNDED | DRAWN


class Move(NamedTuple):
    """A copy to a device: what is copied, where to, and the call without its device."""

    tensor: cst.BaseExpression
    device: cst.BaseExpression
    rest: cst.BaseExpression


@cure("GL302")
def born_there(site: Site) -> Fix | None:
    """`torch.arange(n).to(x.device)` becomes `torch.arange(n, device=x.device)`, also through one variable."""
    call = site.call
    move = None if call is None else moved(site.tree, call)
    if call is None or move is None:
        return None
    if isinstance(move.tensor, cst.Call):
        made = _on_device(site.tree, move.tensor, move.device)
        if made is None:
            return None
        new = made if move.rest is move.tensor else move.rest.with_deep_changes(move.tensor, **_parts(made))
        return fix(*_title(site.tree, move.tensor), site.tree.replace(call, new))
    return _through_variable(site, move)


def _parts(call: cst.Call) -> dict[str, object]:
    return {"func": call.func, "args": call.args}


def _title(tree: Tree, call: cst.Call) -> tuple[str, str]:
    name = method(call)
    if name in DRAWN:
        return f"draw on the device: `{name}(..., device=...)` gives other numbers than the host's generator", UNSAFE
    return f"make it on the device: `{name}(..., device=...)`", UNSAFE if name in ROUNDED else SAFE


def _through_variable(site: Site, move: Move) -> Fix | None:
    """The variable's only value is made on the device; the copy then has nothing to do."""
    tree = site.tree
    origin = only_assignment(tree, move.tensor)
    function = tree.enclosing(move.tensor, cst.FunctionDef)
    if not isinstance(origin, cst.Call) or function is None or not _is_known(tree, function, move.device, origin):
        return None
    made = _on_device(tree, origin, move.device)
    if made is None:
        return None
    assert isinstance(move.tensor, cst.Name)
    title, safety = _title(tree, origin)
    others = [each for each in tree.loads(function, move.tensor.value) if not _is_moved(tree, each)]
    return fix(title, UNSAFE if others else safety, tree.replace(origin, made))


def _is_moved(tree: Tree, name: cst.Name) -> bool:
    """Whether a variable is only read to be copied to a device."""
    owner = tree.parent(name)
    call = None if owner is None else tree.parent(owner)
    return isinstance(call, cst.Call) and call.func is owner and method(call) in ("to", "cuda")


def _is_known(tree: Tree, function: cst.FunctionDef, device: cst.BaseExpression, origin: cst.Call) -> bool:
    """Whether a device can be named where the tensor is born: its name is a parameter that is not bound before."""
    root = device
    while isinstance(root, cst.Attribute):
        root = root.value
    if not isinstance(root, cst.Name):
        return isinstance(root, cst.SimpleString)
    before = [each for each in tree.assignments(function, root.value) if tree.span(each) < tree.span(origin)]
    parameters = {each.name.value for each in tree.within(function.params, cst.Param)}
    return root.value in parameters and not before


def _on_device(tree: Tree, call: cst.Call, device: cst.BaseExpression) -> cst.Call | None:
    """A factory call that makes its tensor on a device."""
    name = tree.qualified(call.func).removeprefix("torch.")
    if any(each.star for each in call.args):
        return None
    if name in FACTORIES:
        return passed(call, argument("device", device), without=("device", "pin_memory"))
    if name not in ("tensor", "as_tensor") or keyword(call, "device") is not None:
        return None
    filled = full(tree, call)
    if filled is None or not filled[2]:
        return None
    return passed(as_full(tree, call, filled[1], filled[0]), argument("device", device))


def moved(tree: Tree, call: cst.Call) -> Move | None:
    """Read `t.to(device, ...)` and `t.cuda()`."""
    if not isinstance(call.func, cst.Attribute) or method(call) not in ("to", "cuda"):
        return None
    tensor = call.func.value
    if method(call) == "cuda":
        return Move(tensor, cst.SimpleString('"cuda"'), tensor) if not call.args else None
    given, places = keyword(call, "device"), positional(call)
    first = given or (places[0] if places else None)
    if first is None or not is_device(tree, first.value):
        return None
    left = [each for each in call.args if each is not first and not _is_about_copying(each)]
    if any(each.keyword is not None and each.keyword.value == "copy" for each in left):
        return None
    if not left:
        return Move(tensor, first.value, tensor)
    return Move(tensor, first.value, call.with_changes(args=[*left[:-1], left[-1].with_changes(comma=call.args[-1].comma)]))


def _is_about_copying(each: cst.Arg) -> bool:
    return each.keyword is not None and each.keyword.value == "non_blocking"


def is_device(tree: Tree, node: cst.BaseExpression) -> bool:
    """Whether an expression is a device by its spelling; a tensor or a type may stand in the same place."""
    if isinstance(node, cst.Attribute):
        return "device" in node.attr.value
    if isinstance(node, cst.Call):
        return tree.qualified(node.func) == "torch.device"
    return isinstance(node, cst.SimpleString) or (isinstance(node, cst.Name) and "device" in node.value)
