"""Frozen records that are made quickly: what `dataclass(frozen=True, slots=True)` gives, without its cost at every start.

    @frozen
    class Region(Record):
        name: str
        kind: str = "module"

`dataclass` writes six methods for every class and compiles them, 0.3 ms a class; a hundred classes would take as long as
checking a small file.  Here all share the methods of `Record`.  To everybody else they are dataclasses, so `fields`,
`replace`, `asdict` and `field(default_factory=...)` work, and a type checker sees the constructor and that it is frozen.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, TypeVar

if TYPE_CHECKING:
    from typing_extensions import dataclass_transform

    T = TypeVar("T")

    @dataclass_transform(frozen_default=True, field_specifiers=(field,))
    def frozen(kind: type[T]) -> type[T]: ...

else:
    frozen = dataclass(init=False, repr=False, eq=False, slots=True)

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
