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
import re
from collections.abc import Iterable, Iterator, Sequence

from graphlint.interp.frame import Frame
from graphlint.interp.steered import idles
from graphlint.modules import once_a_module
from graphlint.outline import mentions
from graphlint.project import FunctionDecl, Module
from graphlint.syntax import last_called, stands_in, walk
from graphlint.values import Number, Origin, Tensor, Value, members, tensors_in

DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
RUN = frozenset({"forward", "backward", "step"})
"""Methods that others call wherever they stand, as they do those between underscores."""


Table = dict[str, list[ast.Attribute]]


@once_a_module
def _tables(module: Module) -> dict[ast.AST, Table]:
    """The attributes that pieces of a file name, of those that were asked before."""
    return {}


@once_a_module
def _asked(module: Module) -> Table:
    """The places of attributes that were asked before."""
    return {}


def attributes(module: Module, name: str) -> list[ast.Attribute]:
    """The places where a file names an attribute; what does not mention it is not parsed for that."""
    asked = _asked(module)
    if name not in asked:
        asked[name] = list(_named(module, name))
    return asked[name]


def _named(module: Module, name: str) -> Iterator[ast.Attribute]:
    tables = _tables(module)
    for piece in _pieces(module.source.tree.body, name):
        if piece not in tables:
            tables[piece] = _table(piece)
        yield from tables[piece].get(name, ())


def _table(piece: ast.AST) -> Table:
    table: Table = {}
    for each in walk(piece):
        if isinstance(each, ast.Attribute):
            table.setdefault(each.attr, []).append(each)
    return table


def _pieces(body: Iterable[ast.stmt], name: str) -> Iterator[ast.AST]:
    """Functions, methods and what stands beside them, as far as they may mention a name."""
    for each in body:
        if isinstance(each, DEFINITIONS) and not mentions(each, name):
            continue
        if isinstance(each, ast.ClassDef):
            yield from (*each.bases, *each.decorator_list)
            yield from _pieces(each.body, name)
        else:
            yield each


def is_unread(modules: Iterable[Module], name: str, node: ast.AST, decl: FunctionDecl | None = None) -> bool:
    """Whether no code of some files that anybody there calls reads an attribute, but for the node that moves it on.

    What a function only tells people with it is no reading: `if self.calls % 100 == 0: logger.info(...)`.
    """
    told: list[ast.stmt | ast.expr] = [node] if isinstance(node, (ast.stmt, ast.Call)) else []
    if decl is not None:
        told += [each for each in (*decl.every(ast.If), *decl.every(ast.Expr)) if idles(each)]
    running = decl.node if decl is not None else None
    return all(_is_unread(each, name, told, running) for each in modules)


def _is_unread(module: Module, name: str, told: Sequence[ast.stmt | ast.expr], running: ast.AST | None) -> bool:
    loads = [each for each in attributes(module, name) if isinstance(each.ctx, ast.Load)]
    loads = [load for load in loads if not any(stands_in((each,), load) for each in told)]
    # Of the function that moves it on is known that it runs, whoever calls it.
    uncalled = [each for each in _uncalled(module, name) if each is not running] if loads else []
    return all(any(stands_in(each.body, load) for each in uncalled) for load in loads)


def _uncalled(module: Module, name: str) -> list[ast.FunctionDef]:
    """The methods that mention a name and are not mentioned by the file."""
    methods = [each for each in _methods(module.source.tree.body, name) if each.name not in RUN]
    return [each for each in methods if not each.name.startswith("__") and each.name not in _behind_dots(module)]


@once_a_module
def _behind_dots(module: Module) -> frozenset[str]:
    """The names that a file may ask some object for; the text says it without parsing what is of no other interest."""
    return frozenset(re.findall(r"\.\s*([^\W\d]\w*)", module.source.text))


def _methods(body: Iterable[ast.stmt], name: str) -> Iterator[ast.FunctionDef]:
    for owner in body:
        if isinstance(owner, ast.ClassDef) and mentions(owner, name):
            yield from (each for each in owner.body if isinstance(each, ast.FunctionDef) and mentions(each, name))
            yield from _methods(owner.body, name)


ASPECTS = frozenset({"device", "dtype", "ndim", "shape", "dim", "nelement", "numel", "size"})
"""What can be asked of a tensor without its values."""


def is_shown(frame: Frame, homes: Iterable[Module], target: ast.Attribute, node: ast.AST) -> bool:
    """Whether a count is kept for people alone."""
    return is_unread(homes, target.attr, node, frame.summary.decl) and not takes_results(frame)


def takes_results(frame: Frame) -> bool:
    """Whether a function sums up what was computed, as a meter does, which is made to be read by somebody."""
    decl = frame.summary.decl
    names = [name for each in decl.every(ast.AugAssign) for name in _taken(each.value)] if decl is not None else []
    return any(_is_result(each) for name in names if name in frame.env for each in members(frame.env[name]))


ADDING = frozenset({"add", "append", "appendleft", "extend", "insert"})


def is_log(frame: Frame, holder: ast.Attribute, node: ast.Call) -> bool:
    """Whether a call adds what was not computed to a container that nobody reads: `self.shapes.append(x.shape)`."""
    if last_called(node) not in ADDING or not is_unread((frame.module,), holder.attr, node, frame.summary.decl):
        return False
    with frame.untouched():
        values = [frame.eval(each.value if isinstance(each, ast.Starred) else each) for each in node.args]
    return not any(_is_result(each) or any(tensors_in(each)) for value in values for each in members(value))


def _taken(value: ast.expr) -> Iterator[str]:
    """The variables of which an expression takes more than the size or the place."""
    match value:
        case ast.Name(id=name):
            yield name
        case ast.Attribute(attr=attr) if attr in ASPECTS:
            return
        case ast.Call(func=ast.Name(id="len")):
            return
        case _:
            for each in ast.iter_child_nodes(value):
                if isinstance(each, ast.expr):
                    yield from _taken(each)


def _is_result(value: Value) -> bool:
    return isinstance(value, Tensor) or (isinstance(value, Number) and value.origin is Origin.DATA)
