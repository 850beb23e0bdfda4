"""Code that runs once and leaves a mark by which later calls pass it over: caches, lazy set-up, warn-once flags.

`if self.table is None: self.table = ...`, `if key in cache: return cache[key]` with the filling behind it, and their
like: the warm-up runs such code, and the capture finds it done.  Read from the syntax alone, once a function.

Conditions in plain form: `not` only around single parts, `any` and `all` over a list spelled out, flags left out.
"""

from __future__ import annotations

import ast
from collections.abc import Set

from graphlint.interp.marking import Mark, Scope, is_flag, keeps_mark, leaves_mark, scope_of, sets_mark
from graphlint.interp.words import Asked, asks, filled, latches, put
from graphlint.project import FunctionDecl, Project
from graphlint.record import NamedTuple
from graphlint.syntax import nested, spelled, walk

BODY, ORELSE, REST = "body", "orelse", "rest"
"""Which part of an `if` runs once: an arm, or what stands behind it in its block."""


class Memo(NamedTuple):
    """One such `if`: the part that runs once, and the state that it asks about, as dotted names.

    Where methods fill the state, `methods` names them and `state` the attributes that one of them must set; where
    functions fill it, `functions` does, and `state` the globals.  `is_off` if it is done where the state is false,
    `is_set_up` if the part only calls functions, of which one leaves the mark on the object that it is handed,
    `is_latch` if the state is a tensor into which nothing but yes is put.
    """

    part: str
    asked: frozenset[str]
    methods: frozenset[str] = frozenset()
    state: frozenset[str] = frozenset()
    functions: frozenset[str] = frozenset()
    is_off: bool = False
    is_set_up: bool = False
    is_latch: bool = False


def memos(decl: FunctionDecl, project: Project) -> dict[ast.If, Memo]:
    """Every `if` of a function that passes over what was done once."""
    body = decl.node.body
    if not isinstance(body, list) or not any(isinstance(each, ast.If) for each in nested(body)):
        return {}
    found: dict[ast.If, Memo] = {}
    _blocks(body, scope_of(project, decl), False, found)
    return found


def fills(scope: Scope, block: list[ast.stmt], state: frozenset[str]) -> frozenset[str]:
    """What of some state a block fills for good: a flag only if it is set on every way through the block."""
    done = state & filled(block, scope.words)
    return frozenset(word for word in done if not is_flag(scope, block, word) or leaves_mark(scope, block, Mark(word)))


def method_fills(scope: Scope, names: frozenset[str]) -> bool:
    """Whether a method sets one of these attributes of its object, or hands it to what does."""
    body = scope.decl.node.body
    own = frozenset(f"{scope.words.own}{name}" for name in names)
    direct = isinstance(body, list) and bool(fills(scope, body, own))
    return direct or any(sets_mark(scope, 0, Mark(f".{name}")) for name in names)


def function_fills(scope: Scope, names: frozenset[str]) -> bool:
    """Whether a function sets one of these globals."""
    body = scope.decl.node.body
    return isinstance(body, list) and bool(fills(scope, body, names))


def _blocks(body: list[ast.stmt], scope: Scope, looped: bool, found: dict[ast.If, Memo]) -> None:
    for position, node in enumerate(body):
        if isinstance(node, ast.If):
            memo = _memo(node, body[position + 1 :], scope, looped)
            if memo is not None and any(keeps_mark(scope, node, Mark(word, memo.is_off)) for word in memo.asked):
                latched = _latched(scope, memo.asked)
                if latched is not None:
                    found[node] = memo._replace(is_latch=latched)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        inner_loop = isinstance(node, (ast.For, ast.AsyncFor, ast.While))
        for field in ("body", "orelse", "finalbody"):
            block = getattr(node, field, None)
            if isinstance(block, list) and block:
                _blocks(block, scope, inner_loop or (looped and not isinstance(node, ast.If)), found)


def _latched(scope: Scope, asked: frozenset[str]) -> bool | None:
    """Whether a function puts yes into all flags that are asked about; None if it puts something else into one, too."""
    calls = [each.value for each in scope.decl.every(ast.Expr) if isinstance(each.value, ast.Call)]
    latched = {word for call in calls if latches(call) for word in put(call, scope.words)} & asked
    if not latched.isdisjoint(_overwritten(call, scope) for call in calls if not latches(call)):
        return None
    return asked <= latched


def _overwritten(call: ast.Call, scope: Scope) -> str:
    """The tensor that a call puts something else into."""
    match call.func:
        case ast.Attribute(value=owner, attr="fill_" | "copy_" | "zero_"):
            return scope.words.word(owner).removesuffix(".data")
    return ""


