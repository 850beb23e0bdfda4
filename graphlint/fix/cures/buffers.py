"""State that a replay must advance, and constants that are built in every call, become buffers."""

from __future__ import annotations

import libcst as cst

from graphlint.fix.cure import UNSAFE, Site, cure, fix, keyword, number
from graphlint.fix.cures.literals import is_constant
from graphlint.fix.tree import Tree
from graphlint.types import Edit, Fix, Span

STEPS: dict[type[cst.CSTNode], str] = {
    cst.AddAssign: "add_",
    cst.SubtractAssign: "sub_",
    cst.Add: "add_",
    cst.Subtract: "sub_",
}


@cure("GL404")
def counted(site: Site) -> Fix | None:
    """`self.n += 1` with `self.n = 0` in `__init__` becomes a buffer that is advanced in place."""
    tree, statement = site.tree, site.statement
    step = None if statement is None else _step(tree, statement)
    if statement is None or step is None or not tree.torch:
        return None
    target, call = step
    found = initial(tree, statement, target)
    if found is None or not number(tree, found.value):
        return None
    name, own = target.attr.value, own_name(tree, found)
    held = f'{own}.register_buffer("{name}", {tree.torch}.tensor({tree.code(found.value)}), persistent=False)'
    spelled = tree.code(target)
    title = f"make `{spelled}` a buffer that is advanced in place; Python code that reads it then sees a tensor"
    return fix(title, UNSAFE, tree.replace(found, held), tree.replace(statement, f"{spelled}.{call}"))


def own_name(tree: Tree, node: cst.CSTNode) -> str:
    """What the method around a node, or the one that it is, calls its object; empty outside of methods."""
    function = node if isinstance(node, cst.FunctionDef) else None
    for each in tree.above(node):
        function = each if isinstance(each, cst.FunctionDef) else function
        if isinstance(each, cst.ClassDef):
            break
    else:
        return ""
    first = [*function.params.posonly_params, *function.params.params][:1] if function is not None else []
    is_static = function is not None and any(tree.code(mark.decorator) == "staticmethod" for mark in function.decorators)
    return first[0].name.value if first and not is_static else ""


def _step(tree: Tree, statement: cst.BaseSmallStatement) -> tuple[cst.Attribute, str] | None:
    """The attribute that is advanced, and the call that does it in place."""
    if isinstance(statement, cst.AugAssign) and type(statement.operator) in STEPS:
        target, amount, step = statement.target, statement.value, STEPS[type(statement.operator)]
    elif isinstance(statement, cst.Assign) and isinstance(statement.value, cst.BinaryOperation):
        target, amount = statement.targets[0].target, statement.value.right
        step = STEPS.get(type(statement.value.operator), "")
        if not step or tree.code(statement.value.left) != tree.code(target) or len(statement.targets) != 1:
            return None
    else:
        return None
    if not isinstance(target, cst.Attribute) or not _is_own(tree, statement, target):
        return None
    return target, f"{step}({tree.code(amount)})"


def _is_own(tree: Tree, node: cst.CSTNode, target: cst.Attribute) -> bool:
    """Whether an attribute is one of the object whose method a node stands in."""
    return isinstance(target.value, cst.Name) and target.value.value == own_name(tree, node)


def initial(tree: Tree, node: cst.CSTNode, target: cst.Attribute) -> cst.Assign | None:
    """The one assignment of an attribute in the `__init__` of the module around, behind the call of the base's."""
    init = initializer(tree, node)
    found = tree.assignments(init, f"{own_name(tree, init)}.{target.attr.value}") if init is not None else ()
    only = found[0] if len(found) == 1 else None
    if init is None or not isinstance(only, cst.Assign) or len(only.targets) != 1:
        return None
    line = super_line(tree, init)
    return only if line and line < tree.span(only).line else None


def initializer(tree: Tree, node: cst.CSTNode, any_class: bool = False) -> cst.FunctionDef | None:
    """The `__init__` of the class around a node, if that is a module by the spelling of its bases."""
    owner = tree.enclosing(node, cst.ClassDef)
    if owner is None or not (any_class or any("Module" in tree.code(base.value) for base in owner.bases)):
        return None
    functions = tree.within(owner, cst.FunctionDef)
    return next((each for each in functions if each.name.value == "__init__"), None)


