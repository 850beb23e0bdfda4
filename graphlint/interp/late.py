"""What other methods than the constructor leave in an attribute.

Expressions in a method with none of its variables in them, which say what they give without the method being run.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from graphlint.interp.annotations import annotated
from graphlint.interp.binding import own_name
from graphlint.interp.frame import Summary
from graphlint.interp.members import Written, is_property, late_writers, writes
from graphlint.interp.record import Record
from graphlint.project import FunctionDecl
from graphlint.syntax import TRIES, stands_in, stored, walk
from graphlint.values import (
    EITHER,
    Bool,
    Function,
    Instance,
    Kind,
    Nothing,
    Number,
    Origin,
    Seq,
    Text,
    Unknown,
    Value,
    join_all,
    loosened,
    members,
)

if TYPE_CHECKING:
    from graphlint.interp.machine import Machine

MOST_LATE_WRITERS = 6
MADE = {
    "str": Text(),
    "bool": EITHER,
    "int": Number(Kind.INT, None, Origin.CONFIG),
    "len": Number(Kind.INT, None, Origin.CONFIG),
    "float": Number(Kind.FLOAT, None, Origin.CONFIG),
}
"""What these functions of Python give, whatever they are given."""

SIZE = Number(Kind.INT, None, Origin.SHAPE)


def explore(machine: Machine, value: Instance, record: Record, name: str, first: Value | None) -> Value | None:
    """What the methods that write this attribute leave in it, whenever they run; None if there are none.

    While one exploration runs, others see objects as their constructors left them: what is explored must not depend on
    what happened to be explored before.
    """
    if machine.writes:
        return None
    if name not in record.late:
        # What ran in the constructor without arguments has left its values in the record.
        writers = [each for each in late_writers(machine, value.decl, name) if each not in record.called]
        if writers and first is not None and _are_listed(first):
            writers = [each for each in writers if not _only_cuts(machine, each, name)]
        if writers and is_property(machine, value.decl, name):
            writers = []
        written = [_left(machine, value, decl, name) for decl in writers[:MOST_LATE_WRITERS]]
        found = [each for each in written if each is not None]
        record.late[name] = join_all(found) if found else None
    return record.late[name]


def _are_listed(value: Value) -> bool:
    return all(isinstance(each, Seq) and each.form in ("modules", "sequential") for each in members(value))


def _only_cuts(machine: Machine, decl: FunctionDecl, name: str) -> bool:
    """Whether a method leaves a part of a list of modules in its place: what is in it was there before."""
    assert isinstance(decl.node, ast.FunctionDef)
    return all(_is_cut(each.value, own_name(decl), name) for each in writes(machine, decl.node).values[name])


def _is_cut(value: ast.expr | None, own: str, name: str) -> bool:
    match value:
        case ast.Subscript(value=ast.Attribute(value=ast.Name(id=root), attr=attr), slice=ast.Slice()):
            return (root, attr) == (own, name)
    return False


def _left(machine: Machine, value: Instance, decl: FunctionDecl, name: str) -> Value | None:
    """What one method leaves in an attribute; it is only run where its text does not say so."""
    assert isinstance(decl.node, ast.FunctionDef)
    written = writes(machine, decl.node).values[name]
    said = [
        _made(machine, value, decl, each.value) if (known := _said(machine, decl, each)) is None else known
        for each in written
    ]
    sure = [each for each in said if each is not None]
    return join_all(sure) if len(sure) == len(said) else _probe(machine, value, decl).get(name)


def _made(machine: Machine, value: Instance, decl: FunctionDecl, node: ast.expr | None) -> Value | None:
    from graphlint.interp.spreading import made  # here because not every class has methods that write late

    found = made(machine, value, decl, node)
    return alone(machine, value, decl, node) if found is None else found


def _said(machine: Machine, decl: FunctionDecl, written: Written) -> Value | None:
    """The value of what is assigned, where it is text, a flag or a number whatever the method is given."""
    found = _told(written.value)
    if found is None and isinstance(written.value, ast.Name) and decl.name != "forward":
        name = written.value.id
        found = _given(machine, decl, name) if name in decl.signature.order else _kept(decl, name)
    if found is None and written.hint is not None:
        found = _plain(annotated(machine, decl.module, written.hint, decl.owner))
    return found


def _told(value: ast.expr | None) -> Value | None:
    """The value of an expression whose form says all about it."""
    match value:
        case ast.Constant(value=None):
            return Nothing()
        case ast.Constant(value=bool()) | ast.Compare() | ast.UnaryOp(op=ast.Not()):
            return EITHER
        case ast.Constant(value=str()) | ast.JoinedStr():
            return Text()
        case ast.Call(func=ast.Name(id=name)):
            return MADE.get(name)
        case ast.Subscript(value=ast.Attribute(attr="shape"), slice=ast.Constant() | ast.UnaryOp()):
            return SIZE
    return None


def _kept(decl: FunctionDecl, name: str) -> Value | None:
    """A variable of a method, if the form of all that is assigned to it says what it is."""
    made = [each.value for each in decl.every(ast.Assign) if _binds(each, name)]
    told = [each for each in map(_told, made) if each is not None]
    bound = sum(_binds(node, name) for node in walk(decl.node))
    return join_all(told) if told and len(told) == len(made) == bound else None


def _given(machine: Machine, decl: FunctionDecl, name: str) -> Value | None:
    """A parameter that a method never binds anew: declared to be text, a flag or a number, or nothing is known of it."""
    spec = decl.node.args
    arg = next((each for each in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs) if each.arg == name), None)
    if arg is None or any(_binds(node, name) for node in walk(decl.node)):
        return None
    if arg.annotation is None and name not in decl.signature.defaults and not _is_asked_about(decl, name):
        return Unknown()
    hint = None if arg.annotation is None else annotated(machine, decl.module, arg.annotation, decl.owner)
    if hint is None or any(isinstance(each, Nothing) for each in members(hint)):
        return None
    return _plain(hint)


def _is_asked_about(decl: FunctionDecl, name: str) -> bool:
    asking: list[ast.If | ast.IfExp | ast.While | ast.Assert] = [*decl.every(ast.If), *decl.every(ast.IfExp)]
    asking += [*decl.every(ast.While), *decl.every(ast.Assert)]
    return any(isinstance(node, ast.Name) and node.id == name for each in asking for node in walk(each.test))


def _binds(node: ast.AST, name: str) -> bool:
    targets = [node.target] if isinstance(node, ast.NamedExpr) else stored(node)
    return any(isinstance(each, ast.Name) and each.id == name for each in targets)


def _plain(value: Value) -> Value | None:
    """A declared value as a configuration decides it; None if it may be anything but text, flags and numbers."""
    plain = all(isinstance(each, (Text, Bool, Number, Nothing)) for each in members(value))
    return loosened(value) if plain else None


def _probe(machine: Machine, value: Instance, decl: FunctionDecl) -> dict[str, Value]:
    """Run one method on an object to see which attributes it writes."""
    key = (value, decl)
    known = machine.probes.get(key)
    if known is None:
        known = machine.probes[key] = {}
        with machine.exploring(value, known):
            env = machine.entry(decl, value) if decl.name == "forward" else machine.site_entry(decl, value)
            machine.execute(Function(decl, value, None, decl.owner), env, Summary(decl.name), recording=False)
    return known


def alone(machine: Machine, value: Instance, decl: FunctionDecl, node: ast.expr | None) -> Value | None:
    """What an expression in a method of an object gives; None if more of the method has to run for it."""
    own = own_name(decl)
    if node is None or not _stands_alone(machine, value, decl, node):
        return None
    with machine.exploring(value, {}):
        frame = machine.toplevel(decl.module)
        frame.env[own] = value
        frame.owner, frame.receiver, frame.own = decl.owner, value, own
        return frame.eval(node)


BLOCKS: tuple[type[ast.stmt], ...] = (ast.With, ast.AsyncWith, ast.If, ast.While, ast.Match, *TRIES)
LEAVING = (ast.Return, ast.Raise)


def _stands_alone(machine: Machine, value: Instance, decl: FunctionDecl, node: ast.expr) -> bool:
    """Whether no variable, attribute, block around it or statement before it has a part in what an expression gives."""
    parts = list(walk(node))
    used = {each.id for each in parts if isinstance(each, ast.Name)}
    own = own_name(decl)
    variables, kept = _bindings(machine, decl, own)
    if not used.isdisjoint(variables):
        return False
    asked = {each.attr for each in parts if isinstance(each, ast.Attribute) and _is(each.value, own)}
    if any(late_writers(machine, value.decl, name) for name in asked) or not asked.isdisjoint(kept):
        return False
    return not any(stands_in((each,), node) for kind in BLOCKS for each in decl.every(kind)) and not any(
        (each.lineno, each.col_offset) < (node.lineno, node.col_offset) for kind in LEAVING for each in decl.every(kind)
    )


def _bindings(machine: Machine, decl: FunctionDecl, own: str) -> tuple[frozenset[str], frozenset[str]]:
    """The variables of a method, and the attributes of its object that it binds."""
    known = machine.read.bindings.get(decl)
    if known is None:
        known = machine.read.bindings[decl] = decl.bound - {own}, frozenset(_stored_in(decl, own))
    return known


def _is(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _stored_in(decl: FunctionDecl, own: str) -> set[str]:
    """The attributes of its object that a method binds, or anything below them."""
    found: set[str] = set()
    stores: list[ast.Attribute | ast.Subscript] = [*decl.every(ast.Attribute), *decl.every(ast.Subscript)]
    for each in stores:
        if isinstance(each.ctx, ast.Store):
            found |= {part.attr for part in walk(each) if isinstance(part, ast.Attribute) and _is(part.value, own)}
    return found
