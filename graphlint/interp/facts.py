"""The arguments of one call of a torch function, as conditions of the effects table ask about them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager

from graphlint.effects.conditions import UNKNOWN
from graphlint.effects.grammar import MISSING, Parameter, Row
from graphlint.effects.table import lookup
from graphlint.interp import switches
from graphlint.interp.frame import Frame
from graphlint.types import Target
from graphlint.values import (
    Arguments,
    Bool,
    DeviceValue,
    DtypeValue,
    ExternalObject,
    Nothing,
    Number,
    Opaque,
    Place,
    Seq,
    Table,
    Text,
    Unknown,
    Value,
    members,
    tensors_in,
)

MODE = "training"
"""The name under which a module of torch's has its mode, where `eval()` or `train()` was called on it."""


class Facts:
    """Parameters bound to values; implements `graphlint.effects.conditions.ArgumentFacts`.

    `varies` if an answer rested on more than the values: on how the call is written, or on a default that files change.
    """

    __slots__ = ("arguments", "call", "constructor", "everywhere", "frame", "given", "owner", "row", "varies")

    def __init__(
        self, frame: Frame, row: Row, arguments: Arguments, receiver: Value | None, owner: ExternalObject | None
    ) -> None:
        self.frame = frame
        self.call: ast.AST | None = None
        self.everywhere = False
        self.varies = False
        self.row = row
        self.arguments = arguments
        self.given = bind_row(row, arguments, receiver)
        self.owner = owner
        self.constructor = _constructor(owner)

    def value(self, parameter: str) -> Value | None:
        """What a parameter is given, or a constructor was: `ctor.p` that of the receiver, `arg.p` that of an argument.

        `ctor.p.q` is what the constructor of `p` was given as `q`, where `p` went into that of the receiver.
        """
        owner, dot, name = parameter.partition(".")
        if not dot:
            return self.given.get(parameter)
        if owner == "ctor":
            known, dot, inner = name.partition(".")
            found = self.constructor.get(known)
            return _constructor(found).get(inner) if dot and isinstance(found, ExternalObject) else found
        instance = self.given.get(owner)
        return _constructor(instance).get(name) if isinstance(instance, ExternalObject) else None

    def default(self, parameter: str) -> object:
        """The default of a parameter, as the file's own switches leave it; `MISSING` where it has none."""
        owner, dot, name = parameter.partition(".")
        self.varies = self.varies or (name or owner) in switches.SETTERS
        changed = switches.changed(self.frame, name or owner)
        if changed is not MISSING:
            return changed
        row: Row | None = self.row
        if dot:
            instance = self.owner if owner == "ctor" else self.given.get(owner)
            held, inner, last = name.partition(".")
            if inner:
                instance, name = self.constructor.get(held), last
            if not isinstance(instance, ExternalObject) or instance.arguments is None:
                return MISSING
            row, parameter = lookup(instance.name), name
            if row is not None and all(known.name != name for known in row.parameters):
                return None
        for known in row.parameters if row is not None else ():
            if known.name == parameter:
                return known.default
        return MISSING

    @contextmanager
    def anywhere(self) -> Iterator[None]:
        """Ask as if host tensors were on the device."""
        self.everywhere = True
        yield
        self.everywhere = False

    def device(self, parameter: str) -> bool | None:
        found = self._placed(parameter, Place.DEVICE)
        return self._placed(parameter, Place.HOST) if self.everywhere and not found else found

    def host(self, parameter: str) -> bool | None:
        return self._placed(parameter, Place.HOST)

    def _placed(self, parameter: str, place: Place) -> bool | None:
        value = self.value(parameter)
        if value is None:
            return False
        if isinstance(value, DeviceValue) or (isinstance(value, ExternalObject) and value.place is not Place.UNKNOWN):
            return _is_at(value.place, place)
        found = list(tensors_in(value))
        if any(_is_at(tensor.place, place) for tensor in found):
            return True
        doubtful = any(tensor.place is Place.UNKNOWN for tensor in found) or _unknown(value)
        return None if doubtful else False

    def tensor(self, parameter: str) -> bool | None:
        value = self.value(parameter)
        if value is None:
            return False
        answers = [
            True if any(True for _ in tensors_in(member)) else None if _unknown(member) else False
            for member in members(value)
        ]
        return answers[0] if len(set(answers)) == 1 else None

    def scalar(self, parameter: str) -> bool | None:
        ranks = {tensor.rank for tensor in tensors_in(self.value(parameter), 0)}
        if not ranks:
            return None if _unknown(self.value(parameter)) else False
        return True if 0 in ranks else None if None in ranks else False

    def number(self, parameter: str) -> bool | None:
        return self._is(parameter, (Number, Bool))

    def is_list(self, parameter: str) -> bool | None:
        value = self.value(parameter)
        return False if value is None or any(True for _ in tensors_in(value)) else self._is(parameter, (Seq,))

    def _is(self, parameter: str, kinds: tuple[type[Value], ...]) -> bool | None:
        value = self.value(parameter)
        if value is None:
            default = self.default(parameter)
            is_number = isinstance(default, (int, float)) and Number in kinds
            return is_number or (isinstance(default, (list, tuple)) and Seq in kinds)
        answers = {
            None if isinstance(member, (Unknown, Opaque)) else isinstance(member, kinds) for member in members(value)
        }
        return True if True in answers else None if None in answers else False

    def missing(self, parameter: str) -> bool | None:
        value = self.value(parameter)
        return value is None

    def none(self, parameter: str) -> bool | None:
        value = self.value(parameter)
        if value is None:
            return self.default(parameter) is None
        if parameter == "device" and isinstance(value, (Unknown, Opaque)):
            # Nobody writes out a device to leave it open.
            return False
        answers = {
            None if isinstance(member, (Unknown, Opaque)) else isinstance(member, Nothing) for member in members(value)
        }
        return answers.pop() if len(answers) == 1 else None

    def constant(self, parameter: str) -> object:
        value = self.value(parameter)
        if value is None:
            default = self.default(parameter)
            return UNKNOWN if default is MISSING else default
        return constant_of(value)

    def rank(self, parameter: str) -> int | None:
        ranks = {tensor.rank for tensor in tensors_in(self.value(parameter), 0)}
        return ranks.pop() if len(ranks) == 1 else None

    def kind(self, parameter: str) -> str | None:
        value = self.value(parameter)
        kinds = {tensor.kind.value for tensor in tensors_in(value, 1)}
        if isinstance(value, (Number, DtypeValue)):
            kinds = {value.kind.value}
        if len(kinds) != 1:
            return None
        kind = kinds.pop()
        return None if kind == "any" else kind

    def nonempty(self, parameter: str) -> bool | None:
        value = self.value(parameter)
        if isinstance(value, Seq) and value.rest is None and value.items is not None:
            return bool(value.items)
        if isinstance(value, (Number, Bool, Text)):
            return True
        return None

    def one(self, parameter: str) -> bool | None:
        value = self.value(parameter)
        if isinstance(value, Seq) and value.rest is None and value.items is not None:
            return len(value.items) == 1
        return None

    def elements(self, parameter: str) -> int | None:
        return None

    def square(self, parameter: str) -> bool | None:
        return None

    def pinned(self, parameter: str) -> bool | None:
        return self._placed(parameter, Place.PINNED)

    def is_object(self, parameter: str) -> bool | None:
        return isinstance(self.value(parameter), ExternalObject)

    def training(self) -> bool | None:
        known = self.constructor.get(MODE)
        mode = UNKNOWN if known is None else constant_of(known)
        if isinstance(mode, bool):
            return mode
        # Modules train until somebody says otherwise; a file that only ever switches one way leaves them there.
        self.varies = True
        return switches.mode(self.frame.module)

    def grad(self) -> bool | None:
        return None


