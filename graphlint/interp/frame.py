"""One activation of a function on abstract values, and what it leaves behind.

A `Frame` holds the variables of one function body and the targets under which the present line still runs (`live`).
What it sees goes into a `Summary`: events, calls of other summaries, and the value returned.  Summaries are shared
between all call sites with the same arguments, so trails are put together only when a region is read out.

Expressions and statements are handled by the functions that register themselves in `EXPRESSIONS` and `STATEMENTS`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

from graphlint.events import Event
from graphlint.interp.carried import Arm, Carried, Touch
from graphlint.project import ClassDecl, FunctionDecl, Module
from graphlint.record import NamedTuple
from graphlint.source import segment
from graphlint.types import Confidence, Span, Target
from graphlint.values import Bool, Instance, Scope, Unknown, Value, join_all

if TYPE_CHECKING:
    from graphlint.interp.hanging import Left
    from graphlint.interp.machine import Machine

E = TypeVar("E", bound=Callable[..., object])

LATER = {
    "Match": "matching", "Try": "trying", "TryStar": "trying",
    "For": "loops", "AsyncFor": "loops", "While": "loops", "Break": "loops", "Continue": "loops",
}  # fmt: skip
"""Modules that execute kinds of statement which few functions have: imported when there is one."""


class Executors(dict[type[ast.AST], Callable[..., None]]):
    """What executes each kind of statement."""

    def __missing__(self, kind: type[ast.AST]) -> Callable[..., None]:
        module = import_module(f"graphlint.interp.{LATER.get(kind.__name__, 'unforeseen')}")
        return self.get(kind) or self.setdefault(kind, module.run_unforeseen)


EXPRESSIONS: dict[type[ast.AST], Callable[..., Value]] = {}
STATEMENTS = Executors()
LONGEST_TEXT = 60
NONE = Target.NONE


def expression(*kinds: type[ast.expr]) -> Callable[[E], E]:
    """Register a function as the evaluator of these kinds of expression."""
    return _entered(EXPRESSIONS, kinds)


def statement(*kinds: type[ast.stmt]) -> Callable[[E], E]:
    """Register a function as the executor of these kinds of statement."""
    return _entered(STATEMENTS, kinds)


def _entered(table: dict[type[ast.AST], Any], kinds: Iterable[type[ast.AST]]) -> Callable[[E], E]:
    def enter(function: E) -> E:
        table.update(dict.fromkeys(kinds, function))
        return function

    return enter


class Link(NamedTuple):
    """A call from one summary to another; with `gradient`, one that a backward pass makes."""

    span: Span
    summary: Summary
    targets: Target
    ceiling: Confidence = Confidence.CERTAIN
    gradient: bool = False


class Hook(NamedTuple):
    """A function that is called with a module, its arguments and, unless it comes `before`, its result.

    One for the backward pass is called with gradients instead.
    """

    function: Value
    module: Value
    before: bool
    with_keywords: bool
    backward: bool = False


class Held(NamedTuple):
    """A module by the name that holds it, in an object, among the variables of a function or in those of a file.

    What a call hands in has hooks by the function and the name of its parameter.
    """

    owner: Instance | Scope | Module | FunctionDecl
    name: str


class Summary:
    """What one function did for one set of arguments; `given` has what its parameters held."""

    __slots__ = (
        "carried", "decl", "depth", "events", "given", "hooks", "left", "links", "name", "owed", "receiver", "returned",
        "running", "seen", "switches", "touched",
    )  # fmt: skip

    def __init__(self, name: str, decl: FunctionDecl | None = None, receiver: Value | None = None) -> None:
        self.name = name
        self.decl = decl
        self.receiver = receiver
        self.events: list[Event] = []
        self.given: dict[str, Value] = {}
        self.links: list[Link] = []
        self.seen: dict[object, int] = {}
        self.touched: dict[Touch, None] = {}
        self.carried: Carried | None = None
        self.left: dict[str, Value | None] = {}
        self.hooks: list[Left] = []
        self.returned: Value = Unknown()
        self.running = False
        self.switches = 0
        self.depth = 0
        self.owed = 1 << 30


class State(NamedTuple):
    """The variables at one point, and the targets that get there."""

    env: dict[str, Value]
    live: Target


class Opened(NamedTuple):
    """A capture that no block around it ends: how to leave it, and what was recorded, and into what, before it."""

    leave: Callable[[], None]
    recording: bool
    summary: Summary


class Decided(NamedTuple):
    """Variables that an answer decides: what they are taken for, what they are where it is yes, and where it is no.

    `yes` and `no` are the targets that get to either.
    """

    names: dict[str, tuple[Value, Value, Value]]
    yes: Target
    no: Target


class Kept(NamedTuple):
    """A condition that a variable keeps, None where it may be one of several, with the variables that it asks about."""

    test: ast.expr | None
    held: tuple[tuple[str, Value], ...]


NOTHING_KEPT: dict[str, Kept] = {}


class Frame:
    """See the module's page; `recording` is off where code runs outside the captured region."""

    __slots__ = (
        "arm",
        "branches",
        "breaks",
        "ceiling",
        "choosing",
        "chosen",
        "chosen_on",
        "conditional",
        "continues",
        "decided",
        "decl",
        "devices",
        "env",
        "exits",
        "globals",
        "hung",
        "inputs",
        "kept",
        "live",
        "machine",
        "module",
        "narrowed",
        "opened",
        "own",
        "owner",
        "receiver",
        "recording",
        "returns",
        "scope",
        "stored",
        "summary",
        "switched",
        "yields",
    )

    def __init__(
        self, machine: Machine, module: Module, summary: Summary, env: dict[str, Value], parent: Scope | None
    ) -> None:
        self.machine = machine
        self.module = module
        self.summary = summary
        self.env = env
        self.scope = Scope(env, parent)
        self.live = Target.BOTH
        self.decl: FunctionDecl | None = None
        self.owner: ClassDecl | None = None
        self.receiver: Value | None = None
        self.recording = True
        self.own = ""
        self.stored: dict[str, str] = {}
        self.hung: list[tuple[Held, Hook]] = []
        self.exits: list[dict[str, Value]] = []
        self.returns: list[Value] = []
        self.yields: list[Value] = []
        self.breaks: list[State] = []
        self.continues: list[State] = []
        self.globals: set[str] = set()
        self.devices: list[Value] = []
        self.ceiling = Confidence.CERTAIN
        self.conditional = 0
        self.branches = 0
        self.choosing = 0
        self.chosen: list[Value] = []
        self.chosen_on: list[Target] = []
        self.decided: dict[ast.AST, Decided] = {}
        self.narrowed: set[tuple[str, Value]] = set()
        self.arm: Arm = ()
        self.inputs: frozenset[str] = frozenset()
        self.kept = NOTHING_KEPT
        self.opened: tuple[Opened, ...] = ()
        self.switched = 0

    def eval(self, node: ast.expr) -> Value:
        return EXPRESSIONS[type(node)](self, node)

    def run(self, body: list[ast.stmt]) -> None:
        """Execute statements for as long as some target gets there."""
        for node in body:
            if self.live is NONE:
                return
            STATEMENTS[type(node)](self, node)

    def save(self) -> State:
        return State(dict(self.env), self.live)

    def restore(self, state: State) -> None:
        self.env = self.scope.env = state.env
        self.live = state.live

    def merge(self, *states: State) -> None:
        """Continue where any of these states gets to."""
        reached = [state for state in states if state.live is not NONE]
        if not reached:
            self.live = NONE
            return
        if len(reached) == 1:
            self.env = self.scope.env = dict(reached[0].env)
            self.live = reached[0].live
            return
        self.env = self.scope.env = _join_envs(reached)
        live = NONE
        for state in reached:
            live |= state.live
        self.live = live

    def emit(self, kind: type[Event], node: ast.AST, confidence: Confidence = Confidence.CERTAIN, **facts: object) -> None:
        """Record an event at a node, once a place and kind, with the surest facts."""
        if not self.recording or self.live is NONE:
            return
        confidence = min(confidence, self.ceiling)
        span = self.span(node)
        key = (kind, span)
        known = self.summary.seen.get(key)
        targets = self.live
        if known is not None:
            old = self.summary.events[known]
            if old.confidence >= confidence and old.targets | targets == old.targets:
                return
            confidence, targets = max(old.confidence, confidence), old.targets | targets
        text = " ".join(segment(self.module.source, self.whole(node)).split())
        text = text if len(text) <= LONGEST_TEXT else text[: LONGEST_TEXT - 3] + "..."
        said = kind(span=span, text=text, confidence=confidence, targets=targets, **facts)  # type: ignore[arg-type]  # each kind's own fields
        event = self.machine.said.setdefault(said, said)
        if known is not None:
            self.summary.events[known] = event
            return
        self.summary.seen[key] = len(self.summary.events)
        self.summary.events.append(event)

    def link(self, node: ast.AST, summary: Summary, gradient: bool = False) -> None:
        """Record that the call at `node` runs `summary`."""
        self.switched += summary.switches
        if not self.recording or self.live is NONE:
            return
        self.touch(summary)
        span = self.span(node)
        key = (span, id(summary))
        known = self.summary.seen.get(key)
        if known is None:
            self.summary.seen[key] = len(self.summary.links)
            self.summary.links.append(Link(span, summary, self.live, self._passed_on(), gradient))
        else:
            old = self.summary.links[known]
            ceiling = max(old.ceiling, self._passed_on())
            self.summary.links[known] = old._replace(targets=old.targets | self.live, ceiling=ceiling)

    def touch(self, what: str | Summary, is_store: bool = False) -> None:
        """Record that an attribute is read or bound here, or that something is called."""
        if self.recording and self.live:
            self.summary.touched.setdefault(Touch(what, is_store, self.arm))

    @contextmanager
    def untouched(self) -> Iterator[None]:
        """What is looked up on the way to a store is not read."""
        before = len(self.summary.touched)
        yield
        self.untouch(before)

    def untouch(self, before: int) -> None:
        """Take back the reads that were noted since there were `before`; stores stay."""
        touched = self.summary.touched
        if len(touched) > before:
            for touch in list(touched)[before:]:
                if isinstance(touch.what, str):
                    del touched[touch]

    def _passed_on(self) -> Confidence:
        """What a call inherits: code that the warm-up has run for good is hardly ever run by the capture."""
        return Confidence.POSSIBLE if self.ceiling is Confidence.POSSIBLE else Confidence.CERTAIN

    def whole(self, node: ast.AST) -> Span:
        """The span of all of a node, which begins at its first line; `span` is where it fails."""
        first: int = getattr(node, "lineno", 1)
        column: int = getattr(node, "col_offset", 0)
        last: int | None = getattr(node, "end_lineno", None)
        end: int | None = getattr(node, "end_col_offset", None)
        return Span(self.module.source.name, first, column, last or first, end or 0)

    def span(self, node: ast.AST) -> Span:
        """Where Python says a node fails: a method call in a chain over several lines fails at the method's name."""
        whole = self.whole(node)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            line = node.func.end_lineno or whole.line
            if line != whole.line:
                column = (node.func.end_col_offset or 0) - len(node.func.attr.encode())
                return whole._replace(line=line, column=column)
        return whole


def _join_envs(states: list[State]) -> dict[str, Value]:
    """Variables of several states; a narrowed path (`self.x`) survives only if all of them know it."""
    first, others = states[0].env, [state.env for state in states[1:]]
    joined: dict[str, Value] = {}
    for name, value in first.items():
        for env in others:
            if env.get(name) is not value:
                _join_name(name, states, joined)
                break
        else:
            joined[name] = value if not isinstance(value, Bool) else _join_found(name, states)
    for env in others:
        for name in env:
            if name not in first and name not in joined:
                _join_name(name, states, joined)
    return joined


def _join_name(name: str, states: list[State], joined: dict[str, Value]) -> None:
    if "." not in name or all(name in state.env for state in states):
        joined[name] = _join_found(name, states)


def _join_found(name: str, states: list[State]) -> Value:
    return join_all(restrict(state.env[name], state.live) for state in states if name in state.env)


def restrict(value: Value, live: Target) -> Value:
    """A truth value as seen by the targets that get here."""
    if isinstance(value, Bool) and live is not Target.BOTH:
        return Bool(value.true_on & live, value.false_on & live, value.origin)
    return value
