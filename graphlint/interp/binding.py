"""From the arguments of a call to the variables a function starts with."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from graphlint.interp.annotations import annotated, narrow_to
from graphlint.interp.naming import is_host
from graphlint.project import FunctionDecl
from graphlint.types import Confidence
from graphlint.values import (
    Arguments,
    Bool,
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
    members,
    one_of,
    or_numbers,
    tensors_in,
)

if TYPE_CHECKING:
    from graphlint.interp.machine import Machine


def parameters(decl: FunctionDecl) -> list[ast.arg]:
    """The named parameters that can be given by position, in order."""
    return decl.signature.named


def defaults(decl: FunctionDecl) -> dict[str, ast.expr]:
    """The default of every parameter that has one."""
    return decl.signature.defaults


def own_name(decl: FunctionDecl) -> str:
    """What a method calls its object; empty for other functions."""
    return decl.signature.order[0] if decl.owner is not None and decl.signature.order else ""


def receiver_of(decl: FunctionDecl, env: dict[str, Value]) -> Value | None:
    """The object a method runs on, however it was passed."""
    return next(iter(env.values()), None) if decl.owner is not None else None


def bind(machine: Machine, function: Function, arguments: Arguments) -> dict[str, Value]:
    """A value for every parameter; what the call leaves open comes from defaults and annotations."""
    decl = function.decl
    spec = decl.node.args
    given = list(arguments.positional)
    if function.receiver is not None:
        given.insert(0, function.receiver)
    keywords = dict(arguments.keywords)
    env: dict[str, Value] = {}
    named = parameters(decl)
    for position, arg in enumerate(named):
        if position < len(given):
            env[arg.arg] = _fit(machine, decl, arg, given[position])
        elif arg.arg in keywords:
            env[arg.arg] = _fit(machine, decl, arg, keywords.pop(arg.arg))
    for arg in spec.kwonlyargs:
        if arg.arg in keywords:
            env[arg.arg] = _fit(machine, decl, arg, keywords.pop(arg.arg))
    _fill(machine, decl, env, arguments)
    _collect(spec, env, given[len(named) :], keywords, arguments)
    return {name: env[name] for name in decl.signature.order if name in env}


def _fit(machine: Machine, decl: FunctionDecl, arg: ast.arg, value: Value) -> Value:
    """The value as the parameter's annotation lets it be; the value is evidence, the annotation fills the unknown."""
    if isinstance(value, Seq):
        return _as_declared(machine, decl, arg, value)
    if not isinstance(value, (Unknown, Tensor, Union)):
        return value
    if arg.annotation is None:
        return doubtful(value) if isinstance(value, Tensor) and _is_flag(decl, arg) else value
    if isinstance(value, Tensor):
        against = _contradicted(machine, decl, arg) if value.place is Place.DEVICE else 0
        if against & NUMBERS and not value.role:
            # A number that was computed from tensors: people write `int` for what has no dimensions.
            return value.replace(sure=min(value.sure, Confidence.LIKELY))
        if against == CONTAINERS and value.role == "input" and value.sure is Confidence.CERTAIN:
            # What the region itself is declared to be given weighs more than what a function in it calls it.
            return value.replace(sure=Confidence.LIKELY)
        return doubtful(value) if against else _assured(machine, decl, arg, value)
    if isinstance(value, Union):
        return _fit_members(machine, decl, arg, value)
    hint = narrow_to(value, annotated(machine, decl.module, arg.annotation, decl.owner))
    return hosted(hint) if is_host(arg.arg) else hint


def _is_flag(decl: FunctionDecl, arg: ast.arg) -> bool:
    """Whether the default of a parameter, True or False, says that it is no tensor."""
    default = defaults(decl).get(arg.arg)
    return isinstance(default, ast.Constant) and isinstance(default.value, bool)


def _fit_members(machine: Machine, decl: FunctionDecl, arg: ast.arg, value: Union) -> Value:
    """One of several values: what is not known becomes what the annotation says, and no tensor is a container.

    A tensor without dimensions may well be given where another call gives a number.
    """
    is_open = any(isinstance(each, Unknown) for each in value.members)
    # That it may be a tensor says no more than that nothing is known of it: the annotation does.
    held = tuple(each for each in value.members if not _is_guess(each)) if is_open else value.members
    contained = any(isinstance(each, Tensor) for each in held) and _contradicted(machine, decl, arg) == CONTAINERS
    changed = contained or any(isinstance(each, (Unknown, Seq)) or _is_guess(each) for each in held)
    told = [
        doubtful(each)
        if contained and isinstance(each, Tensor)
        else _fit(machine, decl, arg, each)
        if isinstance(each, (Unknown, Seq))
        else _assured(machine, decl, arg, each)
        if isinstance(each, Tensor)
        else each
        for each in held
    ]
    return join_all(told) if changed else value


