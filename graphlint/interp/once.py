"""Whether a part of an `if` was done for good before the capture, with what is known where it runs."""

from __future__ import annotations

import ast

from graphlint.events import HostBranch
from graphlint.interp.frame import Frame
from graphlint.interp.memo import Memo, fills, fills_global, memos
from graphlint.project import FunctionDecl
from graphlint.values import ClassValue, Instance, ModuleValue, members


def part_run_once(frame: Frame, node: ast.If) -> str:
    """The part of an `if` that the warm-up has run for good before the capture, such as the filling of a cache."""
    decl = frame.summary.decl
    if decl is None:
        return ""
    known = frame.machine.memos.get(decl)
    if known is None:
        known = frame.machine.memos[decl] = memos(decl)
    memo = known.get(node)
    if memo is None or not all(_lasts(frame, word) for word in memo.asked) or _waits(frame, node.test):
        return ""
    if memo.functions:
        return memo.part if _filled_by_function(frame, memo) else ""
    return memo.part if not memo.methods or _filled_by(frame, memo) else ""


def _filled_by_function(frame: Frame, memo: Memo) -> bool:
    """Whether one of the functions called there sets the global that is asked about."""
    found = [frame.machine.project.lookup(frame.module, name) for name in memo.functions]
    return any(
        isinstance(each, FunctionDecl) and each.module is frame.module and fills_global(each, memo.state) for each in found
    )


def _filled_by(frame: Frame, memo: Memo) -> bool:
    """Whether one of the methods called there sets what is asked about."""
    receiver = frame.receiver
    owners = [each.decl for each in members(receiver) if isinstance(each, Instance)] if receiver is not None else []
    found = [frame.machine.project.member(owner, name) for owner in owners for name in memo.methods]
    methods = [each[1][-1] for each in found if each is not None]
    return any(isinstance(each, ast.FunctionDef) and fills(each, memo.state) for each in methods)


def _waits(frame: Frame, test: ast.expr) -> bool:
    """Whether a condition was seen to read device data, which may come out otherwise on every call."""
    return any((HostBranch, frame.span(each)) in frame.summary.seen for each in ast.walk(test))


def _lasts(frame: Frame, word: str) -> bool:
    """Whether the state that a dotted name stands for is there before and after the region runs.

    That a variable of the function itself is None says that it was not given.
    """
    root, dot, _ = word.partition(".")
    value = frame.env.get(root)
    if value is None:
        return True
    return bool(dot) and any(
        isinstance(each, (ClassValue, ModuleValue)) or (isinstance(each, Instance) and not each.fresh)
        for each in members(value)
    )
