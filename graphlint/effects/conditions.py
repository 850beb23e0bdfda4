"""Conditions on the arguments of one call, judged in three values: true, false, or not known.

A condition is written as in `device(other) and not number(value)`.  Its words, where `p` is a parameter of the row,
`ctor.q`, the argument q that the constructor of the called instance was given, or `p.q`, the same of the instance p; in
`ctor.q.r` it is the argument r that q was itself made with:

    device(p)       p is, or contains, a tensor on the device       number(p)     p is a Python number
    host(p)         p is, or contains, a tensor on the host         list(p)       p is a list or tuple of numbers
    tensor(p)       p is, or contains, a tensor                     scalar(p)     p is a tensor of rank 0
    missing(p)      p is not given                                  none(p)       p is None, given or by default
    true(p)         p is a true constant, given or by default       false(p)      p is a false one
    equal(p, c...)  p is one of these constants                     same(p, q)    p and q are equal constants
    positive(p)     p is a constant above 0                         negative(p)   p is one below 0
    rank(p, n...)   the tensor p has one of these ranks             kind(p, k...) its dtype is of one of these kinds
    nonempty(p)     the list p has elements                         one(p)        p has exactly one element
    empty(p)        the tensor p has no elements                    above(p, n)   it has more than n elements
    square(p)       its last two sizes are equal                    pinned(p)     p is in page-locked host memory
    apart(p, q)     the ranks of p and q are known to differ        less(p, n)    p is a constant below n
    separate(p)     the equation p sums over nothing that two of its operands share
    object(p)       p is an object of a class of torch's, and no tensor
    training        the module is in training mode                  grad          gradients are recorded
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from graphlint.record import NamedTuple

Literal = int | float | bool | str | None


class _Unknown:
    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN = _Unknown()
"""What `ArgumentFacts.constant` answers for a value that is not a known constant."""


class ArgumentFacts(Protocol):
    """What is known of the arguments of one call; every answer is None when it is not known.

    A parameter that was not given answers for its default.
    """

    def device(self, parameter: str) -> bool | None: ...
    def host(self, parameter: str) -> bool | None: ...
    def tensor(self, parameter: str) -> bool | None: ...
    def scalar(self, parameter: str) -> bool | None: ...
    def number(self, parameter: str) -> bool | None: ...
    def is_list(self, parameter: str) -> bool | None: ...
    def missing(self, parameter: str) -> bool | None: ...
    def none(self, parameter: str) -> bool | None: ...
    def constant(self, parameter: str) -> object: ...
    def rank(self, parameter: str) -> int | None: ...
    def kind(self, parameter: str) -> str | None: ...
    def nonempty(self, parameter: str) -> bool | None: ...
    def one(self, parameter: str) -> bool | None: ...
    def elements(self, parameter: str) -> int | None: ...
    def square(self, parameter: str) -> bool | None: ...
    def pinned(self, parameter: str) -> bool | None: ...
    def is_object(self, parameter: str) -> bool | None: ...
    def training(self) -> bool | None: ...
    def grad(self) -> bool | None: ...


class Test(NamedTuple):
    """One word about one parameter; `values` are the constants it is held against."""

    word: str
    parameter: str
    values: tuple[Literal, ...] = ()


class Not(NamedTuple):
    inner: Condition


class AllOf(NamedTuple):
    parts: tuple[Condition, ...]


class AnyOf(NamedTuple):
    parts: tuple[Condition, ...]


Condition = Test | Not | AllOf | AnyOf


def evaluate(condition: Condition | None, facts: ArgumentFacts) -> bool | None:
    """Whether the condition holds; no condition always holds."""
    match condition:
        case None:
            return True
        case Not(inner):
            known = evaluate(inner, facts)
            return None if known is None else not known
        case AllOf(parts):
            return _all([evaluate(part, facts) for part in parts])
        case AnyOf(parts):
            none_holds = _all([_negate(evaluate(part, facts)) for part in parts])
            return _negate(none_holds)
        case Test(word, parameter, values):
            return _WORDS[word](facts, parameter, values)
    raise TypeError(f"not a condition: {condition!r}")


def _negate(known: bool | None) -> bool | None:
    return None if known is None else not known


def _all(known: list[bool | None]) -> bool | None:
    if False in known:
        return False
    return None if None in known else True


def _truth(facts: ArgumentFacts, parameter: str) -> bool | None:
    value = facts.constant(parameter)
    return None if value is UNKNOWN else bool(value)


def _falsehood(facts: ArgumentFacts, parameter: str) -> bool | None:
    """False or zero; `None`, which often stands for a default that is decided later, is not."""
    value = facts.constant(parameter)
    return None if value is UNKNOWN else value is not None and not value


def _equal(facts: ArgumentFacts, parameter: str, values: tuple[Literal, ...]) -> bool | None:
    value = facts.constant(parameter)
    if value is UNKNOWN:
        return False if facts.tensor(parameter) else None
    return value in values


def _same(facts: ArgumentFacts, parameter: str, values: tuple[Literal, ...]) -> bool | None:
    left, right = facts.constant(parameter), facts.constant(str(values[0]))
    return None if left is UNKNOWN or right is UNKNOWN else left == right


def _sign(facts: ArgumentFacts, parameter: str, sign: int) -> bool | None:
    value = facts.constant(parameter)
    return value * sign > 0 if isinstance(value, (int, float)) else None


def _less(facts: ArgumentFacts, parameter: str, values: tuple[Literal, ...]) -> bool | None:
    value, bound = facts.constant(parameter), values[0]
    return value < bound if isinstance(value, (int, float)) and isinstance(bound, (int, float)) else None


def _above(facts: ArgumentFacts, parameter: str, values: tuple[Literal, ...]) -> bool | None:
    count, bound = facts.elements(parameter), values[0]
    return None if count is None or not isinstance(bound, int) else count > bound


def _apart(facts: ArgumentFacts, parameter: str, values: tuple[Literal, ...]) -> bool | None:
    left, right = facts.rank(parameter), facts.rank(str(values[0]))
    return None if left is None or right is None else left != right


def _separate(facts: ArgumentFacts, parameter: str) -> bool | None:
    """Whether an equation only permutes, multiplies and sums what single operands have: no product of matrices."""
    equation = facts.constant(parameter)
    if not isinstance(equation, str) or "..." in equation:
        return None
    operands, arrow, result = equation.replace(" ", "").partition("->")
    letters = set(operands) - {","}
    kept = set(result) if arrow else {letter for letter in letters if operands.count(letter) == 1}
    return all(sum(letter in operand for operand in operands.split(",")) < 2 for letter in letters - kept)


def _among(value: Literal, values: tuple[Literal, ...]) -> bool | None:
    return None if value is None else value in values


_WORDS: dict[str, Callable[[ArgumentFacts, str, tuple[Literal, ...]], bool | None]] = {
    "device": lambda facts, p, _: facts.device(p),
    "host": lambda facts, p, _: facts.host(p),
    "tensor": lambda facts, p, _: facts.tensor(p),
    "scalar": lambda facts, p, _: facts.scalar(p),
    "number": lambda facts, p, _: facts.number(p),
    "list": lambda facts, p, _: facts.is_list(p),
    "missing": lambda facts, p, _: facts.missing(p),
    "none": lambda facts, p, _: facts.none(p),
    "true": lambda facts, p, _: _truth(facts, p),
    "false": lambda facts, p, _: _falsehood(facts, p),
    "equal": _equal,
    "same": _same,
    "positive": lambda facts, p, _: _sign(facts, p, 1),
    "negative": lambda facts, p, _: _sign(facts, p, -1),
    "rank": lambda facts, p, ranks: _among(facts.rank(p), ranks),
    "kind": lambda facts, p, kinds: _among(facts.kind(p), kinds),
    "nonempty": lambda facts, p, _: facts.nonempty(p),
    "one": lambda facts, p, _: facts.one(p),
    "empty": lambda facts, p, _: _negate(_above(facts, p, (0,))),
    "above": _above,
    "square": lambda facts, p, _: facts.square(p),
    "pinned": lambda facts, p, _: facts.pinned(p),
    "apart": _apart,
    "less": _less,
    "object": lambda facts, p, _: facts.is_object(p),
    "separate": lambda facts, p, _: _separate(facts, p),
    "training": lambda facts, _, __: facts.training(),
    "grad": lambda facts, _, __: facts.grad(),
}

WORDS = frozenset(_WORDS)
