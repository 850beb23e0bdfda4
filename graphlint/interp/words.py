"""State as words: what a condition asks about, and what statements fill; read from the syntax alone."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from graphlint.syntax import last, nested, stored, walk

FILLING = frozenset({"add", "append", "setdefault", "update", "insert", "register_buffer"})
REGISTERING = frozenset({"add_module", "register_buffer", "register_module", "register_parameter"})
ORDERED = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)


class Asked(NamedTuple):
    """The state a condition asks about, as words: what is not there yet where it holds, and what is."""

    lacking: frozenset[str]
    there: frozenset[str]


NOTHING = Asked(frozenset(), frozenset())


class Words:
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
            case ast.Call(func=ast.Name(id="type"), args=[owner]):
                return f"{self.word(owner)}.__class__"
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


def asks(test: ast.expr, words: Words) -> Asked:
    """What a condition says of state where it holds: which is there, and which is lacking."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            asked = asks(inner, words)
            return Asked(asked.there, asked.lacking)
        case ast.BoolOp(op=op, values=parts):
            every = [asks(part, words) for part in parts]
            lacking, there = [each.lacking for each in every], [each.there for each in every]
            # `table is None or length == 0` may hold again on every call: each part must ask about the same state.
            if isinstance(op, ast.Or):
                return Asked(lacking[0].intersection(*lacking), there[0].union(*there))
            return Asked(lacking[0].union(*lacking), there[0].intersection(*there))
        case ast.Call(func=ast.Name(id="hasattr"), args=[owner, ast.Constant(value=str(name))]):
            return Asked(frozenset(), frozenset({f"{words.word(owner)}.{name}"}))
        case ast.Call(func=ast.Name(id="getattr"), args=[_, ast.Constant(value=str()), *_]):
            return Asked(frozenset(), frozenset({words.held(test)}))
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            return _compared(left, op, right, words)
        case ast.Name() | ast.Attribute() | ast.NamedExpr():
            return Asked(frozenset(), frozenset({words.word(test)}))
    return NOTHING


def _compared(left: ast.expr, op: ast.cmpop, right: ast.expr, words: Words) -> Asked:
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


def filled(block: list[ast.stmt], words: Words) -> frozenset[str]:
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
            found.update(put(node.value, words))
    return frozenset(found)


MADE = ("tensor", "as_tensor", "Tensor", "BoolTensor")


def latches(call: ast.Call) -> bool:
    """Whether a call puts yes into a flag of torch's: `self.ready.fill_(1)`, `self.ready.copy_(torch.Tensor([True]))`."""
    match call:
        case ast.Call(func=ast.Attribute(attr="fill_"), args=[value]):
            return isinstance(value, ast.Constant) and bool(value.value)
        case ast.Call(func=ast.Attribute(attr="copy_"), args=[ast.Call(func=made, args=[value, *_])]):
            value = value.elts[0] if isinstance(value, ast.List) and len(value.elts) == 1 else value
            return last(made) in MADE and isinstance(value, ast.Constant) and bool(value.value)
    return False


def put(call: ast.Call, words: Words) -> Iterator[str]:
    """The state that a call may fill, in dotted words; `name()` stands for what another function fills."""
    match call:
        case ast.Call(func=ast.Name(id="setattr"), args=[owner, ast.Constant(value=str(name)), *_]):
            yield f"{words.word(owner)}.{name}"
        case ast.Call(func=ast.Attribute(value=owner, attr=attr), args=[ast.Constant(value=str(name)), *_]) if (
            attr in REGISTERING
        ):
            yield f"{words.word(owner)}.{name}"
        case ast.Call(func=ast.Attribute(value=owner, attr=attr)) if attr in FILLING:
            yield words.word(owner)
        case ast.Call(func=ast.Attribute(value=owner)) if latches(call):
            yield words.word(owner).removesuffix(".data")
        case ast.Call(func=ast.Attribute(value=ast.Name(id=owner), attr=attr)):
            yield f"{owner}.{attr}()"
        case ast.Call(func=ast.Name(id=name)):
            yield f"{name}()"
