"""Code that runs once and leaves a mark by which later calls pass it over: caches, lazy set-up, warn-once flags.

`if self.table is None: self.table = ...`, `if key in cache: return cache[key]` with the filling behind it, and their
like: the warm-up runs such code, and the capture finds it done.  Read from the syntax alone, once a function.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from graphlint.project import FunctionDecl
from graphlint.syntax import nested, stored, walk

BODY, ORELSE, REST = "body", "orelse", "rest"
"""Which part of an `if` runs once: an arm, or what stands behind it in its block."""

FILLING = frozenset({"add", "append", "setdefault", "update", "insert", "register_buffer"})
ORDERED = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)


class Memo(NamedTuple):
    """One such `if`: the part that runs once, and the state that it asks about, as dotted names.

    Where methods fill the state, `methods` names them and `state` the attributes that one of them must set; where
    functions fill it, `functions` does, and `state` the globals.
    """

    part: str
    asked: frozenset[str]
    methods: frozenset[str] = frozenset()
    state: frozenset[str] = frozenset()
    functions: frozenset[str] = frozenset()


class Asked(NamedTuple):
    """The state a condition asks about, as words: what is not there yet where it holds, and what is."""

    lacking: frozenset[str]
    there: frozenset[str]


NOTHING = Asked(frozenset(), frozenset())


def memos(decl: FunctionDecl) -> dict[ast.If, Memo]:
    """Every `if` of a function that passes over what was done once."""
    body = decl.node.body
    if not isinstance(body, list) or not any(isinstance(each, ast.If) for each in nested(body)):
        return {}
    found: dict[ast.If, Memo] = {}
    named = decl.signature.named
    own = f"{named[0].arg}." if decl.owner is not None and named else ""
    _blocks(body, _Words(body, own), False, found)
    return found


def fills(method: ast.FunctionDef, state: frozenset[str]) -> bool:
    """Whether a method sets one of these attributes of its object."""
    if not method.args.args:
        return False
    own = method.args.args[0].arg
    return any(f"{own}.{name}" in _filled(method.body, _Words(method.body)) for name in state)


def fills_global(decl: FunctionDecl, names: frozenset[str]) -> bool:
    """Whether a function sets one of these globals."""
    body = decl.node.body
    return isinstance(body, list) and bool(names & _filled(body, _Words(body)))


class _Words:
    """State as words: dotted names, with local names that stand for an attribute or an entry spelled out.

    `own` is what the words for a method's own attributes begin with, empty outside of methods.
    """

    def __init__(self, body: list[ast.stmt], own: str = "") -> None:
        self.own = own
        self.outer: set[str] = set()
        self.alias: dict[str, str] = {}
        for each in nested(body):
            if isinstance(each, ast.Global):
                self.outer.update(each.names)
            elif isinstance(each, ast.Assign) and len(each.targets) == 1 and isinstance(each.targets[0], ast.Name):
                self._stand_for(each.targets[0].id, each.value)

    def _stand_for(self, name: str, value: ast.expr) -> None:
        held = self.held(value)
        if held and name not in self.alias:
            self.alias[name] = held

    def held(self, value: ast.expr) -> str:
        """The state that an expression fetches: `self.x`, `getattr(self, "x", None)`, `cache.get(key)`, `cache[key]`."""
        match value:
            case ast.Attribute():
                return self.word(value)
            case ast.Call(func=ast.Name(id="getattr"), args=[owner, ast.Constant(value=str(name)), *_]):
                return f"{self.word(owner)}.{name}"
            case ast.Call(func=ast.Attribute(value=owner, attr="get")) | ast.Subscript(value=owner):
                return self.word(owner)
            case ast.IfExp(body=body, orelse=orelse):
                return self.held(body) or self.held(orelse)
        return ""

    def word(self, node: ast.expr) -> str:
        if isinstance(node, ast.Name):
            return node.id if node.id in self.outer else self.alias.get(node.id, node.id)
        if isinstance(node, ast.Attribute):
            owner = self.word(node.value)
            return f"{owner}.{node.attr}" if owner else ""
        if isinstance(node, ast.NamedExpr):
            return self.held(node.value)
        return self.held(node)

    def words(self, node: ast.expr) -> Iterator[str]:
        """Every state inside an operand: of `self.mask.shape[-1]` also `self.mask`."""
        for each in walk(node):
            if isinstance(each, (ast.Attribute, ast.Name, ast.Call)):
                word = self.word(each)
                while word:
                    yield word
                    word = word.rpartition(".")[0] if word.count(".") > 1 else ""


def _blocks(body: list[ast.stmt], words: _Words, looped: bool, found: dict[ast.If, Memo]) -> None:
    for position, node in enumerate(body):
        if isinstance(node, ast.If):
            memo = _memo(node, body[position + 1 :], words, looped)
            if memo is not None:
                found[node] = memo
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        inner_loop = isinstance(node, (ast.For, ast.AsyncFor, ast.While))
        for field in ("body", "orelse", "finalbody"):
            block = getattr(node, field, None)
            if isinstance(block, list) and block:
                _blocks(block, words, inner_loop or (looped and not isinstance(node, ast.If)), found)


def _memo(node: ast.If, rest: list[ast.stmt], words: _Words, looped: bool) -> Memo | None:
    asked = _asked(node.test, words)
    if not asked.lacking and not asked.there:
        return None
    own = words.own
    tries = [(BODY, asked.lacking, node.body), (ORELSE, asked.there, node.orelse)]
    if not looped and _leaves(node.body) and not node.orelse:
        tries.append((REST, asked.there, rest))
    for part, state, block in tries:
        filled = _filled(block, words) if state and block else frozenset[str]()
        if state & filled:
            return Memo(part, state & filled)
        called = frozenset(word[len(own) : -2] for word in filled if own and word.startswith(own) and word.endswith("()"))
        held = frozenset(word for word in state if own and word.startswith(own))
        if called and held:
            return Memo(part, held, called, frozenset(word[len(own) :] for word in held))
        functions = frozenset(word[:-2] for word in filled if word.endswith("()") and "." not in word)
        named = frozenset(word for word in state if "." not in word)
        if functions and named:
            return Memo(part, named, frozenset(), named, functions)
    off = asked.there & _switched_off(node.body, words)
    return Memo(BODY, off) if off else None


def _leaves(block: list[ast.stmt]) -> bool:
    """Whether a block ends the function, or does where its last question comes out so."""
    last = block[-1]
    return isinstance(last, (ast.Return, ast.Raise)) or (isinstance(last, ast.If) and _leaves(last.body))


def _asked(test: ast.expr, words: _Words) -> Asked:
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            asked = _asked(inner, words)
            return Asked(asked.there, asked.lacking)
        case ast.BoolOp(op=op, values=parts):
            every = [_asked(part, words) for part in parts]
            lacking, there = [each.lacking for each in every], [each.there for each in every]
            # `table is None or length == 0` may hold again on every call: each part must ask about the same state.
            if isinstance(op, ast.Or):
                return Asked(lacking[0].intersection(*lacking), there[0].union(*there))
            return Asked(lacking[0].union(*lacking), there[0].intersection(*there))
        case ast.Call(func=ast.Name(id="hasattr"), args=[owner, ast.Constant(value=str(name))]):
            return Asked(frozenset(), frozenset({f"{words.word(owner)}.{name}"}))
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            return _compared(left, op, right, words)
        case ast.Name() | ast.Attribute() | ast.NamedExpr():
            return Asked(frozenset(), frozenset({words.word(test)}))
    return NOTHING


def _compared(left: ast.expr, op: ast.cmpop, right: ast.expr, words: _Words) -> Asked:
    if isinstance(op, (ast.Is, ast.IsNot)) and isinstance(right, ast.Constant):
        state = frozenset({words.word(left)})
        return Asked(state, frozenset()) if isinstance(op, ast.Is) else Asked(frozenset(), state)
    if isinstance(op, (ast.In, ast.NotIn)):
        state = frozenset({words.word(right)})
        return Asked(state, frozenset()) if isinstance(op, ast.NotIn) else Asked(frozenset(), state)
    state = frozenset(words.words(left)) | frozenset(words.words(right))
    if isinstance(op, (ast.Eq, ast.Is)):
        # `if index == -1: index = ...` asks for a mark that stands for nothing.
        is_mark = isinstance(right, (ast.Constant, ast.UnaryOp)) or (isinstance(right, ast.Name) and right.id.isupper())
        return Asked(state if is_mark else frozenset(), state)
    if isinstance(op, ORDERED):
        return Asked(state, state)
    return Asked(state, frozenset())


def _filled(block: list[ast.stmt], words: _Words) -> frozenset[str]:
    """The state that statements fill: attributes, entries and globals bound, containers that something is put into.

    What moves on from its own value, as a counter does, is not filled once.
    """
    found: set[str] = set()
    for node in nested(block):
        moved = set(words.words(node.value)) if isinstance(node, ast.Assign) and isinstance(node.value, ast.BinOp) else ()
        for target in () if isinstance(node, ast.AugAssign) else stored(node):
            if words.word(target) in moved:
                continue
            if isinstance(target, ast.Name) and target.id in words.outer:
                found.add(target.id)
            elif isinstance(target, ast.Attribute):
                found.add(words.word(target))
            elif isinstance(target, ast.Subscript):
                found.add(words.word(target.value))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            found.update(_put(node.value, words))
    return frozenset(found)


def _put(call: ast.Call, words: _Words) -> Iterator[str]:
    match call:
        case ast.Call(func=ast.Name(id="setattr"), args=[owner, ast.Constant(value=str(name)), *_]):
            yield f"{words.word(owner)}.{name}"
        case ast.Call(func=ast.Attribute(value=owner, attr="register_buffer"), args=[ast.Constant(value=str(name)), *_]):
            yield f"{words.word(owner)}.{name}"
        case ast.Call(func=ast.Attribute(value=owner, attr=attr)) if attr in FILLING:
            yield words.word(owner)
        case ast.Call(func=ast.Attribute(value=ast.Name(id=owner), attr=attr)):
            yield f"{owner}.{attr}()"
        case ast.Call(func=ast.Name(id=name)):
            yield f"{name}()"


def _switched_off(block: list[ast.stmt], words: _Words) -> frozenset[str]:
    """Flags that statements set to False or None: `if self.first: self.first = False`."""
    return frozenset(
        words.word(target)
        for node in nested(block)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and not node.value.value
        for target in stored(node)
        if isinstance(target, ast.Attribute) or (isinstance(target, ast.Name) and target.id in words.outer)
    )
