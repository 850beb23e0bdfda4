"""What the functions of a module pass to the constructor of one of its classes.

`build(...)` functions say what a constructor without annotations is given: other modules, helper objects, callables.
Only such parts are taken from them; numbers and flags are for the caller to choose.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from graphlint.interp.binding import bind
from graphlint.interp.frame import Summary
from graphlint.outline import mentions
from graphlint.project import ClassDecl, FunctionDecl
from graphlint.syntax import walk
from graphlint.values import (
    Arguments,
    ClassValue,
    ExternalObject,
    Function,
    Instance,
    Partial,
    Seq,
    Value,
    join_all,
    members,
)

if TYPE_CHECKING:
    from graphlint.interp.machine import Machine

MOST_MAKERS = 2
PARTS = (Instance, Function, ClassValue, ExternalObject, Partial)


def passed(machine: Machine, init: FunctionDecl, owner: ClassDecl) -> dict[str, Value]:
    """The parts that functions beside the class pass to its constructor, by parameter."""
    known = machine.parts.get(owner)
    if known is None:
        machine.parts[owner] = known = {} if machine.writes else _look(machine, init, owner)
    return known


def _look(machine: Machine, init: FunctionDecl, owner: ClassDecl) -> dict[str, Value]:
    made: list[Arguments] = []
    for decl in _makers(machine, owner)[:MOST_MAKERS]:
        with machine.exploring(Instance(owner), {}), machine.watching(owner, made):
            machine.execute(Function(decl), machine.site_entry(decl, None), Summary(decl.name), recording=False)
    found: dict[str, list[Value]] = {}
    for arguments in made:
        for name, value in bind(machine, Function(init, Instance(owner)), arguments).items():
            found.setdefault(name, []).extend(part for part in members(value) if _is_part(part))
    return {name: join_all(parts) for name, parts in found.items() if parts}


def _is_part(value: Value) -> bool:
    return isinstance(value, PARTS) or (isinstance(value, Seq) and value.form in ("modules", "sequential"))


def _makers(machine: Machine, owner: ClassDecl) -> list[FunctionDecl]:
    """The functions at the top of the class's module that call it by name."""
    found = []
    for symbols in owner.module.symbols.values():
        node = symbols[-1]
        if not isinstance(node, ast.FunctionDef) or not mentions(node, owner.name):
            continue
        if owner.name in _called(machine, node):
            found.append(owner.module.function(node, None, node.name))
    return found


def _called(machine: Machine, node: ast.FunctionDef) -> frozenset[str]:
    """The plain names that a function calls."""
    known = machine.called.get(node)
    if known is None:
        calls = [each.func for each in walk(node) if isinstance(each, ast.Call)]
        known = machine.called[node] = frozenset(each.id for each in calls if isinstance(each, ast.Name))
    return known
