"""What stands in a file: its functions, classes and names, each one object.

A `Module` is one parsed file under its dotted name; nothing here looks into another file.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from graphlint.platforms import answered
from graphlint.record import NamedTuple
from graphlint.source import Source
from graphlint.syntax import TRIES, against_none, walk

N = TypeVar("N", bound=ast.AST)
T = TypeVar("T")
FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


class Signature(NamedTuple):
    """The parameters of a function: those that can be given by position, all names in order, and the defaults."""

    named: list[ast.arg]
    order: list[str]
    defaults: dict[str, ast.expr]


READ_ALL = frozenset({"locals", "vars", "dir", "eval", "exec"})
"""Functions of Python that get hold of every variable without its name."""


NAMED: tuple[type[Any], ...] = (
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
    ast.ExceptHandler,
    ast.MatchAs,
    ast.MatchStar,
)
"""The nodes that bind their `name`, if they have one."""


class FunctionDecl:
    """A function, method or lambda of the tree; one object a node."""

    __slots__ = ("_bound", "_kinds", "_signature", "_unread", "module", "name", "node", "owner")

    def __init__(self, node: FunctionNode, module: Module, owner: ClassDecl | None, name: str) -> None:
        self.node = node
        self.module = module
        self.owner = owner
        self.name = name
        self._signature: Signature | None = None
        self._bound: frozenset[str] | None = None
        self._kinds: dict[type[ast.AST], list[Any]] | None = None
        self._unread: tuple[str, ...] | None = None

    def __repr__(self) -> str:
        return f"<{self.module.name}.{self.name}>"

    @property
    def signature(self) -> Signature:
        if self._signature is None:
            self._signature = _signature(self.node.args)
        return self._signature

    @property
    def unread(self) -> tuple[str, ...]:
        """The parameters that nothing in the function asks for, a method's own object apart: what they hold is all one."""
        if self._unread is None:
            read = {each.id for each in self.every(ast.Name)}
            others = self.signature.order[self.owner is not None :]
            self._unread = () if read & READ_ALL else tuple(name for name in others if name not in read)
        return self._unread

    @property
    def bound(self) -> frozenset[str]:
        """The names that the function binds in any way, its parameters and what functions inside bind among them."""
        if self._bound is None:
            found: set[str | None] = {each.id for each in self.every(ast.Name) if isinstance(each.ctx, ast.Store)}
            found.update(each.arg for each in self.every(ast.arg))
            found.update(each.name for kind in NAMED for each in self.every(kind))
            found.update(each.rest for each in self.every(ast.MatchMapping))
            found.update(each.asname or each.name.partition(".")[0] for each in self.every(ast.alias))
            self._bound = frozenset(name for name in found if name)
        return self._bound

    @property
    def variables(self) -> tuple[str, ...]:
        """Its parameters in their order, and its other variables behind them."""
        order = self.signature.order
        return (*order, *sorted(self.bound.difference(order)))

    def every(self, kind: type[N]) -> list[N]:
        """All nodes of one kind below the function's own, in no order that means anything."""
        if self._kinds is None:
            self._kinds = {}
            for node in walk(self.node):
                self._kinds.setdefault(type(node), []).append(node)
        return self._kinds.get(kind, [])


def _signature(spec: ast.arguments) -> Signature:
    named = [*spec.posonlyargs, *spec.args]
    spread = [arg for arg in (spec.vararg, spec.kwarg) if arg is not None]
    defaults = dict(zip((arg.arg for arg in named[len(named) - len(spec.defaults) :]), spec.defaults))
    defaults.update({arg.arg: node for arg, node in zip(spec.kwonlyargs, spec.kw_defaults) if node is not None})
    return Signature(named, [arg.arg for arg in (*named, *spec.kwonlyargs, *spread)], defaults)


class ClassDecl:
    """A class of the tree; one object a node, but where calls of a function make classes that close over other values.

    `bases` are those that a function was given; None where the file names them.
    """

    __slots__ = ("_members", "_mro", "bases", "found", "module", "name", "node")

    def __init__(
        self, node: ast.ClassDef, module: Module, name: str, bases: tuple[ClassDecl | Outside, ...] | None = None
    ) -> None:
        self.node = node
        self.bases = bases
        self.module = module
        self.name = name
        self._members: dict[str, list[Symbol]] | None = None
        self._mro: tuple[ClassDecl | Outside, ...] | None = None
        self.found: dict[tuple[str, ClassDecl | None], tuple[ClassDecl, list[Symbol]] | None] = {}

    def __repr__(self) -> str:
        return f"<{self.module.name}.{self.name}>"

    @property
    def members(self) -> dict[str, list[Symbol]]:
        """The names bound in the class body."""
        if self._members is None:
            self._members = {}
            for name, symbol in _bindings(self.node.body, set()):
                self._members.setdefault(name, []).append(symbol)
        return self._members


class Imported(NamedTuple):
    """`import module` or `from module import name`; `module` is absolute."""

    module: str
    name: str | None


class Assigned(NamedTuple):
    """A module or class variable: every expression that is assigned to it, with its annotation if it has one.

    `before` has its name and what had that name before, if the variable is made of it.
    """

    module: Module
    values: tuple[ast.expr, ...]
    annotation: ast.expr | None
    before: tuple[str, ClassDecl | FunctionDecl | Module | Assigned | Outside] | None = None


class Outside(NamedTuple):
    """A dotted name that the tree does not define."""

    name: str


