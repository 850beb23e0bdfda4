"""What all abstract values share: interned, so that equal values are the same object, and three small vocabularies.

`Place` says where a tensor lives, `Kind` what its elements are and `Origin` what a Python number depends on.
"""

from __future__ import annotations

import enum
from typing import Any, ClassVar, TypeVar
from zlib import crc32

from graphlint.project import ClassDecl, FunctionDecl

K = TypeVar("K")
V = TypeVar("V", bound="Value")


class Word(enum.Enum):
    """Members are hashed with every value that is looked up: by what they are, and not by a method of Python."""

    __hash__ = object.__hash__


class Place(Word):
    """Where a tensor lives."""

    DEVICE = "device"
    HOST = "host"
    PINNED = "pinned"
    UNKNOWN = "unknown"


class Kind(Word):
    """What the elements of a tensor (or a Python number) are."""

    BOOL = "bool"
    INT = "int"
    FLOAT = "float"
    COMPLEX = "complex"
    ANY = "any"


class Origin(Word):
    """What a Python number depends on; later members win when two meet."""

    CONST = 0
    CONFIG = 1
    SHAPE = 2
    ARGUMENT = 3
    STATE = 4
    DATA = 5


_pool: dict[tuple[Any, ...], Value] = {}
_memos: list[dict[Any, Any]] = []


class Value:
    """Base of all values; instances are created through `intern` only."""

    __slots__ = ("_order",)
    _order: int
    fields: ClassVar[tuple[str, ...]] = ()

    @property
    def order(self) -> int:
        """A number that depends on the content only; just members of unions are ever asked for it."""
        try:
            return self._order
        except AttributeError:
            self._order = _order_of((type(self), *(getattr(self, field) for field in self.fields)))
            return self._order

    def replace(self: V, **changes: Any) -> V:
        return type(self)(*(changes.get(name, getattr(self, name)) for name in self.fields))

    def __repr__(self) -> str:
        parts = ", ".join(f"{getattr(self, name)!r}" for name in self.fields)
        return f"{type(self).__name__}({parts})"


def intern(cls: type[V], *content: Any) -> V:
    """The one value of this class with this content."""
    key = (cls, *content)
    found = _pool.get(key)
    if found is None:
        found = object.__new__(cls)
        for name, part in zip(cls.fields, content):
            setattr(found, name, part)
        _pool[key] = found
    return found  # type: ignore[return-value]  # what stands under a class is one of it


def memo(table: dict[K, Value]) -> dict[K, Value]:
    """A table of values that were computed once; it is emptied when values are forgotten."""
    _memos.append(table)
    return table


def known() -> frozenset[tuple[Any, ...]]:
    """What there is now: `forget` leaves it alone."""
    return frozenset(_pool)


def forget(kept: frozenset[tuple[Any, ...]]) -> None:
    """Drop every value that was not there before; nothing may be going on that still uses one."""
    for key in [key for key in _pool if key not in kept]:
        del _pool[key]
    for table in _memos:
        table.clear()


def _order_of(part: object) -> int:
    """A number that depends on nothing but the content, so that unions have one order in every process."""
    if isinstance(part, Value):
        return part.order
    if isinstance(part, tuple):
        return hash(tuple([_order_of(each) for each in part]))
    if isinstance(part, str):
        return crc32(part.encode(errors="replace"))
    if part is None or isinstance(part, (int, float)):
        return hash(part) if part is not None else 7
    if isinstance(part, enum.Enum):
        return crc32(part.name.encode())
    if isinstance(part, (FunctionDecl, ClassDecl)):
        return crc32(f"{part.module.name}.{part.name}:{part.node.lineno}".encode(errors="replace"))
    return crc32(getattr(part, "__name__", type(part).__name__).encode())


def later(left: Origin, right: Origin) -> Origin:
    return left if left.value >= right.value else right
