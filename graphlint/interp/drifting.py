"""Numbers that calls move on: variables, entries and attributes of classes that are counted on, lengths of what is filled.

A file is searched for statements of that form first, and only what is asked for is looked up in its tree.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from graphlint.captors import functions
from graphlint.interp.fields import AFTER, is_record
from graphlint.interp.members import methods, own_methods, reach, talk
from graphlint.interp.moving import is_undone
from graphlint.outline import mentions
from graphlint.project import ClassDecl, FunctionDecl, Module
from graphlint.syntax import is_marked, nested, receiver_name, spelled, walk
from graphlint.values import Number, Origin

if TYPE_CHECKING:
    from graphlint.interp.frame import Frame
    from graphlint.interp.machine import Machine

BUILDING = frozenset({"__new__", "__init__", AFTER})
"""What these count stands still once the object is made."""
SHARED = re.compile(r"^[ \t]+(?:global|nonlocal)\b([^#\n]*)", re.MULTILINE)
PART = re.compile(r"^[ \t]*([\w.]+(?:\[[^\[\]\n=#]+\]|\.\w+))[ \t]*(?:[-+*/%^|&]|//|<<|>>)=", re.MULTILINE)
PUTTING = frozenset({"append", "appendleft", "extend", "insert", "pop", "popleft", "add", "remove", "update"})


def drifting(machine: Machine, module: Module, name: str, number: Number) -> Number:
    """A variable's number, as one that other calls move where some function of its file counts it on."""
    return _moving(number) if _is_counted(machine, module, name) else number


def drifting_in_class(machine: Machine, decl: ClassDecl, name: str, number: Number) -> Number:
    """The number of a class, as one that other calls move where its file counts it on: `Step.calls += 1`."""
    if _is_counted(machine, decl.module, f"{decl.name}.{name}") or _counts_itself(machine, decl, name):
        return _moving(number)
    return number


def counts_in_record(machine: Machine, decl: ClassDecl, name: str) -> bool:
    """Whether the file of a record counts on a field of one of its objects: `state.offset += n`."""
    if not is_record(machine.project, decl):
        return False
    holders = (each.rpartition(".") for each in _written(machine, decl.module))
    return any(field == name and holder not in ("", "self", "cls") for holder, _, field in holders)


def drifting_entry(frame: Frame, node: ast.Subscript, number: Number) -> Number:
    """The number of an entry, as one that other calls move where its file counts on the entry of something that lasts."""
    is_still = not frame.recording or number.origin not in (Origin.CONST, Origin.CONFIG)
    if is_still or not _written(frame.machine, frame.module) or not _outlives(frame, node.value):
        return number
    return drifting(frame.machine, frame.module, spelled(node), number)


def _moving(number: Number) -> Number:
    return Number(number.kind, None, Origin.STATE)


def _outlives(frame: Frame, holder: ast.expr) -> bool:
    return isinstance(holder, ast.Attribute) or (isinstance(holder, ast.Name) and holder.id not in frame.env)


def _is_counted(machine: Machine, module: Module, name: str) -> bool:
    """Whether a function of a file, other than a constructor, moves on what it spells like this."""
    if name not in _written(machine, module):
        return False
    known = machine.read.moved.get((module, name))
    if known is None:
        word = name.partition("[")[0].rpartition(".")[2]
        late = [each for each in functions(module) if each[0].name not in BUILDING and mentions(each[0], word)]
        known = machine.read.moved[module, name] = any(
            _counts(module, node, name) and not is_undone(module.function(node, owner, node.name), name)
            for node, owner in late
        )
    return known


def _written(machine: Machine, module: Module) -> frozenset[str]:
    """What a file may count on, by its text, in which comments and other variables of the same name look alike."""
    known = machine.read.moving.get(module)
    if known is None:
        text = module.source.text
        names = {name.strip() for found in SHARED.findall(text) for name in found.split(",")}
        known = frozenset(names.union(each.replace('"', "'") for each in PART.findall(text)))
        machine.read.moving[module] = known
    return known


def _counts(module: Module, function: ast.FunctionDef, name: str) -> bool:
    """Whether a function, or one inside it, moves on a variable that it shares, or part of something it has not made."""
    root = re.split(r"[.\[]", name, maxsplit=1)[0]
    for each in nested([function]):
        if not isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        if root == name and not _shares(each, name):
            continue
        if any(_moves(part, name) for part in nested(each.body)) and (root == name or not _makes(module, each, root)):
            return True
    return False


def _shares(function: ast.FunctionDef | ast.AsyncFunctionDef, name: str) -> bool:
    return any(isinstance(each, (ast.Global, ast.Nonlocal)) and name in each.names for each in nested(function.body))


def _makes(module: Module, function: ast.FunctionDef | ast.AsyncFunctionDef, root: str) -> bool:
    """Whether a name is a variable of the function itself, and no parameter."""
    return root in FunctionDecl(function, module, None, "").bound and root not in _parameters(function)


def _parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    return {each.arg for each in walk(function.args) if isinstance(each, ast.arg)}


def _moves(node: ast.AST, name: str) -> bool:
    """`name += 1`, `name = name + 1`."""
    match node:
        case ast.AugAssign(target=target):
            return spelled(target) == name
        case ast.Assign(targets=[target], value=value):
            return spelled(target) == name and any(_is(each, name) for each in walk(value))
    return False


def _is(node: ast.AST, name: str) -> bool:
    return isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) and spelled(node) == name


def _counts_itself(machine: Machine, decl: ClassDecl, name: str) -> bool:
    """Whether a class method of a class or of its bases does `cls.name += 1`."""
    own = [method for _, method in methods(machine, decl) if is_marked(method, "classmethod") and mentions(method, name)]
    return any(_moves(part, f"{receiver_name(each)}.{name}") for each in own for part in nested(each.body))


def lengthens(machine: Machine, decl: ClassDecl, name: str) -> bool:
    """Whether some method puts something into what an attribute holds, or takes something out, once the object is made."""
    key = (decl, name)
    known = machine.read.filled.get(key)
    if known is None:
        bases = [base for base in machine.project.mro(decl) if isinstance(base, ClassDecl)]
        late = [each for base in bases for each in own_methods(base) if each.name not in BUILDING]
        found = [each for each in late if mentions(each, name) and _puts(machine, each, name)]
        known = bool(found) and not {each.name for each in found} <= _building(machine, decl)
        machine.read.filled[key] = known
    return known


def _puts(machine: Machine, method: ast.FunctionDef, name: str) -> bool:
    known = machine.read.putting.get(method)
    if known is None:
        calls = (each.func for each in walk(method) if isinstance(each, ast.Call))
        held = (func.value for func in calls if isinstance(func, ast.Attribute) and func.attr in PUTTING)
        known = machine.read.putting[method] = frozenset(each.attr for each in held if isinstance(each, ast.Attribute))
    return name in known


def _building(machine: Machine, decl: ClassDecl) -> set[str]:
    """The private methods that only a constructor comes to run: `self._build()`."""
    run = {node.name for start in BUILDING for _, node in reach(machine, decl, start).methods}
    private = {name for name in run if name.startswith("_") and not name.endswith("__")}
    others = [(node.name, talk(machine, node)) for _, node in methods(machine, decl) if node.name not in BUILDING]
    while lost := {name for user, said in others if user not in private for name in (*said.asked, *said.told)} & private:
        private -= lost
    return private
