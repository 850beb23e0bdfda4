"""Conditions that give the same answer as long as nobody binds what they name, and what one answer says of another.

`mode == "a"`, `mode in ("a", "b")`, `case "a":` ask which of some constants a variable is: whoever finds it to be "b"
knows that it is not "a".  Any other question says something of itself only.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from graphlint.interp.naming import is_capturing
from graphlint.record import NamedTuple
from graphlint.syntax import last

Key = tuple[object, ...]


class Question(NamedTuple):
    """What is asked; `among` the constants that are asked for, None where it is no question of which.

    `holds` if yes means that the condition holds; `words` are the names and attributes that the answer rests on.
    """

    key: Key
    among: frozenset[object] | None
    holds: bool
    words: frozenset[str]


class Answers(NamedTuple):
    """How an earlier condition was answered where a later one holds, and where it does not; None where that is open."""

    held: bool | None
    failed: bool | None


def answers(first: Question, later: Question) -> Answers:
    """What a condition says of one with the same key that was asked before."""
    if first.among is None or later.among is None:
        agrees = first.holds is later.holds
        return Answers(agrees, not agrees) if first.among is later.among else Answers(None, None)
    held, failed = (
        None if found is None else found is first.holds
        for found in (_is_among(first.among, later.among, is_one) for is_one in (later.holds, not later.holds))
    )
    return Answers(held, failed)


def _is_among(first: frozenset[object], later: frozenset[object], is_one: bool) -> bool | None:
    """Whether what is one of these, or none of them, is one of those."""
    if is_one:
        return True if later <= first else False if later.isdisjoint(first) else None
    return False if first <= later else None


def question(test: ast.expr) -> Question | None:
    """A condition as a question; None for one that may be answered otherwise the next time."""
    holds = True
    while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test, holds = test.operand, not holds
    words: set[str] = set()
    match test:
        case ast.Compare(left=left, ops=[op], comparators=[right]) if (among := constants(right, type(op))) is not None:
            return _which(_key(left, words), among, holds is not isinstance(op, (ast.NotEq, ast.IsNot, ast.NotIn)), words)
        case ast.Compare(left=left, ops=[ast.NotEq() | ast.IsNot() | ast.NotIn() as op], comparators=[right]):
            kind = {ast.NotEq: ast.Eq, ast.IsNot: ast.Is, ast.NotIn: ast.In}[type(op)]
            parts = (kind, _key(left, words), _key(right, words))
            return None if None in parts else Question(parts, None, not holds, frozenset(words))
        case ast.Call(func=func, args=[], keywords=[]) if is_capturing(last(func)):
            return Question((ast.Call, ast.unparse(func)), None, holds, frozenset())
    found = _key(test, words)
    return None if found is None else Question(found, None, holds, frozenset(words))


def constants(right: ast.expr, op: type[ast.cmpop]) -> frozenset[object] | None:
    """The constants that a comparison asks for; None for any other comparison."""
    if op in (ast.Eq, ast.NotEq, ast.Is, ast.IsNot):
        return one_of((right,))
    return one_of(right.elts) if op in (ast.In, ast.NotIn) and isinstance(right, (ast.Tuple, ast.List, ast.Set)) else None


def one_of(nodes: Sequence[ast.expr]) -> frozenset[object] | None:
    """What some expressions are, if each is a constant or named as a member of an enumeration is."""
    found = [_constant(node) for node in nodes]
    return None if None in found or not found else frozenset(found)


def _constant(node: ast.expr) -> object:
    match node:
        case ast.Constant(value=value):
            return type(value), value  # `1 == True`
        case ast.Attribute(value=ast.Name(id=owner), attr=name) if owner[:1].isupper() and name.isupper():
            return (owner, name)
    return None


def matched(pattern: ast.pattern, subject: ast.expr) -> Question | None:
    """A case as the question that it asks of what is matched."""
    words: set[str] = set()
    among = _cases(pattern)
    return None if among is None else _which(_key(subject, words), among, True, words)


def _which(key: Key | None, among: frozenset[object], holds: bool, words: set[str]) -> Question | None:
    """Whether something is one of these; whether a flag is `True` is what the flag says itself."""
    if key is None:
        return None
    if among in ({(bool, True)}, {(bool, False)}):
        return Question(key, None, holds is (among == {(bool, True)}), frozenset(words))
    return Question(key, among, holds, frozenset(words))


def _cases(pattern: ast.pattern) -> frozenset[object] | None:
    match pattern:
        case ast.MatchValue(value=value):
            return one_of((value,))
        case ast.MatchSingleton(value=single):
            return frozenset([(type(single), single)])
        case ast.MatchAs(pattern=ast.pattern() as inner):
            return _cases(inner)
        case ast.MatchOr(patterns=patterns):
            found = [_cases(each) for each in patterns]
            return None if None in found else frozenset().union(*(each for each in found if each is not None))
    return None


def conditions(test: ast.expr) -> Iterator[tuple[ast.expr, Question]]:
    """The conditions that a test consists of, each as it is asked for by itself."""
    while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test = test.operand
    asked = question(test)
    if asked is not None:
        yield test, asked
    if isinstance(test, ast.BoolOp):
        for part in test.values:
            yield from conditions(part)


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