Symbol = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom | ast.Assign | ast.AnnAssign


class Module:
    """One parsed file under its dotted name."""

    __slots__ = ("__weakref__", "_symbols", "answers", "classes", "functions", "name", "package", "root", "source", "stars")

    def __init__(self, name: str, package: str, source: Source, root: Path) -> None:
        self.name = name
        self.root = root
        self.package = package
        self.source = source
        self.functions: dict[ast.AST, FunctionDecl] = {}
        self.classes: dict[ast.AST, ClassDecl] = {}
        self.stars: list[str] = []
        self.answers: dict[Any, Any] = {}
        self._symbols: dict[str, list[Symbol]] | None = None

    @property
    def symbols(self) -> dict[str, list[Symbol]]:
        """The names bound at the top of the module, also below `if`, `try` and `with`."""
        if self._symbols is None:
            self._symbols = {}
            for name, symbol in _bindings(self.source.tree.body, set()):
                if name == "*" and isinstance(symbol, ast.ImportFrom):
                    self.stars.append(self.absolute(symbol))
                else:
                    self._symbols.setdefault(name, []).append(symbol)
        return self._symbols

    def function(self, node: FunctionNode, owner: ClassDecl | None, name: str) -> FunctionDecl:
        """The function of a node, the same object whenever it is asked for."""
        found = self.functions.get(node)
        if found is None:
            found = self.functions[node] = FunctionDecl(node, self, owner, name)
        return found

    def class_(self, node: ast.ClassDef, name: str) -> ClassDecl:
        """The class of a node, the same object whenever it is asked for."""
        found = self.classes.get(node)
        if found is None:
            found = self.classes[node] = ClassDecl(node, self, name)
        return found

    def absolute(self, node: ast.ImportFrom) -> str:
        """The absolute dotted name of the module an import statement names."""
        if not node.level:
            return node.module or ""
        parts = self.package.split(".") if self.package else []
        kept = parts[: len(parts) - node.level + 1]
        return ".".join([*kept, node.module] if node.module else kept)


def once_a_module(ask: Callable[[Module], T]) -> Callable[[Module], T]:
    """A question about a module whose answer the module keeps, and which so is forgotten with it."""

    @functools.wraps(ask)
    def asked(module: Module) -> T:
        known: dict[Callable[[Module], T], T] = module.answers
        if ask not in known:
            known[ask] = ask(module)
        return known[ask]

    return asked


def _bindings(body: Iterable[ast.stmt], there: set[str]) -> Iterator[tuple[str, Symbol]]:
    """(name, statement) of every binding in a body, in order; `there` gathers what says that torch is there."""
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name, node
        elif isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.asname or alias.name.split(".")[0], node
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                yield alias.asname or alias.name, node
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                for leaf in _names(target):
                    yield leaf, node
        elif isinstance(node, ast.AnnAssign):
            for leaf in _names(node.target):
                yield leaf, node
        else:
            yield from _bindings_below(node, there)


def _bindings_below(node: ast.stmt, there: set[str]) -> Iterator[tuple[str, Symbol]]:
    if isinstance(node, ast.If):
        # `if is_cpu(): kernel = kernel_on_the_host` binds nothing where graphs are captured.
        answer = answered(node.test)
        answer = _is_there(node.test, there) if answer is None and there else answer
        yield from _bindings(node.body, there) if answer is not False else ()
        yield from _bindings(node.orelse, there) if answer is not True else ()
    elif isinstance(node, (ast.For, ast.While)):
        yield from _bindings(node.body, there)
        yield from _bindings(node.orelse, there)
    elif isinstance(node, (ast.With, ast.AsyncWith)):
        yield from _bindings(node.body, there)
    elif isinstance(node, TRIES):
        tried, after = list(_bindings(node.body, there)), list(_bindings(node.orelse, there))
        yield from tried
        # What stands in for torch where its import fails, `torch = None`, is not there where graphs are captured.
        found = [*tried, *after] if any(map(_imports_torch, node.body)) else []
        bound = {name for name, _ in found}
        there.update(name for name, symbol in found if _tells(symbol))
        for handler in node.handlers:
            yield from (each for each in _bindings(handler.body, there) if each[0] not in bound)
        yield from after
        yield from _bindings(node.finalbody, there)


def _imports_torch(node: ast.stmt) -> bool:
    names = [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []
    names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
    return any(name.partition(".")[0] == "torch" for name in names)


def _tells(symbol: Symbol) -> bool:
    """Whether a name that is bound so is true: what is imported of torch, and `HAS_TORCH = True`."""
    is_flag = isinstance(symbol, ast.Assign) and isinstance(symbol.value, ast.Constant) and symbol.value.value is True
    return is_flag or _imports_torch(symbol)


def _is_there(test: ast.expr, there: set[str]) -> bool | None:
    """How a condition comes out that asks for torch: `if HAS_TORCH:`, `if nn is not None:`; None for any other."""
    match test:
        case ast.Name(id=name) if name in there:
            return True
        case ast.UnaryOp(op=ast.Not(), operand=ast.Name(id=name)) if name in there:
            return False
        case ast.Compare(left=ast.Name(id=name)) if name in there and (absent := against_none(test)) is not None:
            return not absent
    return None


def _names(target: ast.expr) -> Iterator[str]:
    if isinstance(target, ast.Name):
        yield target.id
    elif isinstance(target, (ast.Tuple, ast.List)):
        for item in target.elts:
            yield from _names(item)
