"""What can be called or looked into: functions, classes, objects, modules, outside names, and arguments of calls."""

from __future__ import annotations

from collections.abc import Iterator

from graphlint.project import ClassDecl, FunctionDecl, Module
from graphlint.values.base import Place, Value, intern


class Scope:
    """The variables a nested function closes over; identity is what counts.

    `running` while their call is under way and all of it is captured; around a block that captures, it is not.
    """

    __slots__ = ("env", "parent", "running")

    def __init__(self, env: dict[str, Value], parent: Scope | None = None) -> None:
        self.env = env
        self.parent = parent
        self.running = False

    def find(self, name: str) -> Value | None:
        here: Scope | None = self
        while here is not None:
            if name in here.env:
                return here.env[name]
            here = here.parent
        return None

    def ends_with(self, name: str) -> bool:
        """Whether a variable belongs to a function around that is captured as a whole: it ends with that call."""
        here = self.parent
        while here is not None and name not in here.env:
            here = here.parent
        return here is not None and here.running


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


class Graphed(Value):
    """A function compiled in a mode that records graphs of its own."""

    __slots__ = fields = ("function",)
    function: Value

    def __new__(cls, function: Value) -> Graphed:
        return intern(cls, function)


class Candidate(Value):
    """A method of one of the classes that an object of an abstract type may belong to."""

    __slots__ = fields = ("function",)
    function: Value

    def __new__(cls, function: Value) -> Candidate:
        return intern(cls, function)


class Identity(Value):
    """A function that gives back what it is given, such as a decorator that changes nothing here."""

    __slots__ = ()

    def __new__(cls) -> Identity:
        return intern(cls)


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
