"""Calls, globals and objects: everything the frames of one analysis share.

A function is run once for each set of abstract arguments and its summary kept.  Module variables and class variables
are evaluated when first read.  Objects of the tree's classes get their attributes by running `__init__`.
"""

from __future__ import annotations

import ast
from typing import NamedTuple

from graphlint.events import LimitReached
from graphlint.interp.annotations import annotated
from graphlint.interp.binding import bind
from graphlint.interp.dispatch import apply
from graphlint.interp.entry import entry_arguments
from graphlint.interp.frame import Frame, Summary
from graphlint.interp.objects import Record
from graphlint.project import Assigned, ClassDecl, FunctionDecl, Module, Outside, Project
from graphlint.types import Region, Target
from graphlint.values import (
    Arguments,
    ClassValue,
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

DEEPEST_CALL = 40
MOST_CONTEXTS = 64


class Capture(NamedTuple):
    """A captured region met while interpreting the code around it."""

    region: Region
    summary: Summary
    live: Target


class Machine:
    """The state of one analysis over one project."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.summaries: dict[object, Summary] = {}
        self.contexts: dict[FunctionDecl, int] = {}
        self.running: dict[object, None] = {}
        self.variables: dict[object, Value] = {}
        self.records: dict[Instance, Record] = {}
        self.defaults: dict[ast.AST, Value] = {}
        self.tables: dict[object, dict[str, list[FunctionDecl]]] = {}
        self.exploring: set[FunctionDecl] = set()
        self.probed: set[object] = set()
        self.captures: list[Capture] = []
        self.scopes: dict[ClassDecl, Scope] = {}
        self.depth = 0

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
        summary = self.summary(function, arguments, frame, node)
        if summary is None:
            return Unknown()
        frame.link(node, summary)
        return summary.returned

    def summary(self, function: Function, arguments: Arguments, frame: Frame | None, node: ast.AST) -> Summary | None:
        env = bind(self, function, arguments)
        decl = function.decl
        key = (decl, function.scope, function.receiver, tuple(env.values()))
        known = self.summaries.get(key)
        if known is not None:
            return known
        if self.depth >= DEEPEST_CALL or self.contexts.get(decl, 0) >= MOST_CONTEXTS:
            if frame is not None:
                frame.emit(
                    LimitReached, node, limit="call depth" if self.depth >= DEEPEST_CALL else "contexts of one function"
                )
            return None
        self.contexts[decl] = self.contexts.get(decl, 0) + 1
        summary = self.summaries[key] = Summary(decl.name, decl, receiver_of(decl, env))
        self.execute(function, env, summary)
        return summary

    def construct_recorded(self, frame: Frame, instance: Instance, node: ast.AST) -> None:
        """Run the constructor of an object made inside a region once more for its events."""
        found = self.project.member(instance.decl, "__init__")
        if found is None or not isinstance(found[1][-1], ast.FunctionDef):
            return
        owner, symbols = found
        decl = owner.module.function(symbols[-1], owner, "__init__")  # type: ignore[arg-type]  # checked above
        self.call(frame, Function(decl, instance, None, owner), instance.arguments or Arguments(), node)

    def execute(self, function: Function, env: dict[str, Value], summary: Summary, recording: bool = True) -> Frame:
        decl = function.decl
        scope = function.scope
        if scope is None and decl.owner is not None:
            scope = self.scopes.get(decl.owner)
        frame = Frame(self, decl.module, summary, env, scope)
        frame.recording = recording
        frame.inputs = frozenset(env)
        frame.owner = function.start or decl.owner
        frame.receiver = function.receiver
        self.depth += 1
        try:
            node = decl.node
            if isinstance(node, ast.Lambda):
                summary.returned = frame.eval(node.body)
            else:
                frame.run(node.body)
                summary.returned = _returned(frame)
        finally:
            self.depth -= 1
        return frame

    def value(self, found: ClassDecl | FunctionDecl | Module | Assigned | Outside | None) -> Value | None:
        """The value of what a name resolved to."""
        match found:
            case None:
                return None
            case ClassDecl():
                return ClassValue(found)
            case FunctionDecl():
                return self.decorated(found)
            case Module():
                return ModuleValue(found)
            case Outside(name):
                return External(name)
        return self.variable(found)

    def variable(self, found: Assigned) -> Value:
        """A module or class variable: all that is assigned to it."""
        key = (found.module, found.values[0] if found.values else found.annotation)
        known = self.variables.get(key)
        if known is not None:
            return known
        self.variables[key] = Unknown()
        frame = self.toplevel(found.module)
        values = [frame.eval(node) for node in found.values]
        if not values and found.annotation is not None:
            values = [annotated(self, found.module, found.annotation, None)]
        self.variables[key] = join_all(values) if values else Unknown()
        return self.variables[key]

    def toplevel(self, module: Module) -> Frame:
        """A frame at the top of a module whose events nobody reads."""
        frame = Frame(self, module, Summary(module.name), {}, None)
        frame.recording = False
        return frame

    def decorated(self, decl: FunctionDecl, receiver: Value | None = None, start: ClassDecl | None = None) -> Value:
        """A function as its decorators leave it; one that cannot be followed is taken to be transparent."""
        node = decl.node
        plain = Function(decl, None, None, start)
        if isinstance(node, ast.Lambda) or not node.decorator_list:
            return plain
        key = (decl, "decorated")
        known = self.variables.get(key)
        if known is None:
            self.variables[key] = plain
            frame = self.toplevel(decl.module)
            known = self.variables[key] = decorate(frame, node.decorator_list, plain)
        return known

    def global_(self, module: Module, name: str) -> Value | None:
        key = (module, name)
        known = self.variables.get(key)
        if known is None:
            known = self.value(self.project.lookup(module, name))
            if known is not None:
                self.variables[key] = known
        return known

    def default(self, decl: FunctionDecl, node: ast.expr) -> Value:
        """The value of a parameter's default."""
        known = self.defaults.get(node)
        if known is None:
            known = self.defaults[node] = self.toplevel(decl.module).eval(node)
        return known


def decorate(frame: Frame, decorators: list[ast.expr], function: Value) -> Value:
    """Apply decorators, innermost first."""
    for node in reversed(decorators):
        decorator = frame.eval(node)
        changed = frame.machine.apply(frame, decorator, Arguments((function,)), node)
        function = changed if is_callable(changed) else function
    return function


def is_callable(value: Value) -> bool:
    return isinstance(value, (Function, Instance, ClassValue))


def _returned(frame: Frame) -> Value:
    if frame.yields:
        return Seq("iter", None, join_all(frame.yields))
    values = list(frame.returns)
    if frame.live is not Target.NONE and frame.live:
        values.append(Nothing())
    return join_all(values) if values else Nothing()


def receiver_of(decl: FunctionDecl, env: dict[str, Value]) -> Value | None:
    """The object a method runs on, however it was passed."""
    return next(iter(env.values()), None) if decl.owner is not None else None
