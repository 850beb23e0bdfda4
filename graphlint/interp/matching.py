"""`match`: which cases run, what each may believe, and whether choosing among them reads what is matched."""

from __future__ import annotations

import ast

from graphlint.events import HostBranch
from graphlint.interp.agreeing import agreed, note_cases
from graphlint.interp.conditions import test
from graphlint.interp.frame import Frame, State, statement
from graphlint.values import Tensor, Unknown, Value


@statement(ast.Match)
def run_match(frame: Frame, node: ast.Match) -> None:
    subject = frame.eval(node.subject)
    if isinstance(subject, Tensor) and any(_compares(case.pattern) for case in node.cases):
        frame.emit(HostBranch, node.subject, subject.sure, construct="match")
    left, ends = frame.save(), []
    for case in node.cases:
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
        if case.guard is None and _takes_all(case.pattern):
            break
    else:
        ends.append(left)
    frame.merge(*ends)
    note_cases(frame, node, ends)


def _bind(frame: Frame, pattern: ast.pattern, subject: Value) -> None:
    for inner in ast.walk(pattern):
        name = getattr(inner, "name", None) or getattr(inner, "rest", None)
        if isinstance(name, str):
            frame.env[name] = subject if inner is pattern else Unknown()


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
