"""Hooks of modules: code that every call of a module runs besides its `forward`, or that its backward pass runs.

Equal objects are one value here, so a hook belongs to the name under which its module is held: `self.norm`, in every
object of the class whose constructor registers it, or a variable of the function that does so.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager

from graphlint.effects.table import lookup
from graphlint.interp.callbacks import GRADIENT, in_backward
from graphlint.interp.dispatch import apply
from graphlint.interp.frame import Frame
from graphlint.interp.handlers import first, method, module_method
from graphlint.interp.mutation import is_building, path_of
from graphlint.interp.torch_calls import call_object_method, call_row
from graphlint.record import NamedTuple
from graphlint.syntax import stands_in, walk
from graphlint.values import (
    TRUE,
    Arguments,
    ExternalObject,
    Instance,
    Nothing,
    Opaque,
    Scope,
    Seq,
    Table,
    Text,
    Value,
    join_all,
    members,
)

BACKWARD = ("register_full_backward_hook", "register_full_backward_pre_hook", "register_backward_hook")
REGISTERS = ("register_forward_hook", "register_forward_pre_hook", *BACKWARD)
HANDLE = "torch.utils.hooks.RemovableHandle"
PARTS = frozenset({"children", "modules", "values"})
NAMED_PARTS = frozenset({"named_children", "named_modules", "items"})
PAIRING = frozenset({"enumerate", "zip", "reversed", "list"})


class Hook(NamedTuple):
    """A function that is called with a module, its arguments and, unless it comes `before`, its result.

    One for the backward pass is called with gradients instead.
    """

    function: Value
    module: Value
    before: bool
    with_keywords: bool
    backward: bool = False


class Held(NamedTuple):
    """A module by the name that holds it, in an object or among the variables of a function."""

    owner: Instance | Scope
    name: str


@module_method(*REGISTERS)
@method(ExternalObject, *REGISTERS)
def register_hook(frame: Frame, receiver: Value, arguments: Arguments, node: ast.AST) -> Value:
    """Remember a hook; one that a method registers after the construction is left out."""
    function = first(arguments, 0, "hook")
    if function is None or not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return Opaque()
    full = f"torch.nn.Module.{node.func.attr}"
    if node.func.attr in BACKWARD and lookup(full) is not None:
        call_row(frame, full, arguments, node, None, receiver)
    held = _held(frame, node.func.value)
    if held is None or (isinstance(held.owner, Instance) and not is_building(frame, held.owner)):
        return Opaque()
    name = node.func.attr
    hook = Hook(function, receiver, name.endswith("pre_hook"), arguments.keyword("with_kwargs") is TRUE, name in BACKWARD)
    known = frame.machine.hooks.setdefault(held, [])
    if hook not in known:
        known.append(hook)
    return ExternalObject(HANDLE, Arguments((Text(held.name), function)))


@method(ExternalObject, "remove")
def remove(frame: Frame, receiver: Value, arguments: Arguments, node: ast.AST) -> Value:
    """`handle.remove()`."""
    assert isinstance(receiver, ExternalObject)
    if receiver.name != HANDLE or receiver.arguments is None:
        return call_object_method(frame, receiver, "remove", arguments, node)
    name, function = receiver.arguments.positional
    for held, hooks in frame.machine.hooks.items():
        if isinstance(name, Text) and held.name == name.value and held.owner in (frame.scope, frame.receiver):
            hooks[:] = [each for each in hooks if each.function is not function]
    return Nothing()


def hooked(frame: Frame, callee: Value, arguments: Arguments, value: Value, node: ast.AST) -> Value:
    """The result of a call of a module, after its hooks."""
    for hook in list(_hooks(frame, callee, node)):
        if hook.backward:
            with in_backward(frame, node):
                several: list[Value] = [Seq("tuple", (GRADIENT,))] * (1 if hook.before else 2)
                apply(frame, hook.function, Arguments((callee, *several)), node)
            continue
        given: list[Value] = [callee, Seq("tuple", arguments.positional)]
        if hook.with_keywords:
            given.append(Table(arguments.keywords))
        if not hook.before:
            given.append(value)
        returned = apply(frame, hook.function, Arguments(tuple(given)), node)
        if not hook.before:
            value = join_all([value if isinstance(each, Nothing) else each for each in members(returned)])
    return value


@contextmanager
def lent(frame: Frame, callee: Instance, node: ast.AST) -> Iterator[None]:
    """While a module runs, its parts have the hooks that code around registered: `model.norm` is `self.norm` there."""
    known = frame.machine.hooks
    name = _name(frame, node.func) if isinstance(node, ast.Call) else ""
    inside = {
        Held(callee, each.name[len(held.name) + 1 :]): hooks
        for held in (_places(frame, name) if name else ())
        for each, hooks in known.items()
        if each.owner is held.owner and each.name.startswith(f"{held.name}.")
    }
    added = [held for held in inside if held not in known]
    outer = frame.machine.lent
    if added:
        # What was found of the same call elsewhere, where nobody has registered them, is another result.
        frame.machine.lent = (*outer, *((held, tuple(inside[held])) for held in added))
    known.update((held, inside[held]) for held in added)
    try:
        yield
    finally:
        frame.machine.lent = outer
        for held in added:
            del known[held]


def own_hooks(frame: Frame, receiver: Instance, arguments: Arguments, value: Value, node: ast.AST) -> None:
    """Run the hooks that a module has registered for itself, where only its `forward` was entered."""
    for _ in frame.machine.hooks.get(Held(receiver, ""), ()):
        hooked(frame, receiver, arguments, value, node)
        return


def _hooks(frame: Frame, callee: Value, node: ast.AST) -> Iterator[Hook]:
    known = frame.machine.hooks
    if isinstance(callee, Instance):
        yield from known.get(Held(callee, ""), ())
    if not isinstance(node, ast.Call):
        return
    name = _name(frame, node.func)
    for held in _places(frame, name) if name else ():
        yield from known.get(held, ())
        # What was registered for all of several modules, among which a condition may have chosen.
        for several in (f"{held.name}.*".lstrip("."), "*"):
            if several != held.name:
                yield from (each for each in known.get(held._replace(name=several), ()) if callee in members(each.module))


def _held(frame: Frame, node: ast.expr) -> Held | None:
    """What holds a module, for an expression that leads to it."""
    name = _name(frame, node)
    return next(_places(frame, name), None) if name else None


def _places(frame: Frame, name: str) -> Iterator[Held]:
    """Where a dotted name may be held: in the object of the method, or in the functions around."""
    root, _, rest = name.partition(".")
    if root == frame.own and isinstance(frame.receiver, Instance):
        yield Held(frame.receiver, rest)
        return
    scope: Scope | None = frame.scope
    while scope is not None:
        if root in scope.env:
            yield Held(scope, name)
            return
        scope = scope.parent


def _name(frame: Frame, node: ast.expr) -> str:
    """`self.layers.*` for `self.layers[0]` and for the variable of a loop over them; "" for what is no such chain."""
    if isinstance(node, ast.Subscript):
        path = path_of(node.value)
        return f"{path}.*" if path is not None else ""
    path = path_of(node)
    if isinstance(node, ast.Name) and path != frame.own:
        for loop in _loops(frame):
            bound = any(isinstance(each, ast.Name) and each.id == node.id for each in walk(loop.target))
            if bound and stands_in(loop.body, node):
                return _iterated(loop.iter)
    return path or ""


def _loops(frame: Frame) -> list[ast.For]:
    """The loops of a function; a constructor is run without its declaration, so those of its class."""
    if frame.summary.decl is not None:
        return frame.summary.decl.every(ast.For)
    within = frame.module.source.tree if frame.owner is None else frame.owner.node
    return [each for each in walk(within) if isinstance(each, ast.For)]


def _iterated(node: ast.expr) -> str:
    match node:
        case ast.Call(func=ast.Name(id=name), args=[inner, *_]) if name in PAIRING:
            return _iterated(inner)
        case ast.Call(func=ast.Attribute(value=inner, attr=name)) if name in PARTS or name in NAMED_PARTS:
            return _iterated(inner)
    path = path_of(node)
    return f"{path}.*" if path is not None else ""
