"""What happens to things at a capture site, one act after the other."""

from __future__ import annotations

import ast
import enum
from collections.abc import Iterator
from dataclasses import dataclass, replace

from graphlint.project import Module
from graphlint.site.things import Slot, Thing
from graphlint.types import Span, Step


class Verb(enum.Enum):
    """What an act does."""

    LOAD = "load"
    BIND = "bind"
    WRITE = "write"
    READ = "read"
    CALL = "call"
    METHOD = "method"
    KEEP = "keep"
    RETURN = "return"
    ENTER = "enter"
    LEAVE = "leave"
    GROW = "grow"
    CACHED = "cached"
    SPAWN = "spawn"
    DROP = "drop"


class Frame:
    """Where an act runs: one call on the way from the root, linked to its caller's; `body` is the function itself."""

    __slots__ = ("body", "caller", "function", "module", "node")

    def __init__(
        self,
        module: Module,
        function: str,
        node: ast.AST | None,
        caller: Frame | None,
        body: ast.AST | None = None,
    ) -> None:
        self.module = module
        self.function = function
        self.node = node
        self.caller = caller
        self.body = body

    def leads_to(self, inner: Frame | None) -> bool:
        """Whether a call led to another one, or is the same."""
        while inner is not None and inner is not self:
            inner = inner.caller
        return inner is self

    @property
    def depth(self) -> int:
        return 0 if self.caller is None else self.caller.depth + 1


class Layer:
    """A loop or a `with` block that is open; `round` counts the passes through a loop."""

    __slots__ = ("node", "outer", "round", "thing")

    def __init__(self, node: ast.AST, outer: Layer | None, thing: Thing | None = None, round: int = 0) -> None:
        self.node = node
        self.outer = outer
        self.thing = thing
        self.round = round

    def all(self) -> list[Layer]:
        """This layer and those around it, innermost first."""
        found: list[Layer] = []
        layer: Layer | None = self
        while layer is not None:
            found.append(layer)
            layer = layer.outer
        return found


@dataclass(eq=False, slots=True)
class Act:
    """One act; `thing` is what it is done to, `slot` where that was found or put, `other` what came before or with it.

    `is_maybe` is true where it happens only if a condition holds of which nothing is known.
    """

    verb: Verb
    node: ast.AST
    frame: Frame
    layer: Layer | None
    thing: Thing
    slot: Slot | None = None
    other: Thing | None = None
    name: str = ""
    call: ast.Call | None = None
    is_partial: bool = False
    is_maybe: bool = False

    @property
    def layers(self) -> list[Layer]:
        return [] if self.layer is None else self.layer.all()

    @property
    def given(self) -> list[Thing]:
        """What a call is given, in order."""
        return [] if self.other is None else list(self.other.slots.values())

    @property
    def span(self) -> Span:
        return span(self.frame.module, self.node)

    @property
    def text(self) -> str:
        return text(self.frame.module, self.node)

    @property
    def trail(self) -> tuple[Step, ...]:
        """The calls from the root to here, outermost first."""
        steps: list[Step] = []
        frame = self.frame
        while frame.caller is not None:
            # A class that is walked for itself is made by no call that one could be shown.
            if frame.node is not None and not isinstance(frame.node, ast.ClassDef):
                steps.append(Step(span(frame.caller.module, frame.node), frame.caller.function))
            frame = frame.caller
        return tuple(reversed(steps))


def outward(act: Act) -> Iterator[Act]:
    """An act, and the calls that led to it, innermost first."""
    yield act
    while act.frame.caller is not None and act.frame.node is not None:
        act = replace(act, node=act.frame.node, frame=act.frame.caller)
        yield act


def side_by_side(one: Act, other: Act) -> tuple[Act, Act]:
    """Two acts as the innermost run has them that led to both."""
    for outer in outward(one):
        for beside in outward(other):
            if beside.frame is outer.frame:
                return outer, beside
    return one, other


LONGEST = 60


def span(module: Module, node: ast.AST) -> Span:
    line, column = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
    end_line, end_column = getattr(node, "end_lineno", None), getattr(node, "end_col_offset", None)
    return Span(module.source.name, line, column, end_line or line, end_column or column)


def text(module: Module, node: ast.AST) -> str:
    """The expression as it is written, on one line and not longer than fits a message."""
    try:
        written = ast.unparse(node)
    except (ValueError, RecursionError):
        return "..."
    first = written.split("\n", 1)[0]
    return first if len(first) <= LONGEST else first[: LONGEST - 3] + "..."
