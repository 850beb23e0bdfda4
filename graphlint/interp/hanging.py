"""Hooks that other code registers: methods after the construction, functions that get a module, a file when it is imported.

def watch(model):                            watch(net)          # from here on, `net.norm` has the hook
    model.norm.register_forward_hook(note)   net(x)

What a function leaves on its object or on a parameter is known to its caller by the name that the caller has for it.  On
the object of a method it holds until that method ends: another region may enter the same object without it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from graphlint.interp.binding import own_name, parameters
from graphlint.interp.fields import constructor
from graphlint.interp.frame import Frame, Held, Hook, Summary
from graphlint.interp.mutation import is_building, path_of
from graphlint.modules import once_a_module
from graphlint.outline import mentions
from graphlint.project import FunctionDecl, Module
from graphlint.record import NamedTuple
from graphlint.syntax import argument, stands_in, stored, walk
from graphlint.values import Function, Instance, Scope

if TYPE_CHECKING:
    from graphlint.interp.machine import Machine

BACKWARD = ("register_full_backward_hook", "register_full_backward_pre_hook", "register_backward_hook")
REGISTERS = ("register_forward_hook", "register_forward_pre_hook", *BACKWARD)
REGISTERING = "register_f"
"""What a text holds that registers any hook but the oldest kind."""
PARTS = frozenset({"children", "modules", "values"})
NAMED_PARTS = frozenset({"named_children", "named_modules", "items"})
DEEPEST = 3
"""Variables that stand for one another."""
PAIRING = frozenset({"enumerate", "zip", "reversed", "list"})


class Left(NamedTuple):
    """A hook that a function leaves on its object or on what it was given: the name of either, and the way from there."""

    root: str
    rest: str
    hook: Hook


def hang(frame: Frame, name: str, hook: Hook) -> Held | None:
    """Register a hook under the name of its module, for as long as that holds it; None where nothing is known to."""
    held = next(places(frame, name), None) if name else None
    if held is None:
        return None
    root, _, rest = name.partition(".")
    is_own = isinstance(held.owner, Instance)
    if is_own or (root in frame.inputs and held.owner is frame.scope):
        frame.summary.hooks.append(Left(root, rest, hook))
    known = frame.machine.hooks.setdefault(held, [])
    if hook in known:
        return held
    known.append(hook)
    if isinstance(held.owner, Instance) and not is_building(frame, held.owner):
        frame.hung.append((held, hook))
        frame.machine.lent = (*frame.machine.lent, (held, (hook,)))
    return held


def take_down(frame: Frame) -> None:
    """The end of a method: what it has registered on its object since then."""
    for held, hook in frame.hung:
        known = frame.machine.hooks.get(held, [])
        if hook in known:
            known.remove(hook)
        if not known:
            frame.machine.hooks.pop(held, None)


@contextmanager
def handed_on(frame: Frame, function: Function, node: ast.Call) -> Iterator[None]:
    """While a function runs, what it is given has the hooks that the caller has registered, by the parameter's name."""
    machine, outer = frame.machine, frame.machine.lent
    inside = dict(_handed(frame, function, node))
    added = [held for held in inside if held not in machine.hooks]
    if added:
        machine.lent = (*outer, *((held, tuple(inside[held])) for held in added))
        machine.hooks.update((held, inside[held]) for held in added)
    try:
        yield
    finally:
        machine.lent = outer
        for held in added:
            machine.hooks.pop(held, None)


def knows_hooked(frame: Frame) -> bool:
    """Whether the code around may name a module with a hook; most code of a project never does."""
    owners = {held.owner for held in frame.machine.hooks}
    scope: Scope | None = frame.scope
    while scope is not None:
        if scope in owners:
            return True
        scope = scope.parent
    return frame.module in owners or frame.receiver in owners or frame.decl in owners


def _handed(frame: Frame, function: Function, node: ast.Call) -> Iterator[tuple[Held, list[Hook]]]:
    for position, parameter in enumerate(parameters(function.decl)):
        given = _given(function, node, parameter.arg)
        name = name_of(frame, given) if given is not None else ""
        for place in places(frame, name) if name else ():
            for held, hooks in frame.machine.hooks.items():
                if held.owner is not place.owner or not f"{held.name}.".startswith(f"{place.name}."):
                    continue
                rest = held.name[len(place.name) :]
                if position or not isinstance(function.receiver, Instance):
                    yield Held(function.decl, parameter.arg + rest), hooks
                else:
                    yield Held(function.receiver, rest[1:]), hooks


def take_over(frame: Frame, function: Function, summary: Summary, node: ast.AST) -> None:
    """Register for the caller what a call has left on its object or on what it was given."""
    for left in summary.hooks if isinstance(node, ast.Call) else ():
        given = _given(function, node, left.root) if isinstance(node, ast.Call) else None
        name = frame.own if given is SUPER else name_of(frame, given) if given is not None else ""
        if name:
            hang(frame, f"{name}.{left.rest}" if left.rest else name, left.hook)
        elif isinstance(given, ast.Call) and isinstance(node, ast.Call):
            _hang_on_result(frame, function, left, node)


