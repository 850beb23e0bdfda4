"""Walks over statements only: expressions are nine tenths of a tree, and many questions need none of them."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any

BODIES = ("body", "orelse", "handlers", "finalbody", "cases")
TRIES: tuple[type[ast.Try], ...] = (ast.Try, *([ast.TryStar] if hasattr(ast, "TryStar") else []))
"""`try` with `except`, and from Python 3.11 on with `except*`."""

WORDS = frozenset({
    "arg", "asname", "attr", "conversion", "ctx", "id", "is_async", "kind", "level", "module", "name", "op", "ops", "rest",
    "simple", "str", "tag", "type_comment", "type_ignores",
})  # fmt: skip
"""Fields without code in them; `name` has some in one kind only."""


class Below(dict[type[ast.AST], tuple[str, ...]]):
    """The fields of each kind of node that may hold nodes with something to tell."""

    def __missing__(self, kind: type[ast.AST]) -> tuple[str, ...]:
        if issubclass(kind, (ast.Constant, ast.MatchSingleton)):
            found: tuple[str, ...] = ()
        else:
            words = WORDS - {"name"} if kind.__name__ == "TypeAlias" else WORDS
            found = tuple(name for name in kind._fields if name not in words)
        self[kind] = found
        return found


class Blocks(dict[type[ast.AST], tuple[str, ...]]):
    """The fields of each kind of node that may hold statements."""

    def __missing__(self, kind: type[ast.AST]) -> tuple[str, ...]:
        found = self[kind] = tuple(name for name in BODIES if name in kind._fields)
        return found


BELOW, BLOCKS = Below(), Blocks()


def nested(body: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """Every statement, handler and case below some statements, those of nested functions and classes included."""
    for node in body:
        yield node
        for field in BLOCKS[type(node)]:
            inner = getattr(node, field, None)
            if type(inner) is list:
                yield from nested(inner)


def walk(node: ast.AST) -> Iterator[ast.AST]:
    """A node and all below it but operators, in no order that means anything: twice as fast as `ast.walk`."""
    waiting = [node]
    while waiting:
        here = waiting.pop()
        yield here
        for name in BELOW[type(here)]:
            part = getattr(here, name, None)
            if type(part) is list:
                waiting += [each for each in part if isinstance(each, ast.AST)]
            elif part is not None:
                waiting.append(part)


def spelled(node: ast.expr) -> str:
    """The text of an expression as `ast.unparse` gives it, which takes long over a plain chain of names."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and isinstance(node.value, (ast.Name, ast.Attribute)):
        return f"{spelled(node.value)}.{node.attr}"
    return ast.unparse(node)


def argument(call: ast.Call, names: Sequence[str], name: str) -> ast.expr | None:
    """What a call gives for a parameter, where `names` take its positions; None if nothing, or behind a star."""
    named = next((word.value for word in call.keywords if word.arg == name), None)
    place = names.index(name) if name in names else len(call.args)
    if named is not None or place >= len(call.args):
        return named
    before = call.args[: place + 1]
    return None if any(isinstance(each, ast.Starred) for each in before) else before[-1]


def permuted(node: ast.AST) -> list[ast.expr]:
    """What changes places by one statement: `a, b` of `a, b = b, a`; nothing of any other."""
    match node:
        case ast.Assign(targets=[ast.Tuple(elts=parts)], value=ast.Tuple(elts=given)):
            first, then = list(map(spelled, parts)), list(map(spelled, given))
            return parts if first != then and sorted(first) == sorted(then) else []
    return []


def stands_in(block: Sequence[ast.stmt | ast.expr], node: ast.AST) -> bool:
    """Whether a node of the same file stands in some statements that follow each other, or is one of them."""
    line, column = getattr(node, "lineno", 0), getattr(node, "col_offset", 0)
    if not block or (block[0].lineno, block[0].col_offset) > (line, column):
        return False
    last = block[-1]
    return (last.end_lineno or 0, last.end_col_offset or 0) >= (node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]  # it has the first two


