"""Abstract values: where a thing lives, what it is, and what it depends on.

Values are interned: equal values are the same object, so comparing and hashing them costs one pointer.  Three small
vocabularies do most of the work: `Place` (where a tensor lives), `Kind` (what its elements are) and `Origin` (what a
Python number depends on).  `Unknown` is a value like any other; `Opaque` is Python data that is surely no tensor, such
as what comes from a configuration.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator
from zlib import crc32
from typing import Any, ClassVar, TypeVar, cast

from graphlint.project import ClassDecl, FunctionDecl, Module
from graphlint.types import Confidence, Target

V = TypeVar("V", bound="Value")

WIDEST_UNION = 8


class Place(enum.Enum):
    """Where a tensor lives."""

    DEVICE = "device"
    HOST = "host"
    PINNED = "pinned"
    UNKNOWN = "unknown"


class Kind(enum.Enum):
    """What the elements of a tensor (or a Python number) are."""

    BOOL = "bool"
    INT = "int"
    FLOAT = "float"
    COMPLEX = "complex"
    ANY = "any"


class Origin(enum.Enum):
    """What a Python number depends on; later members win when two meet."""

    CONST = 0
    CONFIG = 1
    SHAPE = 2
    ARGUMENT = 3
    STATE = 4
    DATA = 5


_pool: dict[tuple[Any, ...], Value] = {}


class Value:
    """Base of all values; instances are created through `intern` only."""

    __slots__ = ("order",)
    order: int
    fields: ClassVar[tuple[str, ...]] = ()

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
        found.order = _order_of(key)
        for name, part in zip(cls.fields, content):
            setattr(found, name, part)
        _pool[key] = found
    return cast("V", found)


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


class Unknown(Value):
    """Anything at all."""

    __slots__ = ()

    def __new__(cls) -> Unknown:
        return intern(cls)


class Opaque(Value):
    """Host data that is surely no tensor: configuration, strings, file handles, loggers."""

    __slots__ = ()

    def __new__(cls) -> Opaque:
        return intern(cls)


class Nothing(Value):
    """Python's `None`."""

    __slots__ = ()

    def __new__(cls) -> Nothing:
        return intern(cls)


class Tensor(Value):
    """A tensor; `rank` is None when unknown, `sure` says how sure it is that this is a tensor at that place.

    `role` is "", "input" (argument of the region), "parameter", "buffer" or "state" (a plain attribute).
    """

    __slots__ = fields = ("place", "kind", "rank", "sure", "role")
    place: Place
    kind: Kind
    rank: int | None
    sure: Confidence
    role: str

    def __new__(
        cls,
        place: Place = Place.DEVICE,
        kind: Kind = Kind.ANY,
        rank: int | None = None,
        sure: Confidence = Confidence.CERTAIN,
        role: str = "",
    ) -> Tensor:
        return intern(cls, place, kind, rank, sure, role)


class Number(Value):
    """A Python int or float; `value` is None when it is not known."""

    __slots__ = fields = ("kind", "value", "origin")
    kind: Kind
    value: int | float | None
    origin: Origin

    def __new__(cls, kind: Kind = Kind.ANY, value: float | None = None, origin: Origin = Origin.CONST) -> Number:
        return intern(cls, kind, value, origin)


class Bool(Value):
    """A truth value by target: it can be true under `true_on` and false under `false_on`."""

    __slots__ = fields = ("true_on", "false_on", "origin")
    true_on: Target
    false_on: Target
    origin: Origin

    def __new__(cls, true_on: Target = Target.BOTH, false_on: Target = Target.BOTH, origin: Origin = Origin.CONFIG) -> Bool:
        return intern(cls, true_on, false_on, origin)


class Text(Value):
    """A string; `value` is None when it is not known, `pattern` then has a `*` for each part that is not."""

    __slots__ = fields = ("pattern", "value")
    pattern: str | None
    value: str | None

    def __new__(cls, value: str | None = None, pattern: str | None = None) -> Text:
        return intern(cls, pattern, value)

    def replace(self, **changes: Any) -> Text:
        return Text(changes.get("value", self.value), changes.get("pattern", self.pattern))

    @property
    def key(self) -> str:
        """The name of an attribute that goes by this string: `*` when nothing of it is known."""
        return self.value if self.value is not None else self.pattern or "*"


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


class Scope:
    """The variables a nested function closes over; identity is what counts."""

    __slots__ = ("env", "parent")

    def __init__(self, env: dict[str, Value], parent: Scope | None = None) -> None:
        self.env = env
        self.parent = parent

    def find(self, name: str) -> Value | None:
        here: Scope | None = self
        while here is not None:
            if name in here.env:
                return here.env[name]
            here = here.parent
        return None


class Function(Value):
    """A function of the tree, bound to `receiver` if it is a method; `start` is the class it was found in."""

    __slots__ = fields = ("decl", "receiver", "scope", "start")
    decl: FunctionDecl
    receiver: Value | None
    scope: Scope | None
    start: ClassDecl | None

    def __new__(
        cls,
        decl: FunctionDecl,
        receiver: Value | None = None,
        scope: Scope | None = None,
        start: ClassDecl | None = None,
    ) -> Function:
        return intern(cls, decl, receiver, scope, start)


class ClassValue(Value):
    """A class of the tree."""

    __slots__ = fields = ("decl",)
    decl: ClassDecl

    def __new__(cls, decl: ClassDecl) -> ClassValue:
        return intern(cls, decl)