def _memo(node: ast.If, rest: list[ast.stmt], scope: Scope, looped: bool) -> Memo | None:
    test = plain(_written_out(node.test, scope), scope.decl)
    asked = asks(test, scope.words)
    # That two parts ask about attributes of the same object is not the same state.
    asked = Asked(asked.lacking - {scope.words.own[:-1]}, asked.there - {scope.words.own[:-1]})
    fitted = _fitted(test, rest, scope)
    if fitted:
        return Memo(BODY, fitted)
    if not asked.lacking and not asked.there:
        return _together(node, test, rest, scope, looped)
    if (asked.lacking | asked.there).issubset(scope.decl.signature.order):
        return None  # that an argument was not given is no state that lasts
    tries = [(BODY, asked.lacking, node.body), (ORELSE, asked.there, node.orelse)]
    if not looped and leaves(node.body) and not node.orelse:
        tries.append((REST, asked.there, rest))
    for part, state, block in tries:
        memo = _filling(part, state, block, scope) if state and block else None
        if memo is not None:
            return memo
    if not asked.lacking and isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or):
        return _each_filled(test.values, node.body, scope)
    if not asked.there and isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        together = _together(node, test, rest, scope, looped)
        if together is not None:
            return together
    whole = scope._replace(owner=scope.decl.owner)
    off = frozenset(word for word in asked.there if leaves_mark(whole, node.body, Mark(word, True)))
    return Memo(BODY, off, is_off=True) if off else None


def _fitted(test: ast.expr, rest: list[ast.stmt], scope: Scope) -> frozenset[str]:
    """What a block behind `if self.size != size:` sets to what it was held against: `self.size = size`."""
    parts = test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or) else [test]
    found = [_set_behind(each, rest) for each in parts]
    return frozenset(scope.words.word(each) for each in found if each is not None) if all(found) else frozenset()


def _set_behind(test: ast.expr, rest: list[ast.stmt]) -> ast.Attribute | None:
    if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], ast.NotEq):
        return None
    sides = (test.left, test.comparators[0])
    assigned = ((to, each.value) for each in rest if isinstance(each, ast.Assign) for to in each.targets)
    pairs = {(spelled(to), spelled(value)): to for to, value in assigned if isinstance(to, ast.Attribute)}
    return next((pairs[key] for key in (tuple(map(spelled, each)) for each in (sides, sides[::-1])) if key in pairs), None)


def _together(node: ast.If, test: ast.expr, rest: list[ast.stmt], scope: Scope, looped: bool) -> Memo | None:
    """`if length == self.length and self.table is not None: return`, where what stands behind it fills both."""
    if not isinstance(test, ast.BoolOp):
        return None
    every = [asks(each, scope.words) for each in test.values]
    if isinstance(test.op, ast.Or):
        part, states, block = BODY, [each.lacking for each in every], node.body
    elif looped or node.orelse or not leaves(node.body):
        return None
    else:
        part, states, block = REST, [each.there for each in every], rest
    marked = [fills(scope, block, state) for state in states if block]
    return Memo(part, frozenset().union(*marked)) if marked and all(marked) else None


def _each_filled(parts: list[ast.expr], block: list[ast.stmt], scope: Scope) -> Memo | None:
    """`if length > self.length or dtype != self.dtype:`, where all that the parts ask about is filled."""
    asked = [frozenset(word for word in asks(each, scope.words).lacking if "." in word) for each in parts]
    found = [_filling(BODY, state, block, scope) for state in asked if state]
    memos = [each for each in found if each is not None]
    if len(memos) < len(parts) or len({(each.methods, each.is_set_up) for each in memos}) > 1:
        return None
    return memos[0]._replace(asked=frozenset().union(*(each.asked for each in memos)))


def _filling(part: str, state: frozenset[str], block: list[ast.stmt], scope: Scope) -> Memo | None:
    """What fills the state that an `if` found lacking: the block itself, or what is called there."""
    marked = fills(scope, block, state)
    if marked:
        return Memo(part, marked)
    marked = frozenset(word for word in state if "." in word and leaves_mark(scope, block, Mark(word)))
    if marked:
        return Memo(part, marked, is_set_up=_only_calls(block))
    calls = frozenset(word[:-2] for word in filled(block, scope.words) if word.endswith("()"))
    for root in sorted({word.partition(".")[0] for word in state if "." in word}):
        called = frozenset(word[len(root) + 1 :] for word in calls if word.startswith(f"{root}."))
        held = frozenset(word for word in state if word.startswith(f"{root}."))
        if called:
            return Memo(part, held, called, frozenset(word[len(root) + 1 :] for word in held))
    functions = frozenset(word for word in calls if "." not in word)
    named = frozenset(word for word in state if "." not in word)
    return Memo(part, named, frozenset(), named, functions) if functions and named else None


def _only_calls(block: list[ast.stmt]) -> bool:
    """Whether a block makes calls and nothing else: no variable and no result tells that it ran."""
    names = any(isinstance(each, ast.NamedExpr) for node in block for each in walk(node))
    return not names and all(_tells_nothing(each) for each in nested(block))


