"""Questions that a function asks twice, of what does not change in between: the first answer says something of the second.

if self.cached: bound = 4                  if self.cached: y = y[:bound]      # a number here
else:           bound = x.argmax()         else:           y = y[bound]       # a tensor here

A call of a function that a condition picked asks once more: `run = plain if self.cached else fancy`, `run(y, bound)`.
"""

from __future__ import annotations

import ast
import bisect
import functools
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from graphlint.interp.frame import Decided, Frame, State
from graphlint.interp.questions import Answers, Key, Question, answers, conditions, matched, question
from graphlint.project import FunctionDecl
from graphlint.record import NamedTuple
from graphlint.syntax import nested, walk
from graphlint.types import Target
from graphlint.values import Value, join_all, members

LOOPS = (ast.For, ast.AsyncFor, ast.While)
ASKING = frozenset((ast.If, ast.IfExp, ast.While, ast.Assert, ast.Match))

MOST_FIRSTS = 8
"""Of all that was asked before, the last tell the most."""

Spot = tuple[int, int]
Asked = tuple[ast.AST, Question]
Later = dict[ast.AST, list["First"]]


class First(NamedTuple):
    """What asked before, and how it was answered where a later condition holds and where not; `changed` since then.

    `words` are the names and attributes that the answer rests on.
    """

    node: ast.AST
    answers: Answers
    words: frozenset[str]
    changed: frozenset[str]


class Repeats(NamedTuple):
    """The questions of a function that come again, and for each later condition those that came before."""

    first: frozenset[ast.AST]
    later: Later


NEVER = Repeats(frozenset(), {})


class Facts(NamedTuple):
    """What variables are where a condition holds and where it does not, and the targets that get to either."""

    true: dict[str, Value]
    false: dict[str, Value]
    true_on: Target
    false_on: Target


def note_arms(frame: Frame, node: ast.If, ends: Sequence[State]) -> None:
    """Remember what the variables are behind each arm of an `if` that is asked again."""
    if node in _repeats(frame).first:
        frame.decided.pop(node, None)
        if len(ends) == 2:
            _note(frame, node, ends[0], ends[1])


def note_cases(frame: Frame, node: ast.Match, ends: Sequence[State]) -> None:
    """The same for each case of a `match`: where it is not met, one of the others is."""
    first = _repeats(frame).first
    for position, case in enumerate(node.cases):
        if case.pattern in first:
            frame.decided.pop(case.pattern, None)
            others = [end for end in (*ends[:position], *ends[position + 1 :]) if end.live]
            if position < len(ends) and others:
                names = {name for end in others for name in end.env}
                joined = {name: join_all(end.env[name] for end in others if name in end.env) for name in names}
                _note(frame, case.pattern, ends[position], State(joined, others[0].live))


def _note(frame: Frame, node: ast.AST, yes: State, no: State) -> None:
    if yes.live and no.live:
        names = [name for name in frame.env if "." not in name and yes.env.get(name) is not no.env.get(name)]
        both = [name for name in names if name in yes.env and name in no.env]
        found = {name: (frame.env[name], yes.env[name], no.env[name]) for name in both}
        frame.decided[node] = Decided(found, yes.live, no.live)


def note_choice(frame: Frame, node: ast.Assign, value: Value) -> None:
    """The same for `name = a if flag else b`."""
    if node.value not in _repeats(frame).first:
        return
    frame.decided.pop(node.value, None)
    match node.targets:
        case [ast.Name(id=name)] if len(frame.chosen) == 2:
            frame.decided[node.value] = Decided({name: (value, frame.chosen[0], frame.chosen[1])}, *frame.chosen_on)


