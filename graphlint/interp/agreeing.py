"""Questions that a function asks twice, of what does not change in between: both times the answer is the same.

if self.cached: bound = 4                  if self.cached: y = y[:bound]      # a number here
else:           bound = x.argmax()         else:           y = y[bound]       # a tensor here
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Sequence

from graphlint.interp.frame import Frame, State
from graphlint.project import FunctionDecl
from graphlint.record import NamedTuple
from graphlint.syntax import nested, walk
from graphlint.values import Value

Key = tuple[object, ...]

LOOPS = (ast.For, ast.AsyncFor, ast.While)
ASKS = (ast.If, ast.IfExp, ast.While, ast.Assert)


class First(NamedTuple):
    """An `if` that asked before: `agrees` if its body runs where the later condition holds; `changed` since then.

    `words` are the names and attributes that the answer rests on.
    """

    node: ast.AST
    agrees: bool
    words: frozenset[str]
    changed: frozenset[str]


class Repeats(NamedTuple):
    """The questions of a function that come again, and for each later condition those that came before."""

    first: frozenset[ast.AST]
    later: dict[ast.expr, list[First]]


NEVER = Repeats(frozenset(), {})


class Question(NamedTuple):
    """What is asked, whether yes means that a condition holds, and the names and attributes that the answer rests on."""

    key: Key
    holds: bool
    words: frozenset[str]


def note_arms(frame: Frame, node: ast.If, ends: Sequence[State]) -> None:
    """Remember what the variables are behind each arm of an `if` that is asked again."""
    if node not in _repeats(frame).first:
        return
    frame.decided.pop(node, None)
    if len(ends) == 2 and ends[0].live and ends[1].live:
        yes, no = ends[0].env, ends[1].env
        names = [name for name, value in frame.env.items() if "." not in name and yes.get(name) is not no.get(name)]
        frame.decided[node] = {name: (frame.env[name], yes[name], no[name]) for name in names if name in yes and name in no}


def note_choice(frame: Frame, node: ast.Assign, value: Value) -> None:
    """The same for `name = a if flag else b`."""
    if node.value not in _repeats(frame).first:
        return
    frame.decided.pop(node.value, None)
    match node.targets:
        case [ast.Name(id=name)] if len(frame.chosen) == 2:
            frame.decided[node.value] = {name: (value, frame.chosen[0], frame.chosen[1])}


def agreed(frame: Frame, node: ast.expr) -> tuple[dict[str, Value], dict[str, Value]] | None:
    """What variables are where a condition holds and where it does not, if it was asked before."""
    true: dict[str, Value] = {}
    false: dict[str, Value] = {}
    for first in _repeats(frame).later.get(node, ()):
        if not first.words.isdisjoint(frame.stored):
            continue  # a method that was called has bound it
        for name, (taken, yes, no) in frame.decided.get(first.node, {}).items():
            if name not in first.changed and frame.env.get(name) is taken:
                true[name], false[name] = (yes, no) if first.agrees else (no, yes)
    return (true, false) if true else None


def _repeats(frame: Frame) -> Repeats:
    decl = frame.summary.decl
    if decl is None:
        return NEVER
    known = frame.machine.repeats.get(decl)
    if known is None:
        known = frame.machine.repeats[decl] = repeats(decl)
    return known


def repeats(decl: FunctionDecl) -> Repeats:
    """Read from the syntax alone, once a function."""
    body = decl.node.body
    if not isinstance(body, list):
        return NEVER
    tests = [each.test for each in map(_asks, nested(body)) if each is not None]
    if len(tests) < 2:
        return NEVER
    counted = Counter(part.key for test in tests for _, part in _parts(test))
    often = frozenset(key for key, count in counted.items() if count > 1)
    later: dict[ast.expr, list[First]] = {}
    for block in _blocks(body) if often else ():
        _read(block, often, later)
    return Repeats(frozenset(each.node for found in later.values() for each in found), later) if later else NEVER


def _blocks(body: list[ast.stmt]) -> Iterator[list[ast.stmt]]:
    yield body
    for node in nested(body):
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            for field in ("body", "orelse", "finalbody"):
                block = getattr(node, field, None)
                if isinstance(block, list) and len(block) > 1:
                    yield block


def _read(block: list[ast.stmt], often: frozenset[Key], later: dict[ast.expr, list[First]]) -> None:
    """Pair each question of a block with the same one in the statements behind it: whoever gets there has passed it."""
    for position, node in enumerate(block):
        asking = _asking(node)
        asked = question(asking.test) if asking is not None else None
        if asking is None or asked is None or asked.key not in often or asked.words & _stores([node]):
            continue
        for distance, other in enumerate(block[position + 1 :], position + 1):
            between = block[position + 1 : distance]
            for condition, part in _conditions(other):
                changed = _stores(between) | _stores([other], condition) if part.key == asked.key else asked.words
                if not changed & asked.words:
                    first = First(asking, part.holds is asked.holds, part.words, changed)
                    later.setdefault(condition, []).append(first)


def _asking(node: ast.stmt) -> ast.If | ast.IfExp | None:
    match node:
        case ast.If():
            return node
        case ast.Assign(value=ast.IfExp() as value):
            return value
    return None


def _asks(node: ast.AST) -> ast.If | ast.While | ast.Assert | ast.IfExp | None:
    """What a statement itself asks."""
    if isinstance(node, (ast.If, ast.While, ast.Assert)):
        return node
    value = getattr(node, "value", None)
    return value if isinstance(value, ast.IfExp) else None


def _conditions(node: ast.stmt) -> Iterator[tuple[ast.expr, Question]]:
    for each in walk(node):
        if isinstance(each, ASKS):
            yield from _parts(each.test)


def _parts(test: ast.expr) -> Iterator[tuple[ast.expr, Question]]:
    """The conditions that a test consists of, each as it is asked for by itself."""
    while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test = test.operand
    asked = question(test)
    if asked is not None:
        yield test, asked
    if isinstance(test, ast.BoolOp):
        for part in test.values:
            yield from _parts(part)


def _stores(block: Sequence[ast.stmt], until: ast.expr | None = None) -> frozenset[str]:
    """The names and attributes that statements bind before a condition is asked; in a loop, wherever that is."""
    nodes = [each for node in block for each in walk(node)]
    end = None if until is None or any(isinstance(each, LOOPS) for each in nodes) else (until.lineno, until.col_offset)
    return frozenset(
        each.id if isinstance(each, ast.Name) else each.attr
        for each in nodes
        if isinstance(each, (ast.Name, ast.Attribute)) and not isinstance(each.ctx, ast.Load)
        if end is None or (each.lineno, each.col_offset) < end
    )


def question(test: ast.expr) -> Question | None:
    """A condition that gives the same answer as long as nobody binds what it names; None for any other."""
    holds = True
    while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test, holds = test.operand, not holds
    words: set[str] = set()
    match test:
        case ast.Compare(left=left, ops=[ast.NotEq() | ast.IsNot() | ast.NotIn() as op], comparators=[right]):
            kind = {ast.NotEq: ast.Eq, ast.IsNot: ast.Is, ast.NotIn: ast.In}[type(op)]
            parts = (kind, _key(left, words), _key(right, words))
            return None if None in parts else Question(parts, not holds, frozenset(words))
    key = _key(test, words)
    return None if key is None else Question(key, holds, frozenset(words))


def _key(node: ast.expr, words: set[str]) -> Key | None:
    """A plain expression as a tuple of its parts; `words` gets the names and attributes in it."""
    match node:
        case ast.Name(id=name):
            words.add(name)
            return (name,)
        case ast.Attribute(value=owner, attr=name):
            words.add(name)
            parts: list[object] = [ast.Attribute, name, _key(owner, words)]
        case ast.Constant(value=value):
            parts = [ast.Constant, type(value), value]
            return tuple(parts)
        case ast.Subscript(value=owner, slice=index):
            parts = [ast.Subscript, _key(owner, words), _key(index, words)]
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            parts = [type(op), _key(left, words), _key(right, words)]
        case ast.BoolOp(op=word, values=values):
            parts = [type(word), *(_key(each, words) for each in values)]
        case ast.UnaryOp(op=sign, operand=operand):
            parts = [type(sign), _key(operand, words)]
        case _:
            return None
    return None if None in parts else tuple(parts)