def super_line(tree: Tree, init: cst.FunctionDef) -> int:
    """The last line of `super().__init__(...)`; 0 without."""
    calls = tree.within(init, cst.Call)
    return next((tree.span(each).end_line for each in calls if tree.code(each.func).endswith(".__init__")), 0)


@cure("GL405")
def written_in_place(site: Site) -> Fix | None:
    """`self.state = new` becomes `self.state.copy_(new)`."""
    statement = site.statement
    if not isinstance(statement, cst.Assign) or len(statement.targets) != 1:
        return None
    target, value = statement.targets[0].target, statement.value
    if not isinstance(target, cst.Attribute) or isinstance(value, (cst.Tuple, cst.List, cst.Dict, cst.Set, cst.Name)):
        return None
    if not starts_as_tensor(site.tree, statement, target):
        return None
    new = f"{site.tree.code(target)}.copy_({site.tree.code(statement.value)})"
    title = "write in place with `copy_`; the shape must not change, and who held the old tensor sees the new values"
    return fix(title, UNSAFE, site.tree.replace(statement, new))


def starts_as_tensor(tree: Tree, node: cst.CSTNode, target: cst.Attribute) -> bool:
    """Whether `__init__` gives an attribute a tensor: as a buffer, or by a call of torch; None is no place to write to."""
    init = initializer(tree, node, any_class=True)
    if init is None or not _is_own(tree, node, target):
        return False
    own = own_name(tree, init)
    for call in tree.within(init, cst.Call):
        named = call.args[0].value if call.args else None
        if isinstance(named, cst.SimpleString) and named.evaluated_value == target.attr.value:
            return (
                tree.code(call.func) == f"{own}.register_buffer"
                and len(call.args) > 1
                and _is_tensor(tree, call.args[1].value)
            )
    values = [each.value for each in tree.assignments(init, f"{own}.{target.attr.value}") if isinstance(each, cst.Assign)]
    return len(values) == 1 and _is_tensor(tree, values[0])


def _is_tensor(tree: Tree, value: cst.BaseExpression) -> bool:
    return isinstance(value, cst.Call) and tree.qualified(value.func).startswith("torch.")


@cure("GL301", "GL302")
def registered(site: Site) -> Fix | None:
    """A constant that `forward` builds anew becomes a buffer that moves with the module."""
    tree, call = site.tree, site.call
    if call is None or not tree.torch:
        return None
    built = call if tree.qualified(call.func) == "torch.tensor" else _moved_constant(tree, call)
    if built is None or not built.args or built.args[0].keyword is not None or not is_constant(tree, built.args[0].value):
        return None
    init = initializer(tree, call)
    line = super_line(tree, init) if init is not None else 0
    function = tree.enclosing(call, cst.FunctionDef)
    own = own_name(tree, call)
    if init is None or not line or not own or function is None or function.name.value == "__init__":
        return None
    name = _free(tree, init)
    typed, cast = _dtype(tree, built)
    value = f"{tree.torch}.tensor({tree.code(built.args[0].value)}{typed})"
    text = f'{tree.indent(line)}{own_name(tree, init)}.register_buffer("{name}", {value}, persistent=False)\n'
    added = Edit(Span(site.span.file, line + 1, 0, line + 1, 0), text)
    title = "build it once as a buffer, which is on the device if the module was moved there"
    return fix(title, UNSAFE, added, tree.replace(call, f"{own}.{name}{cast}"))


def _dtype(tree: Tree, built: cst.Call) -> tuple[str, str]:
    """The type of a constant where it is built, or the cast where it is used: `x.dtype` means nothing in `__init__`."""
    given = keyword(built, "dtype")
    if given is None:
        return "", ""
    code = tree.code(given.value)
    return (f", dtype={code}", "") if tree.qualified(given.value).startswith("torch.") else ("", f".to({code})")


def _moved_constant(tree: Tree, call: cst.Call) -> cst.Call | None:
    owner = call.func.value if isinstance(call.func, cst.Attribute) and call.func.attr.value in ("to", "cuda") else None
    return owner if isinstance(owner, cst.Call) and tree.qualified(owner.func) == "torch.tensor" else None


def _free(tree: Tree, init: cst.FunctionDef) -> str:
    """A name for a buffer that the file does not use yet."""
    number = 0
    while f"_constant_{number}" in tree.source.text:
        number += 1
    return f"_constant_{number}"
