"""`match`: which cases run, what each may believe, and whether choosing among them reads what is matched."""

from __future__ import annotations

import ast

from graphlint.events import HostBranch
from graphlint.interp.agreeing import agreed, note_cases
from graphlint.interp.conditions import test
from graphlint.interp.dispatch import attribute, item
from graphlint.interp.frame import Frame, State, statement
from graphlint.syntax import last
from graphlint.values import Kind, Number, Tensor, Text, Unknown, Value


@statement(ast.Match)
def run_match(frame: Frame, node: ast.Match) -> None:
    subject = frame.eval(node.subject)
    if isinstance(subject, Tensor) and any(_compares(case.pattern) for case in node.cases):
        frame.emit(HostBranch, node.subject, subject.sure, construct="match")
    left, ends, known = frame.save(), [], False
    for case in node.cases:
        is_it = _is_one(case.pattern, subject)
        known = known or is_it is not None
        if is_it is False:
            continue
        frame.restore(State(dict(left.env), left.live))
        facts = agreed(frame, case.pattern) if frame.decided else None
        if facts is not None:
            left = State({**left.env, **facts.false}, left.live)
            frame.env.update(facts.true)
        _bind(frame, case.pattern, subject)
        if case.guard is not None:
            outcome = test(frame, case.guard, "if")
            frame.env.update(outcome.true.facts)
        frame.run(case.body)
        ends.append(State(frame.env, frame.live))
        if case.guard is None and (is_it or _takes_all(case.pattern)):
            break
    else:
        ends.append(left)
    frame.merge(*ends)
    if not known:
        note_cases(frame, node, ends)


def _bind(frame: Frame, pattern: ast.pattern, subject: Value) -> None:
    """The names of a pattern: what stands there in what is matched, as far as its form says."""
    match pattern:
        case ast.MatchAs(pattern=inner, name=name):
            if inner is not None:
                _bind(frame, inner, subject)
            if name is not None:
                frame.env[name] = subject
        case ast.MatchSequence(patterns=parts):
            for position, part in enumerate(parts):
                _bind(frame, part, item(frame, subject, Number(Kind.INT, position), pattern))
        case ast.MatchMapping(keys=keys, patterns=parts, rest=rest):
            for key, part in zip(keys, parts):
                _bind(frame, part, item(frame, subject, frame.eval(key), pattern))
            if rest is not None:
                frame.env[rest] = subject
        case ast.MatchClass(kwd_attrs=names, kwd_patterns=named, patterns=parts):
            for word, part in zip(names, named):
                _bind(frame, part, attribute(frame, subject, word, pattern))
            for part in parts:
                _bind(frame, part, subject if len(parts) == 1 and _is_plain(pattern) else Unknown())
        case ast.MatchStar(name=name) if name is not None:
            frame.env[name] = Unknown()
        case ast.MatchOr(patterns=parts):
            for part in parts:
                _bind(frame, part, subject)


def _is_plain(pattern: ast.MatchClass) -> bool:
    """`case int(count):` binds the number itself, as with the other plain types of Python."""
    return last(pattern.cls) in ("int", "float", "str", "bool", "bytes", "list", "tuple", "dict", "set")


def _is_one(pattern: ast.pattern, subject: Value) -> bool | None:
    """Whether a text that is known is what a case asks for; None where that is open."""
    if not isinstance(subject, Text) or subject.value is None:
        return None
    match pattern:
        case ast.MatchValue(value=ast.Constant(value=wanted)):
            return bool(wanted == subject.value)
        case ast.MatchOr(patterns=parts):
            found = [_is_one(each, subject) for each in parts]
            return True if True in found else None if None in found else False
    return None


def _takes_all(pattern: ast.pattern) -> bool:
    """`case _:`, `case other:`."""
    return isinstance(pattern, ast.MatchAs) and pattern.pattern is None


def _compares(pattern: ast.pattern) -> bool:
    """Whether a pattern asks for `==`: classes, `None` and names are told without reading what is matched."""
    if isinstance(pattern, ast.MatchOr):
        return any(_compares(each) for each in pattern.patterns)
    if isinstance(pattern, ast.MatchAs):
        return pattern.pattern is not None and _compares(pattern.pattern)
    return isinstance(pattern, ast.MatchValue)