def is_marked(function: ast.FunctionDef | ast.AsyncFunctionDef, name: str) -> bool:
    """Whether a function stands under a decorator that is a plain name: `@staticmethod`."""
    return any(isinstance(mark, ast.Name) and mark.id == name for mark in function.decorator_list)


def receiver_name(method: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    """What a method calls its object or class, which is its first parameter; empty for a static method."""
    first = [*method.args.posonlyargs, *method.args.args][:1]
    return first[0].arg if first and not is_marked(method, "staticmethod") else ""


def receiver_in(tree: ast.AST, function: ast.AST) -> str:
    """The same for any function of a file: empty for one that stands in no class."""
    for node in walk(tree):
        if isinstance(node, ast.ClassDef) and function in node.body:
            assert isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef))
            return receiver_name(function)
    return ""


def stored(node: ast.AST) -> Iterator[ast.expr]:
    """What a statement itself binds: names, attributes and subscripts, tuples taken apart."""
    match node:
        case ast.Assign(targets=targets):
            found: list[ast.expr] = targets
        case ast.AnnAssign(value=None):
            found = []  # it only says of what type something will be
        case ast.AugAssign(target=target) | ast.AnnAssign(target=target) | ast.For(target=target):
            found = [target]
        case ast.AsyncFor(target=target):
            found = [target]
        case ast.With(items=items) | ast.AsyncWith(items=items):
            found = [item.optional_vars for item in items if item.optional_vars is not None]
        case _:
            found = []
    for each in found:
        yield from _parts(each)


def _parts(target: ast.expr) -> Iterator[ast.expr]:
    if isinstance(target, (ast.Tuple, ast.List)):
        for each in target.elts:
            yield from _parts(each)
    elif isinstance(target, ast.Starred):
        yield from _parts(target.value)
    else:
        yield target


def refuses(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether it only raises `NotImplementedError`, or is abstract and empty: a derived class's is called in its place."""
    *before, end = function.body
    if not all(map(_does_nothing, before)):
        return False
    if isinstance(end, ast.Raise):
        return "NotImplementedError" in ast.dump(end)
    return _does_nothing(end) and any(last(mark) == "abstractmethod" for mark in function.decorator_list)


def _does_nothing(node: ast.stmt) -> bool:
    return isinstance(node, ast.Pass) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))


COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
"""What comparisons by order or equality compute."""


def against_none(node: ast.AST) -> bool | None:
    """Whether `x is None` is asked (True) or `x is not None` (False); None for any other question."""
    match node:
        case ast.Compare(ops=[ast.Is() | ast.IsNot() as op], comparators=[ast.Constant(value=None)]):
            return isinstance(op, ast.Is)
    return None


def is_tail(node: ast.AST) -> bool:
    """Whether the beginning of something is left out: `x[1:]`, `x[:, -n:]`."""
    if not isinstance(node, ast.Subscript):
        return False
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    lower = (each.lower for each in parts if isinstance(each, ast.Slice))
    return any(each is not None and not (isinstance(each, ast.Constant) and each.value == 0) for each in lower)


def last(node: ast.AST) -> str:
    """The last word of a plain or dotted name; "" for anything else."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def last_called(node: ast.AST) -> str:
    """The same, of a call the name of what it calls."""
    return last(node.func if isinstance(node, ast.Call) else node)


def counted(node: ast.expr | None) -> Iterator[str]:
    """The names in the arithmetic of a number: `-n`, `j - i`."""
    match node:
        case ast.Name(id=name):
            yield name
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            yield from counted(inner)
        case ast.BinOp(left=left, right=right):
            yield from counted(left)
            yield from counted(right)


def is_size(node: ast.expr) -> bool:
    """`x.shape[-1]`, `x.size(0)`, `len(x)`: what is compared with one is a number."""
    match node:
        case ast.Subscript(value=ast.Attribute(attr="shape")) | ast.Call(func=ast.Attribute(attr="size"), args=[_]):
            return True
        case ast.Call(func=ast.Name(id="len")) | ast.Attribute(attr="ndim"):
            return True
    return False
