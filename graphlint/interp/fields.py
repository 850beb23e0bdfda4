"""Records: dataclasses, named tuples and the outputs of models, whose constructor nobody wrote.

Their attributes are the annotated names of the class and its bases, in that order.

What optimizers hold: the parameters they were given, group by group.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TYPE_CHECKING

from graphlint.interp.annotations import annotated
from graphlint.interp.binding import bind, let_through
from graphlint.interp.frame import Summary
from graphlint.interp.naming import is_host
from graphlint.interp.record import Record
from graphlint.outline import mentions
from graphlint.project import ClassDecl, FunctionDecl, Outside, Project, Symbol, assigned
from graphlint.syntax import last, last_called
from graphlint.types import Confidence
from graphlint.values import (
    Arguments,
    Bool,
    ExternalObject,
    Function,
    Instance,
    Kind,
    Nothing,
    Number,
    Place,
    Seq,
    Table,
    Tensor,
    Text,
    Union,
    Unknown,
    Value,
    doubtful,
    hosted,
    join,
    join_all,
    loosened,
    members,
    one_of,
    tensors_in,
)

if TYPE_CHECKING:
    from graphlint.interp.machine import Machine


TUPLE_BASES = frozenset({"typing.NamedTuple", "collections.namedtuple"})
AFTER = "__post_init__"
"""What a constructor that nobody wrote calls at its end."""


def constructor(project: Project, decl: ClassDecl) -> FunctionDecl | None:
    """The `__init__` that somebody wrote for a class; a dataclass has its own in place of one that it inherits."""
    for base in project.mro(decl):
        if not isinstance(base, ClassDecl):
            continue
        symbol = base.members.get("__init__", [None])[-1]
        if isinstance(symbol, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return base.module.function(symbol, base, "__init__")
        if symbol is not None or any(map(_generates, base.node.decorator_list)):
            return None
    return None


def _generates(mark: ast.expr) -> bool:
    """Whether a class decorator is `@dataclass`, unless told to leave the constructor alone."""
    return _is_dataclass(mark) and not _is_without(mark)


def is_record(project: Project, decl: ClassDecl) -> bool:
    """Whether a class is a dataclass or a named tuple: its text and its comparisons are those of its fields."""
    for base in project.mro(decl):
        if isinstance(base, Outside):
            if base.name in TUPLE_BASES:
                return True
        elif any(map(_is_dataclass, base.node.decorator_list)):
            return True
    return False


def _is_dataclass(mark: ast.expr) -> bool:
    """Whether a class decorator is `@dataclass`, or what a project made of it."""
    return "dataclass" in last_called(mark)


def fill(machine: Machine, instance: Instance, record: Record) -> None:
    """Write the fields of an object that was made without a constructor of its own."""
    owners: dict[str, ClassDecl] = {}
    for base in reversed(machine.project.mro(instance.decl)):
        if isinstance(base, ClassDecl):
            owners.update({name: base for name, symbols in base.members.items() if isinstance(symbols[-1], ast.AnnAssign)})
    arguments = instance.arguments
    positional = list(arguments.positional) if arguments is not None else []
    for name, base in owners.items():
        takes = _is_taken(base.members[name][-1])
        given = positional.pop(0) if positional and takes else None if arguments is None else arguments.keyword(name)
        if isinstance(given, (Tensor, Seq, Union)):
            given = _as_declared(machine, base, name, given)
        if given is None:
            given = _field(machine, base, name, arguments is None)
            given = _made_with(instance, base.members[name][-1], given)
            spread = None if arguments is None else _spread(arguments)
            brought = None if spread is None else _brought(machine, base, name, spread)
            given = given if brought is None else join(given, brought)
        record.write(name, given, True)
    owner, symbols = machine.project.member(instance.decl, AFTER) or (instance.decl, [])
    symbol = symbols[-1] if symbols else None
    if isinstance(symbol, ast.FunctionDef) and not mentions(symbol, "super"):
        after = Function(owner.module.function(symbol, owner, AFTER), instance, None, owner)
        machine.execute(after, bind(machine, after, Arguments()), Summary(AFTER), recording=False)


def _made_with(instance: Instance, symbol: Symbol, given: Value) -> Value:
    """An object that `default_factory` makes is as new as the one that it is made for."""
    call = symbol.value if isinstance(symbol, ast.AnnAssign) else None
    words = call.keywords if isinstance(call, ast.Call) and instance.fresh else []
    if not any(word.arg == "default_factory" for word in words):
        return given
    return join_all([each.replace(fresh=True) if isinstance(each, Instance) else each for each in members(given)])


def _as_declared(machine: Machine, base: ClassDecl, name: str, given: Tensor | Seq | Union) -> Value:
    """What a field is given: where it is declared to be numbers, and one by default, a tensor is a number of the host."""
    field = base.members[name][-1]
    if not isinstance(field, ast.AnnAssign) or field.value is None or next(tensors_in(given), None) is None:
        return given
    return _doubtful(given) if _are_numbers(annotated(machine, base.module, field.annotation, base)) else given


def _doubtful(value: Value) -> Value:
    """The value with its tensors, or those it holds, possible at most."""
    if isinstance(value, Union):
        return join_all(list(map(_doubtful, value.members)))
    if not isinstance(value, Seq):
        return doubtful(value)
    items = None if value.items is None else tuple(map(doubtful, value.items))
    return value.replace(items=items, rest=None if value.rest is None else doubtful(value.rest))


def _are_numbers(hint: Value) -> bool:
    if isinstance(hint, Seq):
        return _are_numbers(hint.element())
    parts = [each for each in members(hint) if not isinstance(each, Nothing)]
    return bool(parts) and all(isinstance(each, (Number, Bool, Text)) for each in parts)


def _is_taken(symbol: Symbol) -> bool:
    """Whether a constructor that was not written takes a name: no class variable, and no `field(init=False)`."""
    assert isinstance(symbol, ast.AnnAssign)
    hint = symbol.annotation.value if isinstance(symbol.annotation, ast.Subscript) else symbol.annotation
    return last(hint) != "ClassVar" and not _is_without(symbol.value)


def _is_without(call: ast.expr | None) -> bool:
    """Whether a call says `init=False`."""
    words = call.keywords if isinstance(call, ast.Call) else []
    return any(word.arg == "init" and isinstance(word.value, ast.Constant) and word.value.value is False for word in words)


def _brought(machine: Machine, base: ClassDecl, name: str, spread: Value) -> Value | None:
    """What `*` and `**` may bring for a field: only what it is declared to be."""
    field = base.members[name][-1]
    hint = annotated(machine, base.module, field.annotation, base) if isinstance(field, ast.AnnAssign) else Unknown()
    return one_of(spread) if isinstance(hint, Unknown) else let_through(hint, spread)


def _spread(arguments: Arguments) -> Value | None:
    return arguments.more_keywords if arguments.more is None else arguments.more


def _field(machine: Machine, base: ClassDecl, name: str, loose: bool) -> Value:
    variable = assigned(base.module, base.members[name])
    hint = Unknown() if variable.annotation is None else annotated(machine, base.module, variable.annotation, base)
    # Which fields of such an object are kept on the host, its type does not say.
    hint = hosted(hint) if is_host(name) else doubtful(hint)
    if not variable.values:
        return hint
    default = machine.variable(variable)
    if isinstance(default, (ExternalObject, Unknown)) or loose:
        return loosened(default) if isinstance(hint, Unknown) else join(hint, loosened(default))
    return default


def field_at(fields: list[Value], index: Number) -> Value:
    """The field at a position of a record that passes over what is None, as outputs of models do."""
    there = [(each, [member for member in members(each) if not isinstance(member, Nothing)]) for each in fields]
    there = [(each, kept) for each, kept in there if kept]
    position = index.value if isinstance(index.value, int) else -1
    doubt = next((i for i, (each, kept) in enumerate(there) if len(kept) < len(members(each))), len(there))
    if 0 <= position < doubt:
        return there[position][0]
    return one_of(join_all([join_all(kept) for _, kept in there[doubt:] or there])) if there else Unknown()


PARAMETER = Tensor(Place.DEVICE, Kind.FLOAT, None, Confidence.CERTAIN, "parameter")
GROUPS = Seq("list", None, Table((("params", Seq("list", None, PARAMETER)),), Unknown()))
"""`optimizer.param_groups`: tables with the parameters and the options of each group (torch 2.13 documentation)."""


def held(bases: Iterable[str], name: str) -> Value | None:
    """An attribute that an object has from being an optimizer, which one of its classes says; None if there is none."""
    optimizer = name == "param_groups" and any(base.startswith("torch.optim.") for base in bases)
    return GROUPS if optimizer else None
