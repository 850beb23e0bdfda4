"""Optimizers of the tree: the options of their groups, and the numbers that each step counts on.

class Own(torch.optim.Optimizer):
    def __init__(self, params, lr=1e-3):
        super().__init__(params, dict(lr=lr, t=0))

    def step(self):
        for group in self.param_groups:
            group["t"] += 1                                 # Python counts while capturing only
            lr = group["lr"] / group["t"]

What a class says of a key, wherever it is looked up, is taken together: groups and the states of parameters come to a
method under names of all kinds.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from graphlint.events import HostMutation
from graphlint.interp.members import own_methods
from graphlint.project import ClassDecl, Project
from graphlint.record import NamedTuple
from graphlint.syntax import last_called, nested, spelled, stored, walk
from graphlint.values import Instance, Kind, Number, Origin, Seq, Value

if TYPE_CHECKING:
    from graphlint.interp.frame import Frame


SAME = "="
"""Stands before the key of an entry whose very value a variable has."""


class Keys(NamedTuple):
    """What is known of keys: the values of options, and which numbers a step moves on."""

    options: Mapping[str, Value]
    moved: frozenset[str]


def entry(frame: Frame, node: ast.Subscript) -> Value | None:
    """What an entry of a group or of a state of an optimizer is; None where its class does not say."""
    receiver = frame.receiver
    if not isinstance(receiver, Instance) or not isinstance(node.slice, ast.Constant):
        return None
    keys = keys_of(frame, receiver.decl)
    if node.slice.value in keys.moved:
        return Number(Kind.ANY, None, Origin.STATE)
    return keys.options.get(str(node.slice.value))


def report_step(frame: Frame, target: ast.Subscript, node: ast.AST) -> None:
    """`state["step"] += 1`: steps of an optimizer count on in Python, while capturing only."""
    receiver = frame.receiver
    if isinstance(receiver, Instance) and _key(target) in keys_of(frame, receiver.decl).moved:
        frame.emit(HostMutation, node, target=spelled(target), what="counter")


def keys_of(frame: Frame, decl: ClassDecl) -> Keys:
    """What the class of an optimizer says of its keys, worked out once."""
    known = frame.machine.read.stepped.get(decl)
    if known is None:
        known = frame.machine.read.stepped[decl] = read(frame.machine.project, decl)
    return known


def read(project: Project, decl: ClassDecl) -> Keys:
    methods = [each for base in project.mro(decl) if isinstance(base, ClassDecl) for each in own_methods(base)]
    numbers, others, moved = set[str](), set[str](), set[str]()
    options: dict[str, Value] = {}
    for method in methods:
        by_way = _computed(method)
        for key, value in _stores(method):
            if _speaks_of(value, key, by_way):
                moved.add(key)
            else:
                (numbers if _is_number(value) else others).add(key)
        if method.name == "__init__":
            options.update((key, given) for key, given in _options(method) if key not in options)
    numbers |= {key for key, value in options.items() if isinstance(value, Number)}
    return Keys(
        {key: value for key, value in options.items() if key not in moved | others}, frozenset(moved & numbers - others)
    )


def _stores(method: ast.FunctionDef) -> Iterator[tuple[str, ast.expr]]:
    """The keys under which a method stores something, with what it is; of `x += 1` the sum."""
    for node in nested(method.body):
        match node:
            case ast.AugAssign(target=ast.Subscript(slice=ast.Constant(value=str(key))) as target, value=value):
                yield key, ast.BinOp(target, node.op, value)
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)) if len(targets) == len(values):
                yield from ((_key(to), value) for to, value in zip(targets, values) if _key(to))
            case ast.Assign() | ast.AnnAssign() if node.value is not None:
                yield from ((_key(to), node.value) for to in stored(node) if _key(to))


def _key(node: ast.AST) -> str:
    match node:
        case ast.Subscript(slice=ast.Constant(value=str(key))):
            return key
    return ""


def _computed(method: ast.FunctionDef) -> dict[str, set[str]]:
    """The keys that each variable of a method was computed from, also by way of others."""
    found: dict[str, set[str]] = {}
    for node in nested(method.body):
        if not isinstance(node, ast.Assign):
            continue
        pairs: list[tuple[ast.expr, ast.expr]] = [(to, node.value) for to in node.targets]
        match node:
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
                pairs = list(zip(targets, values))
        for to, value in pairs:
            if isinstance(to, ast.Name):
                same = {SAME + _key(value)} if _key(value) else set()
                found.setdefault(to.id, set()).update(_keys_in(value, found), same)
    return found


def _keys_in(value: ast.expr, known: Mapping[str, set[str]]) -> set[str]:
    parts = list(walk(value))
    return {_key(each) for each in parts if _key(each)}.union(
        *(known.get(each.id, ()) for each in parts if isinstance(each, ast.Name))
    )


def _speaks_of(value: ast.expr, key: str, by_way: Mapping[str, set[str]]) -> bool:
    """Whether an entry is computed from what it held; a variable that was bound to just that puts it back."""
    if isinstance(value, ast.Subscript) or (isinstance(value, ast.Name) and SAME + key in by_way.get(value.id, ())):
        return False
    return key in _keys_in(value, by_way)


def _is_number(value: ast.AST | None) -> bool:
    number = value.operand if isinstance(value, ast.UnaryOp) else value
    return isinstance(number, ast.Constant) and type(number.value) in (int, float)


def _options(method: ast.FunctionDef) -> Iterator[tuple[str, Value]]:
    """What a constructor gives groups by default, of which it is seen that it is a number, or some."""
    given = method.args
    places = [*given.posonlyargs, *given.args]
    defaults = dict(zip([each.arg for each in reversed(places)], reversed(given.defaults)))
    defaults.update({each.arg: value for each, value in zip(given.kwonlyargs, given.kw_defaults) if value is not None})
    for node in (each for part in method.body for each in walk(part)):
        pairs: list[tuple[str, ast.expr]] = []
        match node:
            case ast.Call(keywords=words) if last_called(node) == "dict":
                pairs = [(word.arg, word.value) for word in words if word.arg is not None]
            case ast.Dict(keys=keys, values=values):
                pairs = [(str(each.value), value) for each, value in zip(keys, values) if isinstance(each, ast.Constant)]
        for key, value in pairs:
            meant = defaults.get(value.id) if isinstance(value, ast.Name) else value
            found = _value(meant)
            if found is not None:
                yield key, found


def _value(node: ast.expr | None) -> Value | None:
    if _is_number(node):
        return Number(Kind.ANY, None, Origin.CONFIG)
    if isinstance(node, ast.Tuple) and all(map(_is_number, node.elts)):
        return Seq("tuple", tuple(Number(Kind.FLOAT, None, Origin.CONFIG) for _ in node.elts))
    return None