def _tells_nothing(node: ast.AST) -> bool:
    match node:
        case ast.With(items=items) | ast.AsyncWith(items=items):
            return all(item.optional_vars is None for item in items)
        case ast.Return(value=value):
            return value is None or isinstance(value, ast.Constant)
        case ast.Expr(value=value):
            return isinstance(value, (ast.Call, ast.Constant))
    return isinstance(node, (ast.If, ast.Pass, ast.Raise))


def leaves(block: list[ast.stmt]) -> bool:
    """Whether a block ends the function, or does where its last question comes out so."""
    last = block[-1]
    return isinstance(last, (ast.Return, ast.Raise)) or (isinstance(last, ast.If) and leaves(last.body))


def _written_out(test: ast.expr, scope: Scope) -> ast.expr:
    """`exists(self.table)` as `self.table is not None`, where a function of the tree asks for nothing else."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            inner = _written_out(operand, scope)
            return test if inner is operand else ast.copy_location(ast.UnaryOp(ast.Not(), inner), test)
        case ast.BoolOp(op=op, values=values):
            parts = [_written_out(each, scope) for each in values]
            return test if parts == values else ast.copy_location(ast.BoolOp(op, parts), test)
        case ast.Call(func=ast.Name() as func, args=[subject], keywords=[]):
            found = scope.project.dotted(scope.decl.module, func)
            asked = _asked_by(found) if isinstance(found, FunctionDecl) else None
            return test if asked is None else ast.copy_location(ast.Compare(subject, [asked], [ast.Constant(None)]), test)
    return test


def _asked_by(decl: FunctionDecl) -> ast.cmpop | None:
    """How a function compares its only parameter with None, if it does nothing else."""
    body = decl.node.body
    done = [each for each in body if not isinstance(each, ast.Expr)] if isinstance(body, list) else [ast.Return(body)]
    match done:
        case [
            ast.Return(
                value=ast.Compare(
                    left=ast.Name(id=name), ops=[ast.Is() | ast.IsNot() as op], comparators=[ast.Constant(None)]
                )
            )
        ] if decl.signature.order == [name]:
            return op
    return None


def plain(test: ast.expr, decl: FunctionDecl) -> ast.expr:
    """A condition of a function, without what only asks whether the caller forces it, which is False by default."""
    given = decl.signature.defaults.items()
    return _plain(test, {name for name, default in given if isinstance(default, ast.Constant) and default.value is False})


def _plain(test: ast.expr, off: Set[str]) -> ast.expr:
    test = _spelled_out(test)
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = _spelled_out(test.operand)
        if not isinstance(inner, ast.BoolOp):
            return test
        turned = ast.And() if isinstance(inner.op, ast.Or) else ast.Or()
        test = ast.copy_location(ast.BoolOp(turned, [_negated(each) for each in inner.values]), test)
    if not isinstance(test, ast.BoolOp):
        return test
    is_or = isinstance(test.op, ast.Or)
    parts = [_plain(each, off) for each in test.values if not _is_off(each if is_or else _negated(each), off)]
    if not parts:
        return test
    # `a or any(...)` asks what `a or b or c` does.
    flat = [one for each in parts for one in (each.values if _is_same(each, test) else [each])]  # type: ignore[attr-defined]
    return flat[0] if len(flat) == 1 else ast.copy_location(ast.BoolOp(test.op, flat), test)


def _is_off(part: ast.expr, off: Set[str]) -> bool:
    return isinstance(part, ast.Name) and part.id in off


def _is_same(part: ast.expr, whole: ast.BoolOp) -> bool:
    return isinstance(part, ast.BoolOp) and type(part.op) is type(whole.op)


def _negated(part: ast.expr) -> ast.expr:
    match part:
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            return inner
        case ast.Compare(left=left, ops=[ast.Is()], comparators=others):
            return ast.copy_location(ast.Compare(left, [ast.IsNot()], others), part)
        case ast.Compare(left=left, ops=[ast.IsNot()], comparators=others):
            return ast.copy_location(ast.Compare(left, [ast.Is()], others), part)
    return ast.copy_location(ast.UnaryOp(ast.Not(), part), part)


def _spelled_out(test: ast.expr) -> ast.expr:
    """`any(each is None for each in (self.a, self.b))` as `self.a is None or self.b is None`."""
    match test:
        case ast.Call(
            func=ast.Name(id="any" | "all" as name),
            args=[
                ast.GeneratorExp(
                    elt=ast.Compare(left=ast.Name(id=asked), ops=ops, comparators=others),
                    generators=[
                        ast.comprehension(
                            target=ast.Name(id=each), iter=ast.List(elts=parts) | ast.Tuple(elts=parts), ifs=[]
                        )
                    ],
                )
            ],
        ) if asked == each and len(parts) > 1:
            op = ast.Or() if name == "any" else ast.And()
            return ast.copy_location(
                ast.BoolOp(op, [ast.copy_location(ast.Compare(part, ops, others), part) for part in parts]), test
            )
    return test