def agreed(frame: Frame, node: ast.AST) -> Facts | None:
    """What variables are where a condition holds and where it does not, if something was asked before that tells."""
    found = Facts({}, {}, Target.BOTH, Target.BOTH)
    for first in _repeats(frame).later.get(node, ()):
        decided = frame.decided.get(first.node)
        if decided is None or not first.words.isdisjoint(frame.stored):
            continue  # it was not asked, or a method that was called has bound what it asked for
        names = [name for name in decided.names if name not in first.changed]
        held, failed = (_side(frame, decided, names, answer) for answer in first.answers)
        found = Facts(
            {**found.true, **held[0]}, {**found.false, **failed[0]}, found.true_on & held[1], found.false_on & failed[1]
        )
    if not found.true and not found.false:
        return None
    frame.narrowed.update(found.true.items(), found.false.items())
    return found


def _side(frame: Frame, decided: Decided, names: list[str], answer: bool | None) -> tuple[dict[str, Value], Target]:
    if answer is None:
        return {}, Target.BOTH
    found = {}
    for name in names:
        taken, *arms = decided.names[name]
        now, told = frame.env.get(name), arms[not answer]
        # What another answer has told of it already may be less than what this one leaves open.
        is_less = (name, now) in frame.narrowed and now is not None and len(members(told)) < len(members(now))
        if now is taken or is_less:
            found[name] = told
    return found, decided.yes if answer else decided.no


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
    nodes = list(nested(body))
    asking = [node for node in nodes if _may_ask(node)]
    if not asking:
        return NEVER
    picks = _picks(asking)
    if len(asking) < 2 and not picks:
        return NEVER
    counted = Counter(asked.key for node in asking for _, asked in _asked_by(node))
    counted.update(asked.key for node in body if picks for _, asked in _calls(node, picks))
    often = frozenset(key for key, count in counted.items() if count > 1)
    later: Later = {}
    block_of = functools.partial(_Part, often=often, picks=picks)
    known: dict[ast.stmt, _Part] = {}
    for block in _blocks(body, nodes) if often else ():
        _read([known.get(node) or known.setdefault(node, block_of(node)) for node in block], later)
    return Repeats(frozenset(each.node for found in later.values() for each in found), later) if later else NEVER


def _blocks(body: list[ast.stmt], nodes: list[ast.AST]) -> Iterator[list[ast.stmt]]:
    yield body
    for node in nodes:
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            for field in ("body", "orelse", "finalbody"):
                block = getattr(node, field, None)
                if isinstance(block, list) and len(block) > 1:
                    yield block


class _Part:
    """A statement of a block: what is asked in it, of what is asked often, and what it binds."""

    def __init__(self, node: ast.stmt, often: frozenset[Key], picks: dict[str, Question]) -> None:
        self.node = node
        self._often = often
        self._picks = picks

    @functools.cached_property
    def _bound(self) -> tuple[list[tuple[Spot, str]], bool]:
        return _stores(self.node)

    @functools.cached_property
    def stores(self) -> frozenset[str]:
        return frozenset(name for _, name in self._bound[0])

    def before(self, condition: ast.AST) -> Iterable[str]:
        """What it binds before a condition in it is asked; in a loop, wherever that is."""
        bound, is_loop = self._bound
        if is_loop or not isinstance(condition, (ast.expr, ast.pattern)):
            return self.stores
        return [name for _, name in bound[: bisect.bisect_left(bound, (_spot(condition), ""))]]

    @functools.cached_property
    def asked(self) -> list[Asked]:
        return [each for each in _conditions(self.node, self._picks) if each[1].key in self._often]

    def asking(self) -> Iterator[tuple[ast.AST, Question, bool | None]]:
        for each in _asking(self.node):
            if each[1].key in self._often and self.stores.isdisjoint(each[1].words):
                yield each


def _read(block: list[_Part], later: Later) -> None:
    """Pair each question of a block with those in the statements behind it: whoever gets there has passed it."""
    for position, part in enumerate(block):
        for asking, asked, deciding in part.asking():
            changed: set[str] = set()
            for other in block[position + 1 :]:
                for condition, again in other.asked:
                    told = _told(asked, again, deciding)
                    bound = changed.union(other.before(condition)) if told is not None else asked.words
                    if told is not None and asked.words.isdisjoint(bound):
                        firsts = later.setdefault(condition, [])
                        del firsts[: 1 - MOST_FIRSTS]
                        firsts.append(First(asking, told, again.words, frozenset(bound)))
                changed.update(other.stores)
                if not asked.words.isdisjoint(changed):
                    break