def _hang_on_result(frame: Frame, function: Function, left: Left, node: ast.Call) -> None:
    """The same where the call gives back what it was given: `model = watched(Net())`."""
    name = _given_back(frame, function, left.root, node)
    root, full = name.partition(".")[0], f"{name}.{left.rest}" if left.rest else name
    if root in frame.env:
        hang(frame, full, left.hook)
    elif name:
        # The variable is bound when the call has ended.
        known = frame.machine.hooks.setdefault(Held(frame.scope, full), [])
        known += [left.hook] if left.hook not in known else []


SUPER = ast.Name("super", ast.Load())


def _given(function: Function, node: ast.Call, parameter: str) -> ast.expr | None:
    """The expression that a call passes for a parameter, or for the object of a method."""
    if function.receiver is not None and parameter == own_name(function.decl):
        match node.func:
            case ast.Attribute(value=ast.Call(func=ast.Name(id="super"), args=[])):
                return SUPER
            case ast.Attribute(value=owner, attr=name) if name == function.decl.name:
                return owner
        return None  # the object itself is called
    return argument(node, [arg.arg for arg in parameters(function.decl)][function.receiver is not None :], parameter)


def _given_back(frame: Frame, function: Function, parameter: str, node: ast.Call) -> str:
    """The variable of the caller for what a function gets and gives back; "" if it does not, or none is bound to it."""
    returned = (each.value for each in function.decl.every(ast.Return))
    if frame.decl is None or not any(isinstance(each, ast.Name) and each.id == parameter for each in returned):
        return ""
    for each in frame.decl.every(ast.Assign):
        value = each.value
        while value is not node and isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
            value = value.func.value
        if value is node and len(each.targets) == 1:
            return path_of(each.targets[0]) or ""
    return ""


def made_with(frame: Frame, instance: Instance, node: ast.AST) -> None:
    """The hooks of what an object outside of regions is made with, and those that its constructor hangs on that."""
    machine = frame.machine
    init = constructor(machine.project, instance.decl)
    if init is None or not isinstance(node, ast.Call):
        return
    if mentions(init.node, REGISTERING) and _registers_any(init):
        machine.construct_recorded(frame, instance, node)
    function = Function(init, instance, None, init.owner)
    for held, hooks in list(_handed(frame, function, node)) if machine.hooks else ():
        root, dot, rest = held.name.partition(".")
        for name in _kept_as(init, root):
            known = machine.hooks.setdefault(Held(instance, name + dot + rest), [])
            known += [hook for hook in hooks if hook not in known]


def _registers_any(decl: FunctionDecl) -> bool:
    return any(isinstance(each.func, ast.Attribute) and each.func.attr in REGISTERS for each in decl.every(ast.Call))


def _kept_as(init: FunctionDecl, parameter: str) -> list[str]:
    """`self.model = model`: the attributes that a constructor puts a parameter into as it is."""
    own = own_name(init)
    return [
        target.attr
        for each in init.every(ast.Assign)
        for target in each.targets
        if isinstance(each.value, ast.Name) and each.value.id == parameter and isinstance(target, ast.Attribute)
        if isinstance(target.value, ast.Name) and target.value.id == own
    ]


def forget_removed(frame: Frame, function: Function, node: ast.Call) -> None:
    """Drop the hooks of an object at a call of one of its methods that removes handles."""
    owner = node.func.value if isinstance(node.func, ast.Attribute) else None
    name = name_of(frame, owner) if owner is not None and removes(function.decl) else ""
    for place in places(frame, name) if name else ():
        for held in [each for each in frame.machine.hooks if each.owner is place.owner]:
            if not place.name or held.name == place.name or held.name.startswith(f"{place.name}."):
                del frame.machine.hooks[held]


def removes(decl: FunctionDecl) -> bool:
    """Whether a function calls `remove()` of something."""
    calls = (each for each in decl.every(ast.Call) if not each.args)
    return any(isinstance(each.func, ast.Attribute) and each.func.attr == "remove" for each in calls)


def at_import(machine: Machine, module: Module) -> None:
    """Register what a file registers when it is imported, on modules that its variables hold.

    Comes before anything in the file runs, so that what its functions do does not depend on what ran before them.
    """
    machine.imported.add(module)
    if REGISTERING not in module.source.text:
        return
    frame, outer = machine.toplevel(module), machine.begin()
    for node in module.source.tree.body:
        if isinstance(node, (ast.Expr, ast.Assign, ast.For)) and any(
            _registers(machine, module, each) for each in walk(node)
        ):
            frame.run([node])
    machine.ends(outer)


def _registers(machine: Machine, module: Module, node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(attr=name)) if name in REGISTERS:
            return True
        case ast.Call(func=ast.Name(id=name), args=[_, *_]):
            found = machine.project.lookup(module, name)
            return isinstance(found, FunctionDecl) and _registers_any(found)
    return False


