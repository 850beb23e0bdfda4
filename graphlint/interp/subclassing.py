"""Classes that functions make: derived from a class that they are given, put in the place of one that they decorate.

def scaled(cls):                         @scaled
    class Scaled(cls): ...               class Block(nn.Module): ...      # `Block(...)` makes a `Scaled`
    return Scaled
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from graphlint.interp.dispatch import apply
from graphlint.interp.frame import Frame
from graphlint.outline import marks, mentions
from graphlint.project import ClassDecl, FunctionDecl, Outside
from graphlint.values import Arguments, ClassValue, External, Value, members

if TYPE_CHECKING:
    from graphlint.interp.machine import Machine

Base = ClassDecl | Outside


def made(frame: Frame, node: ast.ClassDef) -> ClassDecl:
    """The class of this call: one that closes over other values, or derives from another class, is another class."""
    decl = frame.module.class_(node, node.name)
    bases = _bases(frame, node)
    if bases is not None:
        decl = frame.machine.read.derived.setdefault((node, bases), ClassDecl(node, frame.module, node.name, bases))
    known = frame.machine.scopes.get(decl)
    if known is None or known is frame.scope or known.env == frame.scope.env:
        return decl
    return ClassDecl(node, frame.module, node.name, bases)


def _bases(frame: Frame, node: ast.ClassDef) -> tuple[Base, ...] | None:
    """What a class derives from, if a variable of a function says so; None where names of the file do."""
    if not any(isinstance(each, ast.Name) and _is_variable(frame, each.id) for each in node.bases):
        return None
    return tuple(_base(frame, each) for each in node.bases)


def _is_variable(frame: Frame, name: str) -> bool:
    return name in frame.env or frame.scope.find(name) is not None


def _base(frame: Frame, node: ast.expr) -> Base:
    for each in members(frame.eval(node)):
        if isinstance(each, ClassValue):
            return each.decl
        if isinstance(each, External):
            return Outside(each.name)
    return Outside(ast.unparse(node))


def marked(machine: Machine, decl: ClassDecl) -> Value:
    """The value of a class at the top of a file, as its decorators leave it: most of them give it back."""
    plain = ClassValue(decl)
    if not any(derives(machine, decl, item) for item in marks(decl.node)):
        return plain
    return machine.once((decl, "decorated"), lambda: decorated(machine.toplevel(decl.module), decl), plain)


def decorated(frame: Frame, decl: ClassDecl) -> Value:
    """What the decorators of a class leave in its place: a class derived from it, or itself."""
    value: Value = ClassValue(decl)
    for node in reversed(decl.node.decorator_list):
        if not derives(frame.machine, decl, node):
            continue
        changed = apply(frame, frame.eval(node), Arguments((value,)), node)
        value = changed if isinstance(changed, ClassValue) else value
    return value


def derives(machine: Machine, decl: ClassDecl, node: ast.expr) -> bool:
    """Whether a decorator is a function of the tree that derives a class from what it decorates."""
    found = machine.project.dotted(decl.module, node.func if isinstance(node, ast.Call) else node)
    if not isinstance(found, FunctionDecl):
        return False
    known = machine.read.deriving.get(found)
    if known is None:
        bases = (base for each in _classes(found) for base in each.bases)
        known = any(isinstance(base, ast.Name) and base.id in found.bound for base in bases)
        machine.read.deriving[found] = known
    return known


def _classes(decl: FunctionDecl) -> list[ast.ClassDef]:
    return decl.every(ast.ClassDef) if mentions(decl.node, "class ") else []