class Instance(Value):
    """An object of a class of the tree.

    `arguments` are the constructor's, None when unknown; `fresh` objects were made inside the region.
    """

    __slots__ = fields = ("decl", "arguments", "fresh")
    decl: ClassDecl
    arguments: Arguments | None
    fresh: bool

    def __new__(cls, decl: ClassDecl, arguments: Arguments | None = None, fresh: bool = False) -> Instance:
        return intern(cls, decl, arguments, fresh)


class ModuleValue(Value):
    """A module of the tree."""

    __slots__ = fields = ("module",)
    module: Module

    def __new__(cls, module: Module) -> ModuleValue:
        return intern(cls, module)


class External(Value):
    """A dotted name from outside the tree: `torch.nn.functional.pad`."""

    __slots__ = fields = ("name",)
    name: str

    def __new__(cls, name: str) -> External:
        return intern(cls, name)


class ExternalObject(Value):
    """An instance of a class from outside the tree, with its constructor's arguments."""

    __slots__ = fields = ("name", "arguments", "place")
    name: str
    arguments: Arguments | None
    place: Place

    def __new__(cls, name: str, arguments: Arguments | None = None, place: Place = Place.UNKNOWN) -> ExternalObject:
        return intern(cls, name, arguments, place)


class Method(Value):
    """A method of a tensor, container or external object, not yet called."""

    __slots__ = fields = ("receiver", "name")
    receiver: Value
    name: str

    def __new__(cls, receiver: Value, name: str) -> Method:
        return intern(cls, receiver, name)


class Partial(Value):
    """`functools.partial(function, ...)`."""

    __slots__ = fields = ("function", "arguments")
    function: Value
    arguments: Arguments

    def __new__(cls, function: Value, arguments: Arguments) -> Partial:
        return intern(cls, function, arguments)


class SuperValue(Value):
    """`super()` in a method of `start`, on `receiver`."""

    __slots__ = fields = ("receiver", "start")
    receiver: Value
    start: ClassDecl

    def __new__(cls, receiver: Value, start: ClassDecl) -> SuperValue:
        return intern(cls, receiver, start)


class DeviceValue(Value):
    """A `torch.device`; `place` is where it points."""

    __slots__ = fields = ("place",)
    place: Place

    def __new__(cls, place: Place) -> DeviceValue:
        return intern(cls, place)


class DtypeValue(Value):
    """A `torch.dtype`."""

    __slots__ = fields = ("kind",)
    kind: Kind

    def __new__(cls, kind: Kind) -> DtypeValue:
        return intern(cls, kind)


class Arguments(Value):
    """What a call passes: positional and keyword values, and what may come on top through `*` and `**`."""

    __slots__ = fields = ("positional", "keywords", "more", "more_keywords")
    positional: tuple[Value, ...]
    keywords: tuple[tuple[str, Value], ...]
    more: Value | None
    more_keywords: Value | None

    def __new__(
        cls,
        positional: tuple[Value, ...] = (),
        keywords: tuple[tuple[str, Value], ...] = (),
        more: Value | None = None,
        more_keywords: Value | None = None,
    ) -> Arguments:
        return intern(cls, positional, keywords, more, more_keywords)

    def keyword(self, name: str) -> Value | None:
        for key, value in self.keywords:
            if key == name:
                return value
        return None

    def values(self) -> Iterator[Value]:
        yield from self.positional
        for _, value in self.keywords:
            yield value
        if self.more is not None:
            yield self.more
        if self.more_keywords is not None:
            yield self.more_keywords


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
        return Unknown()
    return Union(tuple(sorted(merged, key=lambda value: value.order)))


def _merge_alike(flat: Iterable[Value]) -> list[Value]:
    groups: dict[Any, Value] = {}
    for value in flat:
        key = _likeness(value)
        groups[key] = _merge(groups[key], value) if key in groups else value
    return list(groups.values())


def _likeness(value: Value) -> Any:
    """Values of one likeness merge into one member of a union."""
    if isinstance(value, Tensor):
        return (Tensor, value.place, value.kind is Kind.BOOL)
    if isinstance(value, (Number, Bool, Text)):
        return type(value)
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
    return _merge_containers(left, right)


def _merge_containers(left: Value, right: Value) -> Value:
    if isinstance(left, Seq) and isinstance(right, Seq):
        items = None
        if left.items is not None and right.items is not None:
            items = tuple(join(a, b) for a, b in zip(left.items, right.items))
        return Seq(left.form, items, join_optional(left.rest, right.rest))
    if isinstance(left, Table) and isinstance(right, Table):
        items = tuple((key, join(a, b)) for (key, a), (_, b) in zip(left.items, right.items))
        return Table(items, join_optional(left.rest, right.rest))
    return left


def join_optional(left: Value | None, right: Value | None) -> Value | None:
    if left is None or right is None:
        return left or right
    return join(left, right)


def later(left: Origin, right: Origin) -> Origin:
    return left if left.value >= right.value else right


def one_of(value: Value) -> Value:
    """One of several unlike values, nobody knows which: a tensor among them is possible, no more."""
    kinds = {type(member) for member in members(value) if not isinstance(member, Nothing)}
    if len(kinds) < 2 or Tensor not in kinds:
        return value
    return join_all(
        [member.replace(sure=Confidence.POSSIBLE) if isinstance(member, Tensor) else member for member in members(value)]
    )


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


TRUE = Bool(Target.BOTH, Target.NONE, Origin.CONST)
FALSE = Bool(Target.NONE, Target.BOTH, Origin.CONST)
EITHER = Bool(Target.BOTH, Target.BOTH, Origin.CONFIG)
