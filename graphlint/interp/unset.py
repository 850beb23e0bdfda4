"""Switches of the environment that nobody has set: the arm that only they open is for whoever debugs or measures.

`if os.environ.get("TRACE", "0") == "1":`, a variable that is bound to such a question, a function that returns one, and
an object that stands for one variable of the environment and was made with its default.  What launchers set is no switch.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from graphlint.interp.frame import Frame
from graphlint.interp.members import methods
from graphlint.interp.memo import BODY, ORELSE, REST, leaves
from graphlint.interp.steered import fails, rest_fails
from graphlint.modules import Assigned
from graphlint.outline import mentions
from graphlint.project import FunctionDecl, Module
from graphlint.syntax import BLOCKS, last, stands_in, walk
from graphlint.values import FALSE, Instance, Nothing

DEEPEST = 4
"""Variables and functions that one switch is looked for through."""

LAUNCHED = re.compile(r"RANK|WORLD|NODE|MASTER|SLURM|OMPI|VISIBLE|DEVICE|PORT|ADDR|HOST")
"""Words in the names of variables that launchers and schedulers set."""

UNKNOWN = object()
REBINDING = r"\bglobal\b[^\n#]*\b{name}\b|^[ \t]*{name}\s*[-+|&^]="
CONVERTING = frozenset({"bool", "int", "str", "lower", "strip", "upper"})


def shut_part(frame: Frame, node: ast.If) -> str:
    """The part of an `if` that fails, or that nothing opens where no variable of the environment is set; "" for none."""
    known = frame.machine.shut.get(node)
    if known is None:
        known = frame.machine.shut[node] = _shut_part(frame, node)
    return known


def _shut_part(frame: Frame, node: ast.If) -> str:
    if fails(frame.decl, node.body, node.test, True):
        return BODY
    if fails(frame.decl, node.orelse, node.test, False):
        return ORELSE
    if leaves(node.body) and rest_fails(frame.decl, node):
        return REST
    search = _Search(frame)
    answer = search.answer(frame.module, node.test, DEEPEST)
    if not search.found or answer is UNKNOWN:
        return ""
    if not answer:
        return BODY
    return ORELSE if node.orelse else REST if leaves(node.body) else ""


class _Search:
    """A look for the switches that a condition rests on."""

    __slots__ = ("decl", "found", "frame")

    def __init__(self, frame: Frame) -> None:
        self.frame = frame
        self.decl = frame.decl
        self.found = False

    def answer(self, module: Module, node: ast.expr, depth: int) -> object:
        match node:
            case ast.Constant(value=value):
                return value
            case ast.UnaryOp(op=ast.Not(), operand=inner):
                held = self.answer(module, inner, depth)
                return UNKNOWN if held is UNKNOWN else not held
            case ast.BoolOp(op=op, values=parts):
                return _joined(isinstance(op, ast.Or), [self.answer(module, each, depth) for each in parts])
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                return self._compared(module, left, op, right, depth)
            case ast.Call():
                return self._called(module, node, depth)
            case ast.Name() | ast.Attribute() if depth:
                return self._bound(module, node, depth - 1)
        return UNKNOWN

    def _compared(self, module: Module, left: ast.expr, op: ast.cmpop, right: ast.expr, depth: int) -> object:
        if isinstance(op, (ast.In, ast.NotIn)) and isinstance(left, ast.Constant) and _is_environment(right):
            self.found = self.found or _is_switch(left)
            return isinstance(op, ast.NotIn) if _is_switch(left) else UNKNOWN
        one = self.answer(module, left, depth)
        if one is UNKNOWN:
            return UNKNOWN
        if isinstance(op, (ast.In, ast.NotIn)) and isinstance(right, (ast.Tuple, ast.List, ast.Set)):
            among = [self.answer(module, each, depth) for each in right.elts]
            return UNKNOWN if UNKNOWN in among else (one in among) is isinstance(op, ast.In)
        other = self.answer(module, right, depth)
        if other is UNKNOWN or not isinstance(op, (ast.Eq, ast.Is, ast.NotEq, ast.IsNot)):
            return UNKNOWN
        return (one == other) is isinstance(op, (ast.Eq, ast.Is))

    def _called(self, module: Module, node: ast.Call, depth: int) -> object:
        if _asks_environment(node.func):
            key, default = _argument(node, 0, "key"), _argument(node, 1, "default")
            if key is None or not _is_switch(key) or any(each.arg is None for each in node.keywords):
                return UNKNOWN
            self.found = True
            return None if default is None else self.answer(module, default, depth)
        match node:
            case ast.Call(func=ast.Name(id=name), args=[inner]) if name in CONVERTING:
                return _converted(name, self.answer(module, inner, depth))
            case ast.Call(func=ast.Attribute(value=inner, attr=name), args=[]) if name in CONVERTING:
                return _converted(name, self.answer(module, inner, depth))
            case ast.Call(func=func, args=[], keywords=[]) if depth:
                return self._returned(module, func, depth - 1)
        return UNKNOWN

    def _returned(self, module: Module, func: ast.expr, depth: int) -> object:
        """What a function that only asks gives back, or an object that was made with the default of one variable."""
        decl = self.frame.machine.project.dotted(module, func)
        if isinstance(decl, FunctionDecl):
            body = [each for each in decl.node.body if not _is_docstring(each)] if isinstance(decl.node.body, list) else []
            only = body[0] if len(body) == 1 else None
            given = only.value if isinstance(only, ast.Return) else None
            return UNKNOWN if given is None else self._elsewhere(decl.module, decl, given, depth)
        if not isinstance(func, ast.Attribute) or not last(func.value).isupper():
            return UNKNOWN
        made = self.frame.machine.toplevel(module).eval(func.value)
        given_first = made.arguments.positional[:1] if isinstance(made, Instance) and made.arguments is not None else ()
        if not isinstance(made, Instance) or not given_first or not self._is_of_environment(made):
            return UNKNOWN
        self.found = True
        return False if given_first[0] is FALSE else None if isinstance(given_first[0], Nothing) else UNKNOWN

    def _is_of_environment(self, made: Instance) -> bool:
        named = (each for _, each in methods(self.frame.machine, made.decl) if mentions(each, "env"))
        return any(isinstance(part, ast.Call) and _asks_environment(part.func) for each in named for part in walk(each))

    def _bound(self, module: Module, node: ast.Name | ast.Attribute, depth: int) -> object:
        root = node
        while isinstance(root, ast.Attribute):
            root = root.value  # type: ignore[assignment]
        # Nearly all that conditions ask for is a parameter, or belongs to one.
        if not isinstance(root, ast.Name) or (self.decl is not None and root.id in self.decl.signature.order):
            return UNKNOWN
        if self.decl is not None and _is_own(self.decl, root.id):
            return self._local(self.decl, node, depth) if isinstance(node, ast.Name) else UNKNOWN
        found = self.frame.machine.project.dotted(module, node)
        if not isinstance(found, Assigned) or len(found.values) != 1:
            return UNKNOWN
        before = self.found
        held = self._elsewhere(found.module, None, found.values[0], depth)
        if held is UNKNOWN or not (_is_rebound(found) or _is_of_outer(self.decl, root.id)):
            return held
        self.found = before
        return UNKNOWN

    def _elsewhere(self, module: Module, decl: FunctionDecl | None, node: ast.expr, depth: int) -> object:
        """What an expression answers among the variables of a function, or of a file."""
        outer, self.decl = self.decl, decl
        held = self.answer(module, node, depth)
        self.decl = outer
        return held

    def _local(self, decl: FunctionDecl, node: ast.Name, depth: int) -> object:
        """A variable of the function that is bound once."""
        stores = [each for each in decl.every(ast.Name) if each.id == node.id and not isinstance(each.ctx, ast.Load)]
        given = [each.value for each in decl.every(ast.Assign) if stores and stores[0] in each.targets]
        if len(stores) != 1 or not given or not _is_of(decl, stores[0]):
            return UNKNOWN
        return self.answer(decl.module, given[0], depth)


def _is_own(decl: FunctionDecl, name: str) -> bool:
    """Whether a function has a variable of that name; what stands in the text decides, not what was run before."""
    shared: list[ast.Global | ast.Nonlocal] = [*decl.every(ast.Global), *decl.every(ast.Nonlocal)]
    return name in decl.bound and not any(name in each.names for each in shared)


def _is_of(decl: FunctionDecl, node: ast.AST) -> bool:
    """Whether a node of a function stands in none of the functions inside."""
    inner = (*decl.every(ast.FunctionDef), *decl.every(ast.AsyncFunctionDef))
    return not any(stands_in((each,), node) for each in inner if each is not decl.node)


def _is_of_outer(decl: FunctionDecl | None, name: str) -> bool:
    """Whether a function around this one has a variable of that name."""
    around = _around(decl.module.source.tree.body, decl.node) if decl is not None else ()
    return decl is not None and any(name in FunctionDecl(each, decl.module, None, each.name).bound for each in around)


def _around(body: Sequence[ast.AST], node: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """The functions among some statements in which a node stands; those that it does not stand in are not parsed."""
    line = getattr(node, "lineno", 0)
    for each in [part for part in body if getattr(part, "lineno", 0) <= line][-1:]:
        if each is node:
            return
        if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield each
        for field in BLOCKS[type(each)]:
            yield from _around(getattr(each, field), node)


def _is_rebound(variable: Assigned) -> bool:
    """Whether a function of its file binds a variable anew, or a statement adds to it."""
    symbols = variable.module.symbols.items()
    names = [name for name, held in symbols if any(getattr(each, "value", None) is variable.values[0] for each in held)]
    text = variable.module.source.text
    return any(re.search(REBINDING.format(name=name), text, re.MULTILINE) for name in names)


def _joined(is_or: bool, parts: list[object]) -> object:
    """What an `or` or `and` gives whose parts are these; one that settles it is enough."""
    known = [each for each in parts if each is not UNKNOWN]
    settling = [each for each in known if bool(each) is is_or]
    if settling:
        return settling[0]
    return known[-1] if len(known) == len(parts) else UNKNOWN


def _converted(name: str, held: object) -> object:
    """What a conversion makes of what is there without the environment."""
    match name, held:
        case "lower" | "strip" | "upper", str():
            return str.__dict__[name](held)
        case "bool", bool() | int() | str() | None:
            return bool(held)
        case "int", bool() | int():
            return int(held)
        case "int", str() if held.isdecimal():
            return int(held)
        case "str", str():
            return held
    return UNKNOWN


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _is_environment(node: ast.expr) -> bool:
    return last(node) == "environ"


def _argument(call: ast.Call, position: int, name: str) -> ast.expr | None:
    named = (word.value for word in call.keywords if word.arg == name)
    return call.args[position] if position < len(call.args) else next(named, None)


def _asks_environment(func: ast.expr) -> bool:
    """Whether a function is `os.getenv` or `os.environ.get`."""
    if last(func) == "getenv":
        return True
    return isinstance(func, ast.Attribute) and func.attr == "get" and _is_environment(func.value)


def _is_switch(name: ast.expr) -> bool:
    return isinstance(name, ast.Constant) and isinstance(name.value, str) and LAUNCHED.search(name.value.upper()) is None