def _is_at(there: Place, place: Place) -> bool:
    """Page-locked memory is the host's too."""
    return there is place or (place is Place.HOST and there is Place.PINNED)


def _unknown(value: Value | None) -> bool:
    return (value is not None and any(isinstance(member, Unknown) for member in members(value))) or _holds_unknown(value)


def _holds_unknown(value: Value | None) -> bool:
    if isinstance(value, Seq):
        return any(_unknown(item) for item in (*(value.items or ()), value.rest))
    if isinstance(value, Table):
        return any(_unknown(item) for _, item in value.items)
    return False


def constant_of(value: Value) -> object:
    """The Python constant that a value is, or UNKNOWN."""
    match value:
        case Nothing():
            return None
        case Number(value=number) if number is not None:
            return number
        case Text(value=text) if text is not None:
            return text
        case Bool(true_on=true, false_on=false) if not (true and false):
            return bool(true & Target.BOTH)
    return UNKNOWN


def bind_row(row: Row, arguments: Arguments, receiver: Value | None) -> dict[str, Value]:
    """Parameter name to value for a row; varargs given as one list are that list."""
    positional = list(arguments.positional)
    if receiver is not None:
        positional.insert(0, receiver)
    given: dict[str, Value] = {}
    places = [parameter for parameter in row.parameters if parameter.form == "positional"]
    for parameter, value in zip(places, positional):
        given[parameter.name] = value
    extra = positional[len(places) :]
    star = next((parameter for parameter in row.parameters if parameter.form == "star"), None)
    if star is not None:
        _bind_star(star, extra, arguments, given)
    for name, value in arguments.keywords:
        given[name] = value
    if arguments.keywords and row.parameters and row.parameters[-1].form == "double star":
        named = {parameter.name for parameter in row.parameters}
        given[row.parameters[-1].name] = Table(tuple(each for each in arguments.keywords if each[0] not in named))
    return given


def _bind_star(star: Parameter, extra: list[Value], arguments: Arguments, given: dict[str, Value]) -> None:
    if len(extra) == 1 and any(isinstance(member, Seq) for member in members(extra[0])):
        given[star.name] = extra[0]
    elif extra or arguments.more is not None:
        given[star.name] = Seq("tuple", tuple(extra), arguments.more)


def _constructor(owner: ExternalObject | None) -> dict[str, Value]:
    if owner is None or owner.arguments is None:
        return {}
    row = lookup(owner.name)
    return dict(owner.arguments.keywords) if row is None else bind_row(row, owner.arguments, None)
