"""Branches around what happens at a site: those that exclude each other, are taken once, or only fill what is missing."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from graphlint.modules import once_a_module
from graphlint.project import Module
from graphlint.site.acts import Act, outward
from graphlint.site.things import Kind
from graphlint.syntax import TRIES, against_none, last, spelled, stands_in, stored, walk


@once_a_module
def branches(module: Module) -> list[ast.If]:
    """Every `if` of a file: of many acts it is asked under which of them they stand."""
    return [each for each in walk(module.source.tree) if isinstance(each, ast.If)]


def excludes(one: Act, other: Act) -> bool:
    """Whether two acts stand on the two sides of an `if self.flag:`, of which an object takes one for good."""
    return any(
        module is there and _parted(module, here, over) for module, here in _places(one) for there, over in _places(other)
    )


def apart(one: Act, other: Act) -> bool:
    """Whether two acts of one function stand on the two sides of an `if`: what does the one passes the other by."""
    return one.frame.function == other.frame.function and any(
        _parts(one.frame.module, each, one.node, other.node) or _parts(one.frame.module, each, other.node, one.node)
        for each in branches(one.frame.module)
    )


def _places(act: Act) -> Iterator[tuple[Module, ast.AST]]:
    """Where an act stands, and the calls that led there."""
    node, frame = act.node, act.frame
    yield frame.module, node
    while frame.caller is not None and frame.node is not None:
        node, frame = frame.node, frame.caller
        yield frame.module, node


def _parted(module: Module, one: ast.AST, other: ast.AST) -> bool:
    return one is not other and any(
        _is_flag(each.test) and (_parts(module, each, one, other) or _parts(module, each, other, one))
        for each in branches(module)
    )


def _is_flag(test: ast.expr) -> bool:
    """What an object says for good: a flag, or a count of its calls held against a limit."""
    inner = test.operand if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) else test
    if isinstance(inner, ast.Compare) and isinstance(inner.ops[0], (ast.Lt, ast.LtE, ast.Gt, ast.GtE)):
        sides = (inner.left, *inner.comparators)
        return isinstance(inner.left, ast.Attribute) and all(
            isinstance(each, (ast.Attribute, ast.Constant)) for each in sides
        )
    return isinstance(inner, ast.Attribute)


def _parts(module: Module, branch: ast.If, one: ast.AST, other: ast.AST) -> bool:
    """Whether what does the one passes the other by: on the other side, or behind a body that leaves the function."""
    if not stands_in(branch.body, one):
        return False
    return stands_in(branch.orelse, other) or stands_in(_behind(module).get(branch, ()), other)


@once_a_module
def _behind(module: Module) -> dict[ast.If, list[ast.stmt]]:
    """What a function does behind an `if` whose body leaves it."""
    functions = (each for each in walk(module.source.tree) if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef)))
    return {
        branch: function.body[place + 1 :]
        for function in functions
        for place, branch in enumerate(function.body)
        if isinstance(branch, ast.If) and isinstance(branch.body[-1], (ast.Return, ast.Raise))
    }


def happens_once(act: Act) -> bool:
    """Whether an act stands under an `if` about a flag that the same branch turns over: the next round passes it by."""
    return any(stands_in(each.body, act.node) and _turned_over(each.test, each.body) for each in branches(act.frame.module))


def _turned_over(test: ast.expr, body: list[ast.stmt]) -> bool:
    """Whether a condition that holds is sure to fail behind some statements; what only counts down may hold again."""
    match test:
        case ast.BoolOp(op=ast.And(), values=parts):
            return any(_turned_over(part, body) for part in parts)
        case ast.Compare(left=flag) if against_none(test):
            return any(not isinstance(value, ast.Constant) or value.value is not None for value in _assigned(flag, body))
        case ast.UnaryOp(op=ast.Not(), operand=flag):
            return any(isinstance(value, ast.Constant) and bool(value.value) for value in _assigned(flag, body))
    return any(isinstance(value, ast.Constant) and not value.value for value in _assigned(test, body))


def _assigned(flag: ast.expr, body: list[ast.stmt]) -> Iterator[ast.expr]:
    """What some statements assign to a name or an attribute, further conditions and loops apart."""
    if not isinstance(flag, (ast.Name, ast.Attribute)):
        return
    for each in body:
        if isinstance(each, (ast.With, TRIES)):
            yield from _assigned(flag, each.body)
        elif isinstance(each, (ast.Assign, ast.AnnAssign)) and each.value is not None:
            if any(spelled(to) == spelled(flag) for to in stored(each)):
                yield each.value


def _set(body: list[ast.stmt]) -> set[str]:
    statements = [each for part in body for each in walk(part) if isinstance(each, (ast.Assign, ast.AnnAssign))]
    return {spelled(to) for each in statements for to in stored(each) if isinstance(to, ast.Attribute)}


def fills(act: Act) -> bool:
    """Whether an act binds an attribute under an `if` that asks whether it is None still: what is there stays."""
    bound = _set([act.node]) if isinstance(act.node, ast.stmt) else set()
    return any(
        stands_in(each.body, act.node) and _lacking(each.test) & bound
        for each in (branches(act.frame.module) if bound else ())
    )


def _lacking(test: ast.expr) -> set[str]:
    """What must be None for a condition to hold."""
    match test:
        case ast.Compare(left=left) if against_none(test):
            return {spelled(left)}
        case ast.BoolOp(op=ast.And(), values=parts):
            return {name for part in parts for name in _lacking(part)}
    return set()


def regrows(act: Act) -> bool:
    """Whether an act makes a tensor anew under an `if` that asks for its size: `if n > len(self.rows): self.rows = ...`.

    Where the same statements drop something else as well, that may be the graphs, to be captured again.
    """
    bound = _set([act.node]) if isinstance(act.node, ast.stmt) and act.thing.kind is Kind.TENSOR else set()
    return any(
        stands_in(each.body, act.node)
        and any(is_size_of(part, bound) for part in walk(each.test))
        and not any(_drops(part) for part in each.body)
        for each in (branches(act.frame.module) if bound else ())
    )


def moves_on(act: Act) -> bool:
    """Whether an act sets a number or a flag now and then, under conditions about other things.

    A condition about the number itself may keep it as it is, and one under which something is dropped as well may drop
    the graphs, to be captured again.
    """
    key = act.slot.key if act.slot is not None else ""
    frames: list[tuple[ast.AST | None, ast.AST]] = [(each.frame.body, each.node) for each in outward(act)]
    around = [
        each
        for body, node in frames
        for each in (walk(body) if body is not None else ())
        if isinstance(each, ast.If) and (stands_in(each.body, node) or stands_in(each.orelse, node))
    ]
    return bool(around) and not any(_speaks_of(each.test, key) or lets_go(each) for each in around)


def _speaks_of(test: ast.expr, key: str) -> bool:
    return any(last(part) == key for part in walk(test) if isinstance(part, (ast.Name, ast.Attribute)))


def lets_go(branch: ast.If) -> bool:
    """Whether a branch drops something, or captures."""
    for part in walk(branch):
        match part:
            case ast.Assign(value=ast.Constant(value=None) | ast.Dict()) | ast.Delete():
                return True
            case ast.Call(func=ast.Attribute(attr=name)) if name in DROPPING or "capture" in name or "graph" in name:
                return True
    return False


DROPPING = frozenset({"clear", "reset", "pop"})
SIZES = frozenset({"size", "numel", "nelement", "shape"})


def is_size_of(node: ast.AST, names: set[str]) -> bool:
    """Whether an expression is the size of something that is spelled so: `self.rows.shape`, `len(rows)`."""
    match node:
        case ast.Attribute(value=held, attr=attr) if attr in SIZES:
            return spelled(held) in names
        case ast.Call(func=ast.Name(id="len"), args=[held]):
            return spelled(held) in names
    return False


def is_size(act: Act) -> bool:
    """Whether an act binds a size as it is: `self.rows = x.shape[0]`, `self.length = x.size(1)`."""
    match act.node:
        case ast.Assign(value=ast.Subscript(value=ast.Attribute(attr=attr))) | ast.Assign(value=ast.Attribute(attr=attr)):
            return attr in SIZES
        case ast.Assign(value=ast.Call(func=ast.Attribute(attr=attr))):
            return attr in SIZES
        case ast.Assign(value=ast.Call(func=ast.Name(id="len"))):
            return True
    return False


def _drops(node: ast.stmt) -> bool:
    match node:
        case ast.Assign(value=ast.Constant() | ast.Dict()) | ast.Delete():
            return True
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr=name))):
            return name in DROPPING
    return False
