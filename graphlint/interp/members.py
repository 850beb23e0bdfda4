"""What the methods of a class assign, asked a name at a time: most methods are never read for it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from graphlint.outline import mentions
from graphlint.project import ClassDecl, FunctionDecl
from graphlint.syntax import nested, stored

if TYPE_CHECKING:
    from graphlint.interp.machine import Machine


class Writes(NamedTuple):
    """The attributes a method assigns through its first parameter, and those it moves on: `self.step += 1`."""

    assigned: frozenset[str]
    moved: frozenset[str]


def late_writers(machine: Machine, decl: ClassDecl, name: str) -> list[FunctionDecl]:
    """The methods, other than `__init__`, that assign an attribute."""
    key = (decl, name)
    known = machine.writers.get(key)
    if known is None:
        known = machine.writers[key] = [
            base.module.function(method, base, method.name)
            for base, method in methods(machine, decl)
            if method.name != "__init__" and mentions(method, f".{name}") and name in writes(machine, method).assigned
        ]
    return known


def is_counter(machine: Machine, decl: ClassDecl, name: str) -> bool:
    """Whether some method moves an attribute on from its own value."""
    key = (decl, name)
    known = machine.counted.get(key)
    if known is None:
        known = machine.counted[key] = any(
            mentions(method, f".{name}") and name in writes(machine, method).moved for _, method in methods(machine, decl)
        )
    return known


def assigns(machine: Machine, decl: ClassDecl, method: str) -> bool:
    """Whether a method, as any of the bases defines it, assigns some attribute."""
    return any(
        found.name == method != "__init__" and writes(machine, found).assigned for _, found in methods(machine, decl)
    )


def methods(machine: Machine, decl: ClassDecl) -> Iterator[tuple[ClassDecl, ast.FunctionDef]]:
    """The methods of a class and of its bases, with the class they stand in."""
    for base in machine.project.mro(decl):
        if isinstance(base, ClassDecl):
            for symbols in base.members.values():
                if isinstance(symbols[-1], ast.FunctionDef):
                    yield base, symbols[-1]


def writes(machine: Machine, method: ast.FunctionDef) -> Writes:
    known = machine.method_writes.get(method)
    if known is None:
        known = machine.method_writes[method] = Writes(frozenset(_assigned(method)), frozenset(_moved(method.body)))
    return known


def _assigned(method: ast.FunctionDef) -> Iterator[str]:
    if not method.args.args:
        return
    receiver = method.args.args[0].arg
    for target in (each for statement in nested(method.body) for each in stored(statement)):
        if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == receiver:
            yield target.attr


def _moved(body: list[ast.stmt]) -> Iterator[str]:
    for statement in nested(body):
        match statement:
            case ast.AugAssign(target=ast.Attribute(attr=name)):
                yield name
            case ast.Assign(targets=[ast.Attribute(attr=name)], value=ast.BinOp() as value) if name in _read(value):
                yield name


def _read(value: ast.expr) -> set[str]:
    return {node.attr for node in ast.walk(value) if isinstance(node, ast.Attribute)}
