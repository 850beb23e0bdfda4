"""Objects as the capture site sees them, and the slots that hold them.

Two names are the same tensor when they lead to the same `Thing`; a view is a thing of its own whose `base` owns the
memory.  What a variable, attribute or entry means is a `Slot`, so "the name was bound to something else" and "the
memory was written" are different acts.
"""

from __future__ import annotations

import ast
import enum
from dataclasses import dataclass, field

from graphlint.project import ClassDecl, Module
from graphlint.record import NamedTuple

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


class Kind(enum.Enum):
    """What a thing is, as far as that matters here."""

    UNKNOWN = "unknown"
    NONE = "none"
    CONSTANT = "constant"
    NUMBER = "number"
    TENSOR = "tensor"
    CONTAINER = "container"
    ANY_ITEM = "any item"
    FUNCTION = "function"
    PROPERTY = "property"
    CLASS = "class"
    OUTSIDE = "outside"
    INSTANCE = "instance"
    MODULE = "module"
    PARAMETERS = "parameters"
    PARAMETER = "parameter"
    OPTIMIZER = "optimizer"
    SCHEDULER = "scheduler"
    SCALER = "scaler"
    GRAPH = "graph"
    CAPTURE = "capture"
    STREAM = "stream"
    STREAM_BLOCK = "stream block"
    EVENT = "event"
    AUTOCAST = "autocast"
    COMPILED = "compiled"
    GRAPHED = "graphed"
    POOL = "pool"
    LOADER = "loader"


STATE = frozenset({Kind.UNKNOWN, Kind.NUMBER, Kind.TENSOR, Kind.CONTAINER, Kind.ANY_ITEM, Kind.CONSTANT})
"""Kinds that stand for values a graph computes with."""


@dataclass(eq=False, slots=True)
class Thing:
    """One object; `born` is the number of acts that came before it, `is_guess` says that nobody was seen binding it."""

    kind: Kind
    node: ast.AST | None = None
    born: int = 0
    name: str = ""
    decl: ClassDecl | None = None
    base: Thing | None = None
    slots: dict[str, Thing] = field(default_factory=dict)
    call: ast.Call | None = None
    arguments: dict[str, Thing] = field(default_factory=dict)
    function: FunctionNode | None = None
    scope: Scope | None = None
    module: Module | None = None
    is_training: bool = True
    is_frozen: bool = False
    is_argument: bool = False
    is_guess: bool = False
    made_by: tuple[Thing, ...] = ()

    @property
    def owner(self) -> Thing:
        """The thing whose memory this is."""
        thing = self
        while thing.base is not None and thing.kind in (Kind.TENSOR, Kind.ANY_ITEM, Kind.UNKNOWN):
            thing = thing.base
        return thing

    def family(self) -> list[Thing]:
        """The thing and everything that is reached from it through slots, nearest first."""
        found: dict[int, Thing] = {id(self): self}
        waiting = [self]
        while waiting and len(found) < 200:
            for child in waiting.pop().slots.values():
                if id(child) not in found:
                    found[id(child)] = child
                    waiting.append(child)
        return list(found.values())


class Scope:
    """The variables of one activation; `outer` is where a nested function looks next."""

    __slots__ = ("born", "module", "name", "outer", "shared", "slots")

    def __init__(self, module: Module, name: str, born: int, outer: Scope | None = None) -> None:
        self.module = module
        self.name = name
        self.born = born
        self.outer = outer
        self.slots: dict[str, Thing] = {}
        self.shared: dict[str, Scope] = {}

    def holder(self, name: str) -> Scope | None:
        """The scope in which a name is bound, seen from here."""
        scope: Scope | None = self.shared.get(name, self)
        while scope is not None and name not in scope.slots:
            scope = scope.outer
        return scope


class Slot(NamedTuple):
    """A variable of a scope, or an attribute or entry of a thing."""

    holder: Scope | Thing
    key: str

    @property
    def text(self) -> str:
        name = self.key if isinstance(self.holder, Scope) or self.key.startswith("[") else f".{self.key}"
        return name.lstrip(".")
