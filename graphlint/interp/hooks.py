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
from graphlint.interp.frame import Frame, Held, Hook
from graphlint.interp.handlers import first, method, module_method
from graphlint.interp.hanging import BACKWARD, REGISTERS, hang, name_of, places
from graphlint.interp.torch_calls import call_object_method, call_row
from graphlint.project import FunctionDecl
from graphlint.values import (
    TRUE,
    Arguments,
    ExternalObject,
    Instance,
    Nothing,
    Opaque,
    Seq,
    Table,
    Text,
    Value,
    join_all,
    members,
)

HANDLE = "torch.utils.hooks.RemovableHandle"


@module_method(*REGISTERS)
@method(ExternalObject, *REGISTERS)
def register_hook(frame: Frame, receiver: Value, arguments: Arguments, node: ast.AST) -> Value:
    """Hang a hook on a module, to be run where the module is called; gives the handle that takes it down."""
    function = first(arguments, 0, "hook")
    if function is None or not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return Opaque()
    full = f"torch.nn.Module.{node.func.attr}"
    if node.func.attr in BACKWARD and lookup(full) is not None:
        call_row(frame, full, arguments, node, None, receiver)
    name = node.func.attr
    hook = Hook(function, receiver, name.endswith("pre_hook"), arguments.keyword("with_kwargs") is TRUE, name in BACKWARD)
    held = hang(frame, name_of(frame, node.func.value), hook)
    if held is None:
        return Opaque()
    return ExternalObject(HANDLE, Arguments((Text(held.name), function)))


@method(ExternalObject, "remove")
def remove(frame: Frame, receiver: Value, arguments: Arguments, node: ast.AST) -> Value:
    """`handle.remove()` takes a hook down wherever it hangs."""
    assert isinstance(receiver, ExternalObject)
    if receiver.name != HANDLE or receiver.arguments is None:
        return call_object_method(frame, receiver, "remove", arguments, node)
    name, function = receiver.arguments.positional
    for held, hooks in frame.machine.hooks.items():
        if isinstance(name, Text) and held.name == name.value and held.owner in (frame.scope, frame.receiver):
            hooks[:] = [each for each in hooks if each.function is not function]
    kept = frame.summary.hooks
    kept[:] = [each for each in kept if each.hook.function is not function]
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
    name = name_of(frame, node.func) if isinstance(node, ast.Call) else ""
    inside = {
        Held(callee, rest): hooks
        for held in (places(frame, name) if name else ())
        for each, hooks in known.items()
        if each.owner is held.owner and (rest := _inside(held.name, each.name))
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


def _inside(part: str, hooked: str) -> str:
    """The name that a hooked module has in a part of what it is a part of; "" if it is none of that."""
    if hooked.startswith(f"{part}."):
        return hooked[len(part) + 1 :]
    # What was registered for modules however deep: among which it is looks at each of them.
    return "*" if hooked.endswith("*") and f"{part}.".startswith(hooked[:-1]) else ""


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
    name = name_of(frame, node.func)
    for held in places(frame, name) if name else ():
        yield from known.get(held, ())
        # What was registered for all of several modules, among which a condition may have chosen.
        for several in (f"{held.name}.*".lstrip("."), "*"):
            if several != held.name:
                yield from (each for each in known.get(held._replace(name=several), ()) if callee in members(each.module))


def called_by_name(decl: FunctionDecl) -> ast.Call | None:
    """The call of what a function returns as the `fn` of a case, by the name under which hooks were hung on it there."""
    for each in decl.every(ast.Return):
        match each.value:
            case ast.Dict(keys=keys, values=values):
                named = {key.value: value for key, value in zip(keys, values) if isinstance(key, ast.Constant)}
                found = named.get("fn")
            case ast.Tuple(elts=[found, *_]):
                pass
            case ast.Call(func=ast.Name(id="Case") | ast.Attribute(attr="Case"), args=[found, *_]):
                pass
            case _:
                continue
        if isinstance(found, (ast.Name, ast.Attribute)):
            return ast.copy_location(ast.Call(found, [], []), found)
    return None
