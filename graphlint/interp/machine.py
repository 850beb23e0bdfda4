"""Calls, globals and objects: everything the frames of one analysis share.

A function is run once for each set of abstract arguments and its summary kept.  Module variables and class variables
are evaluated when first read.  Objects of the tree's classes get their attributes by running `__init__`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from graphlint.events import Event, LimitReached
from graphlint.interp import hanging, members
from graphlint.interp.agreeing import Repeats
from graphlint.interp.annotations import annotated
from graphlint.interp.binding import bind, own_name, receiver_of
from graphlint.interp.decorating import Decorators, class_value, decorate, may_wrap
from graphlint.interp.dispatch import apply
from graphlint.interp.entry import entry_arguments
from graphlint.interp.fields import constructor
from graphlint.interp.frame import Frame, Held, Hook, Summary
from graphlint.interp.leaving import left, take_over
from graphlint.interp.memo import Memo
from graphlint.interp.record import Brought, Record
from graphlint.interp.room import MOST_WORK, refusal
from graphlint.interp.told import NOTHING_TOLD, Told
from graphlint.project import Assigned, ClassDecl, FunctionDecl, Module, Outside, Project, Resolved
from graphlint.record import NamedTuple
from graphlint.syntax import refuses
from graphlint.types import Region, Target
from graphlint.values import (
    Arguments,
    External,
    Function,
    Instance,
    ModuleValue,
    Nothing,
    Scope,
    Seq,
    Unknown,
    Value,
    join_all,
)

if TYPE_CHECKING:
    from graphlint.interp.compiling import Handed

NOTHING_OWED = 1 << 30
NOTHING_READ = Unknown()
FINAL = NOTHING_OWED


class Capture(NamedTuple):
    """A captured region met while interpreting the code around it."""

    region: Region
    summary: Summary
    live: Target


class Machine:
    """The state of one analysis over one project."""

    brought: Brought | None = None
    """What code around captures has put on the device; None while other code is interpreted."""
    replaced: Mapping[Instance, Value] = {}

    def __init__(self, project: Project, told: Told = NOTHING_TOLD) -> None:
        self.project = project
        self.told = told
        self.summaries: dict[object, Summary] = {}
        self.stack: dict[FunctionDecl, list[int]] = {}
        self.owed = NOTHING_OWED
        self.variables: dict[object, tuple[Value, int]] = {}
        self.provisional: dict[int, list[tuple[dict[Any, Any], object]]] = {}
        self.globals: dict[tuple[Module, str], Resolved] = {}
        self.decorators = Decorators()
        self.called: dict[ast.AST, frozenset[str]] = {}
        self.silent: dict[object, Value] = {}
        self.read = members.Read()
        self.settled: dict[tuple[Module, str], Value | None] = {}
        self.records: dict[Instance, Record] = {}
        self.defaults: dict[ast.AST, Value] = {}
        self.tables: dict[object, dict[str, list[FunctionDecl]]] = {}
        self.probes: dict[tuple[Instance, FunctionDecl], dict[str, Value]] = {}
        self.shadow: tuple[dict[object, Summary], dict[Instance, Record], dict[object, tuple[Value, int]]] = ({}, {}, {})
        self.parts: dict[ClassDecl, dict[str, Value]] = {}
        self.watched: tuple[ClassDecl, list[Arguments]] | None = None
        self.writes: list[tuple[Instance, dict[str, Value]]] = []
        self.captures: list[Capture] = []
        self.handed: dict[Handed, None] = {}
        self.capturing = 0
        self.libraries: set[str] = set()
        self.operations: dict[tuple[Module, str], FunctionDecl | None] = {}
        self.contradictions: dict[ast.expr, int] = {}
        self.memos: dict[FunctionDecl, dict[ast.If, Memo]] = {}
        self.only_asked: dict[FunctionDecl, frozenset[str]] = {}
        self.repeats: dict[FunctionDecl, Repeats] = {}
        self.hooks: dict[Held, list[Hook]] = {}
        self.lent: tuple[object, ...] = ()
        self.imported: set[Module] = set()
        self.scopes: dict[ClassDecl, Scope] = {}
        self.passed: dict[ast.stmt, frozenset[str]] = {}
        self.asked: dict[ast.If, frozenset[str]] = {}
        self.shut: dict[ast.If, str] = {}
        self.depth, self.left = 0, MOST_WORK
        self.said: dict[Event, Event] = {}

    def apply(self, frame: Frame, callee: Value, arguments: Arguments, node: ast.AST) -> Value:
        return apply(frame, callee, arguments, node)

    def entry(self, decl: FunctionDecl, receiver: Value | None) -> dict[str, Value]:
        """The variables of a function that nobody was seen calling."""
        return entry_arguments(self, decl, receiver)

    def site_entry(self, decl: FunctionDecl, receiver: Value | None) -> dict[str, Value]:
        """The same for a function around a capture, whose arguments are not captured tensors."""
        return entry_arguments(self, decl, receiver, captured=False)

    def call(self, frame: Frame, function: Function, arguments: Arguments, node: ast.AST) -> Value:
        """Run a function of the tree, or find that it was run so before; link its summary to the caller's."""
        if self.hooks and isinstance(node, ast.Call) and hanging.knows_hooked(frame):
            with hanging.handed_on(frame, function, node):
                summary = self.summary(function, arguments, frame, node)
        else:
            summary = self.summary(function, arguments, frame, node)
        if summary is None:
            return Unknown()
        frame.link(node, summary)
        if summary.left:
            take_over(frame, function, summary, node)
        if summary.hooks:
            hanging.take_over(frame, function, summary, node)
        elif self.hooks and isinstance(node, ast.Call):
            hanging.forget_removed(frame, function, node)
        return summary.returned

    def summary(self, function: Function, arguments: Arguments, frame: Frame | None, node: ast.AST) -> Summary | None:
        """What a call does; None where the analysis stops short."""
        # What is called outside of a region, such as by a constructor, makes objects that are there before the region.
        recording = frame is None or frame.recording
        given = (function, arguments, recording, self.lent)
        known = self.summaries.get(given)
        if known is not None:
            return known
        env = bind(self, function, arguments)
        env.update(dict.fromkeys(function.decl.unread, NOTHING_READ))
        known = self._summary(function, env, frame, node)
        if known is not None and known.owed == FINAL and not known.running:
            self.summaries[given] = known
        return known

    def _summary(self, function: Function, env: dict[str, Value], frame: Frame | None, node: ast.AST) -> Summary | None:
        """The same, by what the parameters hold: calls that are written in different ways are often one."""
        decl = function.decl
        if decl.module not in self.imported:
            hanging.at_import(self, decl.module)
        recording = frame is None or frame.recording
        key = (decl, function.scope, function.receiver, tuple(env.values()), recording, self.lent)
        known = self.summaries.get(key)
        if known is not None:
            self.owe(known.depth if known.running else known.owed)
            return known
        if not self._may_enter(decl, frame, node):
            return None
        summary = self.summaries[key] = Summary(decl.name, decl, receiver_of(decl, env))
        summary.depth, summary.running, summary.given = self.depth + 1, True, dict(env)
        self.stack.setdefault(decl, []).append(summary.depth)
        outer = self.begin()
        self._note_constructing(function)
        try:
            self.execute(function, env, summary, recording)
        except Exception:
            # What was found before a failure is still read out, along the calls that led there.
            if frame is not None:
                frame.link(node, summary)
            raise
        self.stack[decl].pop()
        summary.running = False
        summary.owed = self.settle(summary.depth, outer)
        self.keep(self.summaries, key, summary.owed)
        return summary

    def _note_constructing(self, function: Function) -> None:
        """Note a method that runs, without arguments, on an object under construction: its writes are in the record."""
        receiver = function.receiver
        record = self.records.get(receiver) if isinstance(receiver, Instance) else None
        if record is not None and record.building and len(function.decl.signature.order) == 1:
            record.called.add(function.decl)

    def _may_enter(self, decl: FunctionDecl, frame: Frame | None, node: ast.AST) -> bool:
        """Whether there is room for one more activation; recursion is followed a few rounds deep."""
        rounds = self.stack.get(decl, ())
        limit = refusal(self.depth, rounds, self.left)
        if not limit:
            return True
        self.owe(rounds[0] if rounds else 0)
        if frame is not None:
            frame.emit(LimitReached, node, limit=limit)
        return False

    @contextmanager
    def exploring(self, value: Instance, writes: dict[str, Value]) -> Iterator[None]:
        """Run something for what it writes to one object, with results of its own that nothing else sees."""
        kept = self.summaries, self.records, self.variables, self.stack, self.owed, self.provisional
        self.summaries, self.records, self.variables = self.shadow
        self.stack, self.owed, self.provisional = {}, NOTHING_OWED, {}
        self.writes.append((value, writes))
        try:
            yield
        finally:
            self.writes.pop()
            self.summaries, self.records, self.variables, self.stack, self.owed, self.provisional = kept

    @contextmanager
    def watching(self, owner: ClassDecl, made: list[Arguments]) -> Iterator[None]:
        """Note the arguments of every object of one class that is made meanwhile."""
        self.watched = (owner, made)
        try:
            yield
        finally:
            self.watched = None

    def begin(self) -> int:
        """Start something whose result may be kept; give what is returned to `settle`."""
        outer, self.owed = self.owed, NOTHING_OWED
        return outer

    def ends(self, outer: int) -> bool:
        """End what was begun and is no activation of its own; whether all that it used was finished."""
        final = self.owed == NOTHING_OWED
        self.owe(outer)
        return final

    def owe(self, depth: int) -> None:
        """The running code has used what is still unfinished at this depth."""
        self.owed = min(self.owed, depth)

    def settle(self, depth: int, outer: int) -> int:
        """End what was started at `depth`; the depth of the outermost unfinished thing it used, FINAL if none.

        What is not final holds only until that thing ends: another order of events would give another result.
        """
        owed = self.owed if self.owed < depth else FINAL
        self.owed = outer if owed == FINAL else min(outer, owed)
        for table, key in self.provisional.pop(depth, ()):
            table.pop(key, None)
        return owed

    def keep(self, table: dict[Any, Any], key: object, owed: int) -> None:
        """Drop an entry that is not final when the thing it waits for ends."""
        if owed != FINAL:
            self.provisional.setdefault(owed, []).append((table, key))

    def construct_recorded(self, frame: Frame, instance: Instance, node: ast.AST) -> None:
        """Run the constructor of an object made inside a region once more for its events."""
        init = constructor(self.project, instance.decl)
        if init is not None:
            self.call(frame, Function(init, instance, None, init.owner), instance.arguments or Arguments(), node)

    def execute(self, function: Function, env: dict[str, Value], summary: Summary, recording: bool = True) -> Frame:
        """Run the body of a function on its variables; what it does goes to `summary`, the frame shows what it left."""
        decl = function.decl
        scope = function.scope
        if scope is None and decl.owner is not None:
            scope = self.scopes.get(function.start or decl.owner)
        frame = Frame(self, decl.module, summary, env, scope)
        frame.recording = recording
        frame.decl = decl
        frame.inputs = frozenset(env)
        frame.owner = function.start or decl.owner
        frame.receiver = function.receiver
        frame.own = own_name(decl)
        self.depth += 1
        self.left -= 1
        frame.scope.running = recording
        lent = self.lent
        try:
            node = decl.node
            if isinstance(node, ast.Lambda):
                summary.returned = frame.eval(node.body)
            else:
                frame.run(node.body)
                summary.returned = Unknown() if refuses(node) else _returned(frame)
                summary.left = left(frame) if frame.stored or frame.opened else {}
        finally:
            self.depth -= 1
            frame.scope.running = False
            if frame.hung:
                hanging.take_down(frame)
                self.lent = lent
        return frame

    def value(self, found: ClassDecl | FunctionDecl | Module | Assigned | Outside | None) -> Value | None:
        """The value of what a name resolved to; None for what has none."""
        match found:
            case None:
                return None
            case ClassDecl():
                return class_value(self, found)
            case FunctionDecl():
                return self.decorated(found)
            case Module():
                return ModuleValue(found)
            case Outside(name):
                return External(name)
        return self.variable(found)

    def variable(self, found: Assigned) -> Value:
        """A module or class variable: all that is assigned to it."""
        return self.once(
            (found.module, found.values[0] if found.values else found.annotation), lambda: self._assigned(found)
        )

    def _assigned(self, found: Assigned) -> Value:
        frame = self.toplevel(found.module)
        if found.before is not None:
            frame.env[found.before[0]] = self.value(found.before[1]) or Unknown()
        values = [self._filled(found.module, node) or frame.eval(node) for node in found.values]
        if not values and found.annotation is not None:
            values = [annotated(self, found.module, found.annotation, None)]
        return join_all(values) if values else Unknown()

    def _filled(self, module: Module, node: ast.expr) -> Value | None:
        if not isinstance(node, ast.Dict) or node.keys:
            return None
        from graphlint.interp.registries import filled  # few files fill an empty dictionary at their top

        return filled(self, module, node)

    def once(self, key: object, make: Callable[[], Value], meanwhile: Value | None = None) -> Value:
        """A value that is made when first asked for; asked for while it is being made, it is `meanwhile`."""
        known = self.variables.get(key)
        if known is not None:
            value, owed = known
            self.owe(owed)
            return value
        self.depth += 1
        self.variables[key] = (Unknown() if meanwhile is None else meanwhile, self.depth)
        outer = self.begin()
        value = make()
        owed = self.settle(self.depth, outer)
        self.depth -= 1
        self.variables[key] = (value, owed)
        self.keep(self.variables, key, owed)
        return value

    def toplevel(self, module: Module) -> Frame:
        """A frame at the top of a module whose events nobody reads."""
        frame = Frame(self, module, Summary(module.name), {}, None)
        frame.recording = False
        return frame

    def decorated(self, decl: FunctionDecl, receiver: Value | None = None, start: ClassDecl | None = None) -> Value:
        """A function as its decorators leave it; one that cannot be followed is taken to be transparent."""
        node = decl.node
        plain = Function(decl, None, None, start)
        if isinstance(node, ast.Lambda) or self.told.is_eager(self.project, decl):
            return plain
        if not any(may_wrap(self, decl.module, item) for item in node.decorator_list):
            return plain
        frame = self.toplevel(decl.module)
        return self.once((decl, "decorated"), lambda: decorate(frame, node.decorator_list, plain), plain)

    def global_(self, module: Module, name: str) -> Value | None:
        """A top-level name of a module."""
        key = (module, name)
        if key in self.settled:
            return self.settled[key]
        known = self.globals.get(key)
        if known is None:
            known = self.project.lookup(module, name)
            if known is None:
                self.settled[key] = None
                return None
            self.globals[key] = known
        outer = self.begin()
        value = self.value(known)
        if self.ends(outer):
            self.settled[key] = value
        return value

    def default(self, decl: FunctionDecl, node: ast.expr) -> Value:
        """The value of a parameter's default."""
        known = self.defaults.get(node)
        if known is None:
            known = self.defaults[node] = self.toplevel(decl.module).eval(node)
        return known


def _returned(frame: Frame) -> Value:
    if frame.yields:
        return Seq("iter", None, join_all(frame.yields))
    values = list(frame.returns)
    if frame.live is not Target.NONE and frame.live:
        values.append(Nothing())
    return join_all(values) if values else Nothing()