def _as_declared(machine: Machine, decl: FunctionDecl, arg: ast.arg, value: Seq) -> Value:
    """A container that a region is declared to be given: objects of a class, if it is handed to what takes only them."""
    if value.form not in ("tuple", "list") or not any(tensor.role == "input" for tensor in tensors_in(value)):
        return value
    hint = annotated(machine, decl.module, arg.annotation, decl.owner) if arg.annotation is not None else Unknown()
    objects = [each for each in members(hint) if not isinstance(each, Nothing)]
    return join_all(objects) if objects and all(isinstance(each, Instance) for each in objects) else value


def _is_guess(value: Value) -> bool:
    return isinstance(value, Tensor) and value.sure is Confidence.POSSIBLE and value.place is Place.DEVICE


def _assured(machine: Machine, decl: FunctionDecl, arg: ast.arg, value: Tensor) -> Tensor:
    """A guess at what callers of the region give is likely where it is handed to a parameter that says so."""
    if not _is_guess(value) or value.role != "input" or arg.annotation is None:
        return value
    hint = annotated(machine, decl.module, arg.annotation, decl.owner)
    said = next((each for each in members(hint) if isinstance(each, Tensor)), None)
    if said is None or or_numbers(hint) is not hint:
        return value
    return value.replace(sure=Confidence.LIKELY, kind=said.kind if value.kind is Kind.ANY else value.kind)


NUMBERS, CONTAINERS = 1, 2


def _contradicted(machine: Machine, decl: FunctionDecl, arg: ast.arg) -> int:
    """Whether an annotation says that a parameter is no tensor: `int` is NUMBERS, `list[list[int]]` CONTAINERS."""
    assert arg.annotation is not None
    known = machine.contradictions.get(arg.annotation)
    if known is None:
        hint = members(annotated(machine, decl.module, arg.annotation, decl.owner))
        known = NUMBERS if any(isinstance(each, (Number, Bool, Text)) for each in hint) else 0
        known |= CONTAINERS if any(isinstance(each, (Seq, Table)) for each in hint) else 0
        plain = all(isinstance(each, (Number, Bool, Text, Seq, Table, Nothing)) for each in hint)
        known = machine.contradictions[arg.annotation] = known if plain else 0
    return known


def _fill(machine: Machine, decl: FunctionDecl, env: dict[str, Value], arguments: Arguments) -> None:
    """Parameters the call does not name: their default, or what `*` and `**` may bring."""
    defaulted = defaults(decl)
    for arg in (*parameters(decl), *decl.node.args.kwonlyargs):
        if arg.arg in env:
            continue
        node = defaulted.get(arg.arg)
        brought = _brought(machine, decl, arg, arguments, node is not None)
        if node is None:
            env[arg.arg] = Unknown() if brought is None else brought
            continue
        default = machine.default(decl, node)
        env[arg.arg] = default if brought is None else join(default, brought)


def _brought(machine: Machine, decl: FunctionDecl, arg: ast.arg, arguments: Arguments, optional: bool) -> Value | None:
    """What `*args` and `**kwargs` may bring for one parameter: only what its annotation lets through."""
    value = arguments.more if arguments.more is not None else arguments.more_keywords
    if value is None:
        return None
    if arg.annotation is None:
        return None if optional else one_of(value)
    hint = annotated(machine, decl.module, arg.annotation, decl.owner)
    if isinstance(hint, Unknown):
        return None if optional else one_of(value)
    return let_through(hint, value)


def let_through(hint: Value, value: Value) -> Value | None:
    """Of the values that `*` and `**` may bring, those that a declared type lets be."""
    if any(isinstance(member, Unknown) for member in members(value)):
        return narrow_to(Unknown(), hint)
    kinds = tuple(type(member) for member in members(hint))
    fitting = [member for member in members(value) if isinstance(member, kinds)]
    return join_all(fitting) if fitting else None


def _collect(
    spec: ast.arguments, env: dict[str, Value], extra: list[Value], keywords: dict[str, Value], arguments: Arguments
) -> None:
    if spec.vararg is not None:
        env[spec.vararg.arg] = Seq("tuple", tuple(extra), arguments.more)
    if spec.kwarg is not None:
        # Of what `**` spreads here, nobody knows whether it is under the name that the body asks for.
        more = arguments.more_keywords
        env[spec.kwarg.arg] = Table(tuple(keywords.items()), None if more is None else doubtful(more))


def receiver_missing(decl: FunctionDecl) -> bool:
    """Whether a function takes no receiver although it stands in a class."""
    node = decl.node
    if isinstance(node, ast.Lambda):
        return True
    return any(isinstance(item, ast.Name) and item.id == "staticmethod" for item in node.decorator_list)
