"""Arguments of constructors that make no other object: sizes that only torch gets, and what nobody looks at."""

from __future__ import annotations

import ast
from collections import Counter
from typing import TYPE_CHECKING

from graphlint.interp.fields import constructor
from graphlint.interp.objects import is_module
from graphlint.project import ClassDecl, FunctionDecl, Outside
from graphlint.syntax import walk
from graphlint.values import Arguments, Number, Origin, Value

if TYPE_CHECKING:
    from graphlint.interp.machine import Machine

LARGE = 8
"""The greatest number that keeps its value: up to here counts, strides and flags are found, above widths of layers."""


def without_sizes(machine: Machine, decl: ClassDecl, arguments: Arguments) -> Arguments:
    """The arguments of an object that is there before the region, so that layers of other widths are one object.

    A number that the constructor keeps, compares, counts with or hands on to code of the tree stays what it is.
    """
    init = constructor(machine.project, decl) if is_module(machine, decl) else None
    if init is None:
        return arguments
    known = machine.read.widths.get(init)
    if known is None:
        known = machine.read.widths[init] = _widths(machine, init)
    if not known:
        return arguments
    order = init.signature.named[1:]
    return Arguments(
        tuple(
            _without_size(value) if at < len(order) and order[at].arg in known else value
            for at, value in enumerate(arguments.positional)
        ),
        tuple((name, _without_size(value) if name in known else value) for name, value in arguments.keywords),
        arguments.more,
        arguments.more_keywords,
    )


def without_unread(machine: Machine, decl: ClassDecl, arguments: Arguments) -> Arguments:
    """The arguments of an object without those that its constructor takes as `**kwargs` and never looks at."""
    init = constructor(machine.project, decl) if arguments.keywords else None
    spread = None if init is None else init.node.args.kwarg
    if init is None or spread is None or spread.arg not in init.unread:
        return arguments
    order = init.signature.order
    kept = tuple(given for given in arguments.keywords if given[0] in order)
    return arguments if len(kept) == len(arguments.keywords) else arguments.replace(keywords=kept)


def _widths(machine: Machine, init: FunctionDecl) -> frozenset[str]:
    """The parameters of a constructor that are arguments of torch's functions and modules and nothing else."""
    nested: list[ast.AST] = [*init.every(ast.Lambda), *init.every(ast.FunctionDef)]
    if any(each is not init.node for each in nested):
        return frozenset()
    uses = Counter(each.id for each in init.every(ast.Name))
    passed: Counter[str] = Counter()
    for call in init.every(ast.Call):
        found = machine.project.dotted(init.module, call.func)
        if isinstance(found, Outside) and found.name.startswith("torch."):
            passed.update(name for each in (*call.args, *(word.value for word in call.keywords)) for name in _names(each))
    return frozenset(name for name in init.signature.order[1:] if 0 < passed[name] == uses[name])


def _names(value: ast.expr) -> list[str]:
    """The names of an argument that is one, or is computed from some."""
    plain = (ast.Name, ast.BinOp, ast.Tuple, ast.List, ast.Constant)
    parts = [each for each in walk(value) if isinstance(each, ast.expr)]
    names = [each.id for each in parts if isinstance(each, ast.Name)]
    return names if all(isinstance(each, plain) for each in parts) else []


def _without_size(value: Value) -> Value:
    if not isinstance(value, Number) or value.origin not in (Origin.CONST, Origin.CONFIG):
        return value
    return Number(value.kind, None, Origin.CONFIG) if value.value is None or value.value > LARGE else value
