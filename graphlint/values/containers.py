"""Containers and unions, how values join, and the tensors that a value holds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from graphlint.types import Confidence
from graphlint.values.base import Kind, Origin, Place, Value, intern, later, memo
from graphlint.values.plain import EITHER, UNKNOWN, Bool, DeviceValue, Nothing, Number, Tensor, Text, Unknown

WIDEST_UNION = 8
MOST_JOINED = 100_000

_joined: dict[tuple[Value, ...], Value] = memo({})
"""What was joined before: the same few values meet wherever two arms do."""


class Seq(Value):
    """A list, tuple, set or other ordered container: known `items`, or any number of `rest`.

    `form` is "list", "tuple", "set", "iter", "modules" (ModuleList) or "sequential".
    """

    __slots__ = fields = ("form", "items", "rest")
    form: str
    items: tuple[Value, ...] | None
    rest: Value | None

    def __new__(cls, form: str, items: tuple[Value, ...] | None, rest: Value | None = None) -> Seq:
        return intern(cls, form, items, rest)

    def element(self) -> Value:
        """Any one element."""
        found = list(self.items or ())
        if self.rest is not None:
            found.append(self.rest)
        return join_all(found) if found else Unknown()


class Table(Value):
    """A dictionary (or ModuleDict): known string or number keys, and `rest` for all others."""

    __slots__ = fields = ("items", "rest")
    items: tuple[tuple[Any, Value], ...]
    rest: Value | None

    def __new__(cls, items: tuple[tuple[Any, Value], ...] = (), rest: Value | None = None) -> Table:
        return intern(cls, items, rest)

    def element(self) -> Value:
        found = [value for _, value in self.items]
        if self.rest is not None:
            found.append(self.rest)
        return join_all(found) if found else Unknown()


class SliceValue(Value):
    """`slice(low, high, step)`."""

    __slots__ = fields = ("low", "high", "step")
    low: Value
    high: Value
    step: Value

    def __new__(cls, low: Value, high: Value, step: Value) -> SliceValue:
        return intern(cls, low, high, step)


class Union(Value):
    """One of several values."""

    __slots__ = fields = ("members",)
    members: tuple[Value, ...]

    def __new__(cls, members: tuple[Value, ...]) -> Union:
        return intern(cls, members)


def members(value: Value) -> tuple[Value, ...]:
    return value.members if isinstance(value, Union) else (value,)


def join(left: Value, right: Value) -> Value:
    return left if left is right else join_all((left, right))


def join_all(values: Iterable[Value]) -> Value:
    """The least value that covers all of them, within the width of a union."""
    given = tuple(values)
    found = _joined.get(given)
    if found is None:
        if len(_joined) > MOST_JOINED:
            _joined.clear()
        found = _joined[given] = _join_all(given)
    return found


def _join_all(values: tuple[Value, ...]) -> Value:
    flat: dict[Value, None] = {}
    for value in values:
        for member in members(value):
            flat[member] = None
    if len(flat) == 1:
        return next(iter(flat))
    merged = _merge_alike(flat)
    if len(merged) == 1:
        return merged[0]
    if len(merged) > WIDEST_UNION:
        merged = _merge_tables(merged)
    if len(merged) > WIDEST_UNION:
        return Unknown()
    if len(merged) == 1:
        return merged[0]
    places = {value.place for value in merged if isinstance(value, Tensor)}
    if len(places) > 1 or _are_numbers_too(merged) or (Place.HOST in places and UNKNOWN in merged):
        # Where it lies, or whether it is a tensor at all, depends on the way that led here.
        merged = [_likely(value) for value in merged]
    return Union(tuple(sorted(merged, key=lambda value: value.order)))


def _merge_tables(values: list[Value]) -> list[Value]:
    """Dictionaries with other keys each as one that has them all."""
    tables = [each for each in values if isinstance(each, Table)]
    entries: dict[Any, Value] = {}
    for key, value in (entry for table in tables for entry in table.items):
        entries[key] = join(entries[key], value) if key in entries else value
    rests = [table.rest for table in tables if table.rest is not None]
    one = [Table(tuple(entries.items()), join_all(rests) if rests else None)] if tables else []
    return [*(each for each in values if not isinstance(each, Table)), *one]


def _are_numbers_too(values: list[Value]) -> bool:
    kinds = {type(value) for value in values}
    return Tensor in kinds and Number in kinds


def _likely(value: Value) -> Value:
    """What a value is if it may as well be something else: of a number not even that calls count it on."""
    if isinstance(value, Number) and value.origin is Origin.STATE:
        return Number(value.kind, None, Origin.CONFIG)
    return value.replace(sure=min(value.sure, Confidence.LIKELY)) if isinstance(value, Tensor) else value


def _merge_alike(flat: Iterable[Value]) -> list[Value]:
    groups: dict[Any, Value] = {}
    for value in flat:
        key = _likeness(value)
        groups[key] = _merge(groups[key], value) if key in groups else value
    return list(groups.values())


def _likeness(value: Value) -> Any:
    """Values of one likeness merge into one member of a union."""
    if isinstance(value, Tensor):
        return (Tensor, value.place, value.kind is Kind.BOOL, value.rank == 0)
    if isinstance(value, (Number, Bool, Text)):
        return type(value)
    if isinstance(value, DeviceValue):
        return (DeviceValue, value.place)
    if isinstance(value, Seq):
        return (Seq, value.form, None if value.items is None else len(value.items))
    if isinstance(value, Table):
        return (Table, tuple(key for key, _ in value.items))
    return value


def _merge(left: Value, right: Value) -> Value:
    if isinstance(left, Tensor) and isinstance(right, Tensor):
        return Tensor(
            left.place,
            left.kind if left.kind is right.kind else Kind.ANY,
            left.rank if left.rank == right.rank else None,
            min(left.sure, right.sure),
            left.role if left.role == right.role else "",
        )
    if isinstance(left, Number) and isinstance(right, Number):
        return Number(
            left.kind if left.kind is right.kind else Kind.ANY,
            left.value if left.value == right.value else None,
            later(left.origin, right.origin),
        )
    if isinstance(left, Bool) and isinstance(right, Bool):
        return Bool(left.true_on | right.true_on, left.false_on | right.false_on, later(left.origin, right.origin))
    if isinstance(left, Text):
        return Text()
    if isinstance(left, DeviceValue) and isinstance(right, DeviceValue):
        return DeviceValue(left.place, min(left.sure, right.sure))
    return _merge_containers(left, right)


def _merge_containers(left: Value, right: Value) -> Value:
    if isinstance(left, Seq) and isinstance(right, Seq):
        items = None
        if left.items is not None and right.items is not None:
            items = tuple(join(a, b) for a, b in zip(left.items, right.items))
        return Seq(left.form, items, join_optional(left.rest, right.rest))
    if isinstance(left, Table) and isinstance(right, Table):
        entries = tuple((key, join(a, b)) for (key, a), (_, b) in zip(left.items, right.items))
        return Table(entries, join_optional(left.rest, right.rest))
    return left


def join_optional(left: Value | None, right: Value | None) -> Value | None:
    """Either of two values, of which each may not be there; None if neither is."""
    if left is None or right is None:
        return left or right
    return join(left, right)


def one_of(value: Value) -> Value:
    """One of several unlike values, nobody knows which: a tensor among them is possible, no more."""
    kinds = {type(member) for member in members(value) if not isinstance(member, Nothing)}
    if len(kinds) < 2 or Tensor not in kinds:
        return value
    return join_all(
        [member.replace(sure=Confidence.POSSIBLE) if isinstance(member, Tensor) else member for member in members(value)]
    )


def only_word(value: Value) -> str | None:
    """The word that a value is, as far as anything is known of it."""
    known = [each for each in members(value) if not isinstance(each, Unknown)]
    return known[0].value if len(known) == 1 and isinstance(known[0], Text) else None


def hosted(value: Value) -> Value:
    """The value with its device tensors on the host, which is no more than possible."""
    return join_all([_hosted(member) for member in members(value)])


def _hosted(value: Value) -> Value:
    if isinstance(value, Tensor) and value.place is Place.DEVICE:
        return value.replace(place=Place.HOST, sure=Confidence.POSSIBLE)
    if isinstance(value, Seq):
        items = None if value.items is None else tuple([hosted(item) for item in value.items])
        return value.replace(items=items, rest=None if value.rest is None else hosted(value.rest))
    return value


def loosened(value: Value) -> Value:
    """The value without the constants that a configuration decides."""
    return join_all([_loosen(member) for member in members(value)])


def _loosen(value: Value) -> Value:
    match value:
        case Number():
            return Number(value.kind, None, Origin.CONFIG)
        case Bool():
            return EITHER
        case Text():
            return Text()
        case Tensor():
            return value.replace(role="state", sure=min(value.sure, Confidence.LIKELY))
    return value


def doubtful(value: Value) -> Value:
    """The value with its tensors possible at most."""
    return join_all(
        [each.replace(sure=Confidence.POSSIBLE) if isinstance(each, Tensor) else each for each in members(value)]
    )


def or_numbers(value: Value) -> Value:
    """What may be a tensor, or as well a number or several: most callers give the numbers."""
    return doubtful(value) if any(_is_numeric(member) for member in members(value)) else value


def _is_numeric(value: Value) -> bool:
    if isinstance(value, Seq) and value.items != ():
        return all(isinstance(member, Number) for member in members(value.element()))
    return isinstance(value, Number)


def tensors_in(value: Value | None, depth: int = 3) -> Iterator[Tensor]:
    """The tensors that a value is or holds."""
    if value is None or depth < 0:
        return
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, Union):
        for member in value.members:
            yield from tensors_in(member, depth)
    elif isinstance(value, Seq):
        for item in (*(value.items or ()), value.rest):
            yield from tensors_in(item, depth - 1)
    elif isinstance(value, Table):
        for item in (*(item for _, item in value.items), value.rest):
            yield from tensors_in(item, depth - 1)


def on_device(value: Value | None) -> Tensor | None:
    """The surest device tensor that a value is or holds, if any."""
    best: Tensor | None = None
    for tensor in tensors_in(value):
        if tensor.place is Place.DEVICE and (best is None or tensor.sure > best.sure):
            best = tensor
    return best
