"""Attributes that code keeps for people to look at: nothing that a file runs asks for them.

class Stats:
    def update(self):
        self.calls += 1             # no kernel depends on it
        self.last = time.time()

    def summary(self):              # and nobody in the file calls this
        return {"calls": self.calls, "last": self.last}
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphlint.interp.frame import Frame
from graphlint.modules import once_a_module
from graphlint.project import Module
from graphlint.syntax import stands_in, walk
from graphlint.values import Number, Origin, Tensor, Value, members

RUN = frozenset({"forward", "backward", "step"})
"""Methods that others call wherever they stand, as they do those between underscores."""


def attributes(module: Module) -> dict[str, set[ast.Attribute]]:
    """The places where a file names each attribute."""
    return _named(module)[0]


@once_a_module
def _named(module: Module) -> tuple[dict[str, set[ast.Attribute]], list[ast.ClassDef]]:
    """The attributes that a file names, and its classes: a walk over a whole file takes long."""
    found: dict[str, set[ast.Attribute]] = {}
    classes: list[ast.ClassDef] = []
    for each in walk(module.source.tree):
        if isinstance(each, ast.Attribute):
            found.setdefault(each.attr, set()).add(each)
        elif isinstance(each, ast.ClassDef):
            classes.append(each)
    return found, classes


def is_unread(modules: Iterable[Module], name: str, node: ast.AST) -> bool:
    """Whether no code of some files that anybody there calls reads an attribute, but for the statement that moves it on."""
    return all(_is_unread(each, name, node) for each in modules)


def _is_unread(module: Module, name: str, node: ast.AST) -> bool:
    loads = [each for each in attributes(module).get(name, ()) if isinstance(each.ctx, ast.Load)]
    loads = [each for each in loads if not stands_in((node,), each)] if isinstance(node, ast.stmt) else loads
    uncalled = _uncalled(module) if loads else ()
    return all(any(stands_in(each.body, load) for each in uncalled) for load in loads)


@once_a_module
def _uncalled(module: Module) -> list[ast.FunctionDef]:
    """Methods whose names a file does not mention."""
    named, classes = _named(module)
    methods = [each for owner in classes for each in owner.body if isinstance(each, ast.FunctionDef)]
    return [each for each in methods if each.name not in named and each.name not in RUN and not each.name.startswith("__")]


def takes_results(frame: Frame) -> bool:
    """Whether a function sums up what was computed, as a meter does, which is made to be read by somebody."""
    decl = frame.summary.decl
    names = (
        [part.id for each in decl.every(ast.AugAssign) for part in walk(each.value) if isinstance(part, ast.Name)]
        if decl
        else []
    )
    return any(_is_result(each) for name in names if name in frame.env for each in members(frame.env[name]))


def _is_result(value: Value) -> bool:
    return isinstance(value, Tensor) or (isinstance(value, Number) and value.origin is Origin.DATA)