def places(frame: Frame, name: str) -> Iterator[Held]:
    """Where a dotted name may be held: in the object of the method, in the functions around, or in the file."""
    root, _, rest = name.partition(".")
    if root == frame.own and isinstance(frame.receiver, Instance):
        yield Held(frame.receiver, rest)
        return
    scope: Scope | None = frame.scope
    while scope is not None:
        if root in scope.env:
            yield Held(scope, name)
            if frame.decl is not None and root in frame.inputs:
                yield Held(frame.decl, name)
            return
        scope = scope.parent
    yield Held(frame.module, name)


def name_of(frame: Frame, node: ast.expr, depth: int = DEEPEST) -> str:
    """`self.layers.*` for `self.layers[0]` and for the variable of a loop over them; "" for what is no such chain.

    A variable that is bound once, to such a chain, is that chain.
    """
    if isinstance(node, (ast.Subscript, ast.Call)):
        return _looked_up(node)
    path = path_of(node)
    root = node
    while isinstance(root, ast.Attribute):
        root = root.value
    if not isinstance(root, ast.Name) or root.id == frame.own:
        return path or ""
    if root is node:
        for target, iterated, body in _loops(frame):
            bound = any(isinstance(each, ast.Name) and each.id == root.id for each in walk(target))
            if bound and stands_in(body, node):
                return _iterated(iterated)
    meant = _meant(frame, root, depth) if depth else ""
    return meant + (path or "")[len(root.id) :] if meant else path or ""


def _meant(frame: Frame, node: ast.Name, depth: int) -> str:
    """`part = self.norm`: what a variable stands for."""
    if frame.decl is None or node.id in frame.inputs:
        return ""
    known = frame.machine.read.bound_once.get(frame.decl)
    if known is None:
        known = frame.machine.read.bound_once[frame.decl] = _bound_once(frame.decl)
    value = known.get(node.id)
    return name_of(frame, value, depth - 1) if isinstance(value, (ast.Attribute, ast.Subscript)) else ""


def _bound_once(decl: FunctionDecl) -> dict[str, ast.expr]:
    """The variables that one assignment of a function binds, with what it binds them to."""
    found: dict[str, list[ast.expr]] = {}
    for each in decl.every(ast.Assign):
        for target in stored(each):
            if isinstance(target, ast.Name):
                found.setdefault(target.id, []).append(each.value)
    return {name: values[0] for name, values in found.items() if len(values) == 1}


def _looked_up(node: ast.Subscript | ast.Call) -> str:
    """`self.layers.*` for `self.layers[0]`, `self.norm` for `getattr(self, "norm")` and `self.get_submodule("norm")`."""
    match node:
        case ast.Subscript(value=ast.Attribute(value=owner, attr="_modules"), slice=key):
            return _part(owner, key)
        case ast.Subscript(value=owner):
            return _part(owner, owner)
        case ast.Call(func=ast.Name(id="getattr"), args=[owner, key, *_]):
            return _part(owner, key)
        case ast.Call(func=ast.Attribute(value=owner, attr="get_submodule"), args=[key]):
            return _part(owner, key)
    return ""


def _part(owner: ast.expr, key: ast.expr) -> str:
    """The name of a part of a module; a star for one of which only at run time is known which it is."""
    path = path_of(owner)
    named = key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else "*"
    return f"{path}.{named}" if path is not None else ""


Loop = tuple[ast.expr, ast.expr, Sequence[ast.stmt | ast.expr]]
"""What a loop binds, what it goes through, and what it does."""


def _loops(frame: Frame) -> Iterable[Loop]:
    """The loops of a function, or of what a file does when it is imported."""
    if frame.decl is None:
        return _loops_of(frame.module)
    kinds = (ast.For, ast.ListComp, ast.DictComp)
    return (found for kind in kinds for each in frame.decl.every(kind) for found in _rounds(each))


@once_a_module
def _loops_of(module: Module) -> list[Loop]:
    waiting: list[ast.AST] = [module.source.tree]
    found: list[Loop] = []
    while waiting:
        here = waiting.pop()
        if not isinstance(here, (ast.FunctionDef, ast.AsyncFunctionDef)):
            found.extend(_rounds(here))
            waiting.extend(ast.iter_child_nodes(here))
    return found


def _rounds(node: ast.AST) -> Iterator[Loop]:
    if isinstance(node, ast.For):
        yield node.target, node.iter, node.body
    elif isinstance(node, (ast.ListComp, ast.DictComp)):
        made = node.value if isinstance(node, ast.DictComp) else node.elt
        yield from ((part.target, part.iter, [made]) for part in node.generators)


def _iterated(node: ast.expr) -> str:
    match node:
        case ast.Call(func=ast.Name(id=name), args=[inner, *_]) if name in PAIRING:
            return _iterated(inner)
        case ast.Call(func=ast.Attribute(value=inner, attr=name)) if name in PARTS or name in NAMED_PARTS:
            return _iterated(inner)
    path = path_of(node)
    return f"{path}.*" if path is not None else ""
