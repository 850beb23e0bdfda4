"""`match`: which cases run, and whether choosing among them reads what is matched."""

from __future__ import annotations

import ast

from graphlint.events import HostBranch
from graphlint.interp.conditions import test
from graphlint.interp.frame import Frame, State, statement
from graphlint.values import Tensor, Unknown


@statement(ast.Match)
def run_match(frame: Frame, node: ast.Match) -> None:
    subject = frame.eval(node.subject)
    if isinstance(subject, Tensor) and any(_compares(case.pattern) for case in node.cases):
        frame.emit(HostBranch, node.subject, subject.sure, construct="match")
    before = frame.save()
    ends = [before]
    for case in node.cases:
        frame.restore(State(dict(before.env), before.live))
        for inner in ast.walk(case.pattern):
            name = getattr(inner, "name", None) or getattr(inner, "rest", None)
            if isinstance(name, str):
                frame.env[name] = subject if inner is case.pattern else Unknown()
        if case.guard is not None:
            test(frame, case.guard, "if")
        frame.run(case.body)
        ends.append(State(frame.env, frame.live))
    frame.merge(*ends)


def _compares(pattern: ast.pattern) -> bool:
    """Whether a pattern asks for `==`: classes, `None` and names are told without reading what is matched."""
    if isinstance(pattern, ast.MatchOr):
        return any(_compares(each) for each in pattern.patterns)
    if isinstance(pattern, ast.MatchAs):
        return pattern.pattern is not None and _compares(pattern.pattern)
    return isinstance(pattern, ast.MatchValue)
