"""What decorators do to functions: put other code around them, or a cache; most of them change nothing.

What they do to classes is in `subclassing`.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from graphlint.interp.frame import Frame
from graphlint.outline import marks, mentions
from graphlint.project import ClassDecl, FunctionDecl, Module, Outside, Project, Resolved
from graphlint.syntax import walk
from graphlint.values import Arguments, ClassValue, Function, Instance, Value

if TYPE_CHECKING:
    from graphlint.interp.machine import Machine

MEMOISING = (Outside("functools.lru_cache"), Outside("functools.cache"))
KEEPING_OUT = tuple(map(Outside, ("torch.compiler.disable", "torch._dynamo.disable", "torch._dynamo.decorators.disable")))
KERNELS = frozenset({"jit", "prim_func", "macro", "kernel", "autotune", "heuristics"})
"""What the decorators of such functions are called, in these packages and in those that wrap them."""


class Decorators:
    """What was read of functions and their decorators so far, each question once."""

    def __init__(self) -> None:
        self.memoised: dict[FunctionDecl, bool] = {}
        self.caching: dict[FunctionDecl, bool] = {}
        self.wrapping: dict[FunctionDecl, bool] = {}
        self.kept_out: dict[FunctionDecl, bool] = {}


def decorate(frame: Frame, decorators: list[ast.expr], function: Value) -> Value:
    """Apply decorators, innermost first."""
    for node in reversed(decorators):
        if not may_wrap(frame.machine, frame.module, node):
            continue
        decorator = frame.eval(node)
        changed = frame.machine.apply(frame, decorator, Arguments((function,)), node)
        function = changed if _is_callable(changed) else function
    return function


def class_value(machine: Machine, decl: ClassDecl) -> Value:
    """The value of a class at the top of a file."""
    if not marks(decl.node):
        return ClassValue(decl)
    from graphlint.interp.subclassing import marked  # here because most classes have no decorator

    return marked(machine, decl)


def may_wrap(machine: Machine, module: Module, node: ast.expr) -> bool:
    """Whether a decorator can put other code around a function: one that never calls it cannot."""
    found = machine.project.dotted(module, node.func if isinstance(node, ast.Call) else node)
    if not isinstance(found, FunctionDecl):
        return not isinstance(found, Outside)
    wrapping = machine.decorators.wrapping
    known = wrapping.get(found)
    if known is None:
        known = wrapping[found] = _calls_a_parameter(found.node)
    return known


def is_memoised(machine: Machine, decl: FunctionDecl) -> bool:
    """Whether a function is run once for the same arguments: by a cache of `functools` or a decorator around one."""
    memoised = machine.decorators.memoised
    known = memoised.get(decl)
    if known is None:
        known = memoised[decl] = any(name in MEMOISING or _memoises(machine, name) for name in _marks(machine, decl))
    return known


def is_kept_out(machine: Machine, decl: FunctionDecl) -> bool:
    """Whether a decorator says that Dynamo is not to trace a function."""
    kept_out = machine.decorators.kept_out
    known = kept_out.get(decl)
    if known is None:
        known = kept_out[decl] = any(name in KEEPING_OUT for name in _marks(machine, decl))
    return known


def _marks(machine: Machine, decl: FunctionDecl) -> list[Resolved | None]:
    """What the decorators of a function stand for."""
    marks = getattr(decl.node, "decorator_list", [])
    return [machine.project.dotted(decl.module, each.func if isinstance(each, ast.Call) else each) for each in marks]


def _memoises(machine: Machine, found: Resolved | None) -> bool:
    """Whether a decorator of the tree puts a cache of `functools` around what it decorates."""
    if not isinstance(found, FunctionDecl) or not mentions(found.node, "cache"):
        return False
    caching = machine.decorators.caching
    known = caching.get(found)
    if known is None:
        names = (each for each in ast.walk(found.node) if isinstance(each, (ast.Name, ast.Attribute)))
        known = caching[found] = any(machine.project.dotted(found.module, each) in MEMOISING for each in names)
    return known


def _calls_a_parameter(node: ast.AST) -> bool:
    """Whether some function nested in this one calls a parameter of a function around it."""
    for inner in walk(node):
        if isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef)):
            names = {arg.arg for arg in (*inner.args.posonlyargs, *inner.args.args)}
            for nested in walk(inner):
                if nested is not inner and isinstance(nested, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
                    if any(
                        isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in names
                        for call in walk(nested)
                    ):
                        return True
    return False


def _is_callable(value: Value) -> bool:
    return isinstance(value, (Function, Instance, ClassValue))


def is_kernel(project: Project, decl: FunctionDecl) -> bool:
    """Whether a function's statements are no Python that runs on the host: a decorator from outside says so."""
    return any(_is_kernel_mark(project, decl, each) for each in getattr(decl.node, "decorator_list", ()))


def _is_kernel_mark(project: Project, decl: FunctionDecl, node: ast.expr) -> bool:
    node = node.func if isinstance(node, ast.Call) else node
    name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
    if name not in KERNELS:
        return False
    found = project.dotted(decl.module, node)
    return found is None or (isinstance(found, Outside) and not found.name.startswith("torch."))