def _told(first: Question, later: Question, deciding: bool | None) -> Answers | None:
    if first.key != later.key:
        return None
    held, failed = (each if deciding in (None, each) else None for each in answers(first, later))
    return None if held is failed is None else Answers(held, failed)


def _asking(node: ast.stmt) -> Iterator[tuple[ast.AST, Question, bool | None]]:
    """What a statement asks before anybody gets behind it; the cases of a `match` as far as they are alike.

    With each the answer by which it decides the whole: `a and b` fails where `a` does; None where it is the whole.
    """
    match node:
        case ast.If(test=test) | ast.Assign(value=ast.IfExp(test=test)):
            asking = node if isinstance(node, ast.If) else node.value
            asked = question(test)
            if asked is not None:
                yield asking, asked, None
            if isinstance(test, ast.BoolOp):
                parts = [question(each) for each in test.values]
                yield from ((asking, each, isinstance(test.op, ast.Or)) for each in parts if each is not None)
        case ast.Match(subject=subject, cases=cases):
            before: frozenset[object] = frozenset()
            for case in cases:
                asked = matched(case.pattern, subject) if case.guard is None else None
                if asked is None or not before.isdisjoint(asked.among or ()):
                    return
                yield case.pattern, asked, None
                if asked.among is None:
                    return  # a flag: the other case is the other answer
                before |= asked.among


def _may_ask(node: ast.AST) -> bool:
    return type(node) in ASKING or type(getattr(node, "value", None)) is ast.IfExp


def _asked_by(node: ast.AST) -> Iterator[Asked]:
    """What a statement itself asks."""
    if isinstance(node, ast.Match):
        yield from _cases(node)
    else:
        asking: Any = node if type(node) in ASKING else getattr(node, "value", node)
        yield from conditions(asking.test)


def _cases(node: ast.Match) -> Iterator[Asked]:
    for case in node.cases:
        asked = matched(case.pattern, node.subject)
        if asked is not None:
            yield case.pattern, asked


def _conditions(node: ast.stmt, picks: dict[str, Question]) -> Iterator[Asked]:
    for each in walk(node):
        if type(each) in ASKING:
            yield from _asked_by(each)
    if picks:
        yield from _calls(node, picks)


def _calls(node: ast.stmt, picks: dict[str, Question]) -> Iterator[Asked]:
    for each in walk(node):
        if isinstance(each, ast.Call) and isinstance(each.func, ast.Name) and each.func.id in picks:
            yield each, picks[each.func.id]


NAMED = (ast.Name, ast.Attribute, ast.Lambda)


def _picks(nodes: list[ast.AST]) -> dict[str, Question]:
    """Names that a condition binds to one of two other names, which may be functions."""
    found: dict[str, Question] = {}
    for node in nodes:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.IfExp(test=test, body=yes, orelse=no)):
                pass
            case ast.If(
                test=test, body=[ast.Assign(targets=[ast.Name(id=name)], value=yes)], orelse=[ast.Assign() as other]
            ):
                no = other.value
            case _:
                continue
        asked = question(test) if isinstance(yes, NAMED) and isinstance(no, NAMED) else None
        if asked is not None:
            found[name] = asked
    return found


def _stores(node: ast.stmt) -> tuple[list[tuple[Spot, str]], bool]:
    """The names and attributes that a statement binds, by where it does, and whether it may do so again in a loop."""
    nodes = list(walk(node))
    bound = [each for each in nodes if isinstance(each, (ast.Name, ast.Attribute)) and not isinstance(each.ctx, ast.Load)]
    names = [(_spot(each), each.id if isinstance(each, ast.Name) else each.attr) for each in bound]
    return sorted(names), any(isinstance(each, LOOPS) for each in nodes)


def _spot(node: ast.expr | ast.pattern) -> Spot:
    return node.lineno, node.col_offset
