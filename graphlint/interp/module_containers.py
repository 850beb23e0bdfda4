"""What holds modules and parameters: `nn.ModuleList`, `nn.Sequential` and their kin, and classes that derive from them."""

from __future__ import annotations

import ast

from graphlint.interp.frame import Frame
from graphlint.interp.handlers import first, function, module_method
from graphlint.interp.modules import kept
from graphlint.interp.objects import record_of
from graphlint.values import (
    Arguments,
    Instance,
    Nothing,
    Opaque,
    Seq,
    Table,
    Tensor,
    Unknown,
    Value,
    join,
    join_all,
    members,
)


@module_method("__init__")
def module_init(frame: Frame, receiver: Value, arguments: Arguments, node: ast.AST) -> Value:
    """`super().__init__(*modules)` of a class that derives from a module container fills the container."""
    if isinstance(receiver, Instance) and (arguments.positional or arguments.more is not None):
        form = "sequential"
        record_of(frame.machine, receiver).children = _contents(frame, form, arguments, node)
    return Nothing()


@module_method("append", "insert")
def module_append(frame: Frame, receiver: Value, arguments: Arguments, node: ast.AST) -> Value:
    if isinstance(receiver, Instance) and arguments.positional:
        record = record_of(frame.machine, receiver)
        held = (
            record.children.element()
            if isinstance(record.children, Seq) and (record.children.items or record.children.rest)
            else None
        )
        value = arguments.positional[-1]
        record.children = Seq("sequential", None, value if held is None else join(held, value))
    return receiver


def _contents(frame: Frame, form: str, arguments: Arguments, node: ast.AST) -> Seq:
    items = arguments.positional
    if len(items) == 1 and arguments.more is None:
        found = [held for each in members(items[0]) if (held := _held(form, each)) is not None]
        # A list that a loop fills may be empty as far as the loop knows; where it is, nothing is to be told of it.
        full = [each for each in found if each.items != () or each.rest is not None] or found[:1]
        if full:
            return full[0] if len(full) == 1 else Seq(form, None, join_all([each.element() for each in full]))
    return (
        Seq(form, items, arguments.more) if arguments.more is None else Seq(form, None, join_all([*items, arguments.more]))
    )


def _held(form: str, given: Value) -> Seq | None:
    """The modules of a container that is given one argument; None where that is a module itself."""
    match given:
        case Table():
            return Seq(form, tuple(entry for _, entry in given.items), given.rest)
        case Seq(items=(), rest=None):
            return Seq(form, ())
        case Seq():
            return Seq(form, None, given.element()) if form == "sequential" else Seq(form, given.items, given.rest)
        case Unknown() | Opaque():
            return Seq(form, None, Unknown())
    return None


@function("torch.nn.ModuleList")
def module_list(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    return _contents(frame, "modules", arguments, node)


@function("torch.nn.ParameterList")
def parameter_list(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    held = _contents(frame, "modules", arguments, node)
    items = None if held.items is None else tuple(_each_kept(frame, each) for each in held.items)
    return held.replace(items=items, rest=None if held.rest is None else _each_kept(frame, held.rest))


@function("torch.nn.Sequential")
def sequential(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    return _contents(frame, "sequential", arguments, node)


@function("torch.nn.ModuleDict")
def module_dict(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    return _entries(arguments)


def _entries(arguments: Arguments) -> Table:
    value = first(arguments)
    if value is None:
        return Table()
    return next((member for member in members(value) if isinstance(member, Table)), Table((), Unknown()))


@function("torch.nn.ParameterDict")
def parameter_dict(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    held = _entries(arguments)
    items = tuple((key, _each_kept(frame, each)) for key, each in held.items)
    return held.replace(items=items, rest=None if held.rest is None else _each_kept(frame, held.rest))


def _each_kept(frame: Frame, value: Value) -> Value:
    """Tensors as the parameters that they become."""
    return join_all([kept(frame, each) if isinstance(each, Tensor) else each for each in members(value)])
