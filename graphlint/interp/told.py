"""What a configuration says of functions that the code does not show: their truth during capture, and where they run.

A name is `Class.method` or `function` with as much of the module's dotted name before it as one likes, as for regions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from graphlint.config import Config
from graphlint.effects.table import TORCH, Version
from graphlint.project import FunctionDecl, Module, Outside, Project
from graphlint.record import NamedTuple
from graphlint.syntax import last
from graphlint.types import Target
from graphlint.values import Bool, External, Function, Instance, ModuleValue, Origin, Value

if TYPE_CHECKING:
    from graphlint.interp.frame import Frame


IN_CAPTURE = Bool(Target.GRAPH, Target.COMPILE, Origin.CONST)
OUT_OF_CAPTURE = Bool(Target.COMPILE, Target.BOTH, Origin.CONST)


class Assumed(NamedTuple):
    """The version of torch, functions with their truth during capture, and functions or decorators that mean eager."""

    torch: Version = TORCH
    flags: tuple[tuple[str, bool], ...] = ()
    eager: tuple[str, ...] = ()


def assumed(settings: Config) -> Assumed:
    """The part of a configuration that the interpreter goes by."""
    major, minor = settings.torch_version.split(".")[:2]
    return Assumed((int(major), int(minor)), settings.capture_flags, settings.eager)


class Told:
    """Answers by declaration and by dotted name; most names are passed over by their last word."""

    def __init__(self, said: Assumed) -> None:
        self.said = said
        self.torch = said.torch
        self.flags = _by_last([name for name, _ in said.flags])
        self.truths: Mapping[str, bool] = dict(said.flags)
        self.eager = _by_last(said.eager)
        self._known: dict[FunctionDecl, bool] = {}

    def answer(self, *names: str) -> Value | None:
        """A constant for a flag with one of these dotted names: of capture alone, as torch's own is."""
        for full in names:
            for name in self.flags.get(full.rpartition(".")[2], ()):
                if _ends(full, name):
                    return IN_CAPTURE if self.truths[name] else OUT_OF_CAPTURE
        return None

    def is_eager(self, project: Project, decl: FunctionDecl) -> bool:
        """Whether a function runs outside of the graph: it is named so, or one of its decorators is."""
        if not self.eager:
            return False
        known = self._known.get(decl)
        if known is None:
            marks = getattr(decl.node, "decorator_list", [])
            names = [full_name(decl), *(_decorator(project, decl.module, each) for each in marks)]
            known = self._known[decl] = any(self._is_named(name) for name in names)
        return known

    def _is_named(self, full: str) -> bool:
        return any(_ends(full, name) for name in self.eager.get(full.rpartition(".")[2], ()))


def flag_called(frame: Frame, node: ast.Call) -> Value | None:
    """What a call gives if it asks for a flag."""
    told, word = frame.machine.told, last(node.func)
    if word not in told.flags:
        return None
    callee = frame.eval(node.func)
    if callee in (IN_CAPTURE, OUT_OF_CAPTURE):
        return callee  # a method, which was read as an attribute
    full = full_name(callee.decl) if isinstance(callee, Function) else callee.name if isinstance(callee, External) else word
    return told.answer(full, word)


def flag_read(frame: Frame, node: ast.Name | ast.Attribute) -> Value | None:
    """What a module variable or an attribute holds if it is a flag."""
    told, word = frame.machine.told, last(node)
    if word not in told.flags:
        return None
    if isinstance(node, ast.Name):
        found = frame.machine.project.dotted(frame.module, node)
        return told.answer(found.name if isinstance(found, Outside) else f"{frame.module.name}.{word}", word)
    owner = frame.eval(node.value)
    if isinstance(owner, Instance):
        return told.answer(f"{owner.decl.module.name}.{owner.decl.name}.{word}", word)
    return told.answer(f"{owner.module.name}.{word}" if isinstance(owner, ModuleValue) else word, word)


def full_name(decl: FunctionDecl) -> str:
    return ".".join((decl.module.name, *([decl.owner.name] if decl.owner else []), decl.name))


def _decorator(project: Project, module: Module, node: ast.expr) -> str:
    """The dotted name of a decorator, as the tree resolves it or else as it is spelled."""
    plain = node.func if isinstance(node, ast.Call) else node
    found = project.dotted(module, plain)
    if isinstance(found, FunctionDecl):
        return full_name(found)
    return found.name if isinstance(found, Outside) else ast.unparse(plain)


def _by_last(names: Iterable[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name in names:
        found.setdefault(name.rpartition(".")[2], []).append(name)
    return found


def _ends(full: str, name: str) -> bool:
    return full == name or full.endswith(f".{name}")


NOTHING_TOLD = Told(Assumed())
