"""Whether a part of an `if` was done for good before the capture, with what is known where it runs."""

from __future__ import annotations

import ast

from graphlint.events import HostBranch
from graphlint.interp.binding import own_name
from graphlint.interp.frame import Frame
from graphlint.interp.marking import method_of, scope_of
from graphlint.interp.memo import Memo, function_fills, memos, method_fills
from graphlint.interp.objects import record_of
from graphlint.project import FunctionDecl
from graphlint.syntax import spelled
from graphlint.values import ClassValue, Instance, ModuleValue, Nothing, Value, members, tensors_in


def part_run_once(frame: Frame, node: ast.If) -> str:
    """The part of an `if` that the warm-up has run for good before the capture, such as the filling of a cache."""
    decl = frame.summary.decl
    if decl is None:
        return ""
    known = frame.machine.memos.get(decl)
    if known is None:
        known = frame.machine.memos[decl] = memos(decl, frame.machine.project)
    memo = known.get(node)
    if memo is None or not all(_lasts(frame, word) for word in memo.asked):
        return ""
    if not memo.is_latch and _waits(frame, node.test):
        return ""
    if any(_is_emptied(frame, word) for word in memo.asked):
        return ""
    if memo.functions:
        return memo.part if _filled_by_function(frame, memo) else ""
    return memo.part if not memo.methods or _filled_by(frame, memo) else ""


def is_passed_over(frame: Frame, node: ast.If) -> bool:
    """Whether the part of an `if` that runs once need not be followed: it sets up an object, and gives nothing back.

    Outside of regions it is followed for what it writes.
    """
    decl = frame.summary.decl
    return frame.recording and decl is not None and frame.machine.memos[decl][node].is_set_up


def keep_done(frame: Frame, before: dict[str, Value], done: dict[str, Value]) -> None:
    """Code that ran once has left no tensor in an attribute, whatever was there before: `n = self.n.item(); self.n = n`."""
    for path, value in done.items() if frame.recording else ():
        if "." in path and before.get(path) is not value and not any(tensors_in(value)):
            frame.env[path] = value


def _filled_by_function(frame: Frame, memo: Memo) -> bool:
    """Whether one of the functions called there sets the global that is asked about."""
    project = frame.machine.project
    found = [project.lookup(frame.module, name) for name in memo.functions]
    return any(
        isinstance(each, FunctionDecl)
        and each.module is frame.module
        and function_fills(scope_of(project, each), memo.state)
        for each in found
    )


def _filled_by(frame: Frame, memo: Memo) -> bool:
    """Whether one of the methods called there sets what is asked about."""
    project = frame.machine.project
    root = next(iter(memo.asked)).partition(".")[0]
    owners = [each for each in members(frame.scope.find(root) or Nothing()) if isinstance(each, Instance)]
    found = [(owner, method_of(project, owner.decl, name)) for owner in owners for name in memo.methods]
    return any(
        decl is not None
        and (method_fills(scope_of(project, decl, owner.decl), memo.state) or _fills_a_part(frame, owner, decl, memo.state))
        for owner, decl in found
    )


def _fills_a_part(frame: Frame, owner: Instance, decl: FunctionDecl, state: frozenset[str]) -> bool:
    """Whether a method calls one of a part of its object that sets what is asked about: `self.manager.allocate(n)`."""
    project, record = frame.machine.project, record_of(frame.machine, owner)
    for part, _, rest in (word.partition(".") for word in state if "." in word):
        held = members(record.read(frame.machine, part) or Nothing())
        parts = [each.decl for each in held if isinstance(each, Instance)]
        names = [_called_on(each.value, f"{own_name(decl)}.{part}") for each in decl.every(ast.Expr)]
        called = [method_of(project, each, name) for each in parts for name in names if name]
        if any(each is not None and method_fills(scope_of(project, each), frozenset({rest})) for each in called):
            return True
    return False


def _called_on(value: ast.expr, holder: str) -> str:
    match value:
        case ast.Call(func=ast.Attribute(value=owner, attr=name)) if spelled(owner) == holder:
            return name
    return ""


def _is_emptied(frame: Frame, word: str) -> bool:
    """Whether every call of the module empties what is asked about, so that nothing of it lasts from the warm-up."""
    root, _, name = word.partition(".")
    owners = [each for each in members(frame.scope.find(root) or Nothing()) if isinstance(each, Instance)]
    if not owners:
        return False
    from graphlint.interp.emptied import empties  # here because few warm-ups fill what a call empties

    return any(empties(frame.machine.project, each.decl, name) for each in owners)


def _waits(frame: Frame, test: ast.expr) -> bool:
    """Whether a condition was seen to read device data, which may come out otherwise on every call."""
    return any((HostBranch, frame.span(each)) in frame.summary.seen for each in ast.walk(test))


def _lasts(frame: Frame, word: str) -> bool:
    """Whether the state that a dotted name stands for is there before and after the region runs.

    That a variable of the function itself is None says that it was not given.
    """
    root, dot, rest = word.partition(".")
    value = frame.scope.find(root)
    if value is None or rest.startswith("__class__."):
        return True
    found = members(value)
    if dot and any(
        isinstance(each, (ClassValue, ModuleValue)) or (isinstance(each, Instance) and not each.fresh) for each in found
    ):
        return True
    # What a function around this one holds was mostly there before, unless it is seen being made.
    here = root in frame.env and root not in frame.globals
    return not here and not any(isinstance(each, Instance) for each in found)
