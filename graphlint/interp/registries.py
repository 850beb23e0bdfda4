"""Dictionaries that are made empty and that decorators or statements of their file fill: `@register("mean")`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from graphlint.project import ClassDecl, Module
from graphlint.record import NamedTuple
from graphlint.syntax import nested, spelled
from graphlint.values import Table, Unknown, Value

if TYPE_CHECKING:
    from graphlint.interp.machine import Machine

Function = ast.FunctionDef | ast.AsyncFunctionDef
DECORATED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


class Filling(NamedTuple):
    """A function that puts what it is given, or what a function inside it decorates, into a dictionary under `key`."""

    node: Function
    given: str
    key: ast.expr
    is_outer: bool


def filled(machine: Machine, module: Module, node: ast.expr) -> Value | None:
    """What a file puts into an empty dictionary at its top; None for any that it does not fill there."""
    if not _is_empty(node):
        return None
    name = next((spelled(to) for each in module.source.tree.body for to in _targets(each, node)), "")
    if not name or f"{name}[" not in module.source.text:
        return None
    fillings = {each.node.name: each for each in _fillings(module, name)}
    entries = {**dict(_stored(machine, module, name)), **dict(_decorated(machine, module, fillings))}
    return Table(tuple(entries.items()), Unknown()) if entries else None


def filled_attribute(machine: Machine, decl: ClassDecl, name: str, left: Value) -> Value:
    """A dictionary that a constructor leaves empty and methods of objects in the file fill: `@LAYERS.register("mean")`."""
    module = decl.module
    if not (isinstance(left, Table) and left == Table()) or f".{name}[" not in module.source.text:
        return left
    methods = [each for each in decl.node.body if isinstance(each, Function) and each.args.args]
    found = [one for each in methods for one in _of(each, f"{each.args.args[0].arg}.{name}")]
    owners = [
        spelled(to)
        for each in module.source.tree.body
        if isinstance(each, ast.Assign) and isinstance(each.value, ast.Call) and spelled(each.value.func) == decl.name
        for to in each.targets
    ]
    fillings = {f"{owner}.{each.node.name}": each for owner in owners for each in found}
    entries = dict(_decorated(machine, module, fillings))
    return Table(tuple(entries.items()), Unknown()) if entries else left


def _is_empty(node: ast.expr) -> bool:
    match node:
        case ast.Dict(keys=[]) | ast.Call(func=ast.Name(id="dict" | "OrderedDict"), args=[], keywords=[]):
            return True
    return False


def _targets(statement: ast.stmt, value: ast.expr) -> list[ast.expr]:
    match statement:
        case ast.Assign(targets=targets) if statement.value is value:
            return targets
        case ast.AnnAssign(target=target) if statement.value is value:
            return [target]
    return []


def _stored(machine: Machine, module: Module, name: str) -> Iterator[tuple[str, Value]]:
    """`REDUCERS["mean"] = mean` at the top of a file."""
    frame = machine.toplevel(module)
    for each in module.source.tree.body:
        match each:
            case ast.Assign(targets=[ast.Subscript(value=holder, slice=ast.Constant(value=str(key)))], value=value):
                if spelled(holder) == name:
                    yield key, frame.eval(value)


def _fillings(module: Module, name: str) -> Iterator[Filling]:
    for each in module.source.tree.body:
        if isinstance(each, Function):
            yield from _of(each, name)


def _of(outer: Function, name: str) -> Iterator[Filling]:
    """How a function, or one right inside it, fills what is spelled like this."""
    yield from _filling(outer, outer, name)
    for inner in outer.body:
        if isinstance(inner, Function):
            yield from _filling(outer, inner, name)


def _filling(outer: Function, inner: Function, name: str) -> Iterator[Filling]:
    given = {each.arg for each in inner.args.args}
    for each in nested(inner.body):
        match each:
            case ast.Assign(targets=[ast.Subscript(value=holder, slice=key)], value=ast.Name(id=put)) if put in given:
                if spelled(holder) == name:
                    yield Filling(outer, put, key, outer is not inner)


def _decorated(machine: Machine, module: Module, fillings: dict[str, Filling]) -> Iterator[tuple[str, Value]]:
    decorated = [each for each in module.source.tree.body if isinstance(each, DECORATED)] if fillings else []
    for each in decorated:
        for item in each.decorator_list:
            call = item if isinstance(item, ast.Call) else None
            filling = fillings.get(spelled(call.func if call is not None else item))
            found = machine.project.lookup(module, each.name) if filling is not None else None
            value = machine.value(found) if found is not None else None
            if filling is not None and value is not None and filling.is_outer is (call is not None):
                yield _key(filling, call, each.name), value


def _key(filling: Filling, call: ast.Call | None, name: str) -> str:
    """The key that a decorator is given, or the name of what it decorates."""
    wanted = {each.id for each in ast.walk(filling.key) if isinstance(each, ast.Name)}
    names = [each.arg for each in filling.node.args.args]
    if call is not None and isinstance(call.func, ast.Attribute):
        names = names[1:]
    given = [] if call is None else [*zip(names, call.args), *((word.arg, word.value) for word in call.keywords)]
    for parameter, value in given:
        if parameter in wanted and isinstance(value, ast.Constant) and isinstance(value.value, str):
            return value.value
    return name
