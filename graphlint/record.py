"""Frozen data whose classes are made quickly: every start of the command makes two hundred of them.

    @frozen
    class Region(Record):
        name: str
        kind: str = "module"

    class Span(NamedTuple):
        line: int
        column: int

To everybody else, type checkers included, the first is a class of `dataclass(frozen=True, slots=True)`, so `fields`,
`replace`, `asdict` and `field(default_factory=...)` work, and the second is one of `typing.NamedTuple`.  But `dataclass`
writes six methods for each class and compiles them, and `typing` compiles the text of each annotation; together that
would take as long as checking a small file.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, TypeVar

if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple

    from typing_extensions import dataclass_transform

    T = TypeVar("T")

    @dataclass_transform(frozen_default=True, field_specifiers=(field,))
    def frozen(kind: type[T]) -> type[T]: ...

else:
    frozen = dataclass(init=False, repr=False, eq=False, slots=True)

    class _Tuples(type):
        def __new__(mcs, name, bases, body):
            names = body["__annotations__"]
            defaults = [body[each] for each in names if each in body]
            made = namedtuple(name, names, defaults=defaults, module=body["__module__"])
            for each in body.keys() - names:
                setattr(made, each, body[each])
            return made

    NamedTuple = type.__new__(_Tuples, "NamedTuple", (), {})

R = TypeVar("R", bound="Record")

put: Callable[[object, str, object], None] = object.__setattr__
"""Sets a field of a record that is being made."""


class Record:
    """The methods of all records."""

    __slots__ = ()
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def __init__(self, *given: object, **named: object) -> None:
        names = self.__dataclass_fields__
        if len(given) > len(names):
            raise TypeError(f"`{type(self).__name__}` has {len(names)} fields, not {len(given)}")
        for name, value in zip(names, given):
            put(self, name, value)
        for name, value in named.items():
            put(self, name, value)
        if len(given) + len(named) != len(names):
            complete(self)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> NoReturn:
        raise FrozenInstanceError(f"cannot delete field {name!r}")

    def __setstate__(self, state: tuple[None, dict[str, object]]) -> None:
        for name, value in state[1].items():
            put(self, name, value)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and _values(self) == _values(other)

    def __hash__(self) -> int:
        return hash(_values(self))

    def __repr__(self) -> str:
        parts = zip(self.__dataclass_fields__, _values(self))
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in parts)})"


def replaced(record: R, **changes: object) -> R:
    """A record with other content in some fields; a third of the time that `dataclasses.replace` takes."""
    made = object.__new__(type(record))
    for name in record.__dataclass_fields__:
        put(made, name, changes[name] if name in changes else getattr(record, name))
    return made


def complete(record: Record) -> None:
    """Set the fields of which nothing was said to their defaults; raises `TypeError` for one that has none."""
    for name, each in record.__dataclass_fields__.items():
        if hasattr(record, name):
            continue
        if each.default_factory is not MISSING:
            put(record, name, each.default_factory())
        elif each.default is not MISSING:
            put(record, name, each.default)
        else:
            raise TypeError(f"`{type(record).__name__}` needs `{name}`")


def _values(record: object) -> tuple[object, ...]:
    return tuple([getattr(record, name) for name in record.__dataclass_fields__])  # type: ignore[attr-defined]
