"""Loops: a body is run until its variables settle, or word by word where a loop goes through a few words."""

from __future__ import annotations

import ast

from graphlint.interp.assignment import assign
from graphlint.interp.carried import loop_of
from graphlint.interp.conditions import Test, test
from graphlint.interp.dispatch import element
from graphlint.interp.frame import Frame, State, statement
from graphlint.interp.passing import passed_on
from graphlint.types import Target
from graphlint.values import Seq, Tensor, Text, Unknown, Value, members

LOOP_PASSES = 3
MOST_WORDS = 8
UNKNOWN = Unknown()


@statement(ast.While)
def run_while(frame: Frame, node: ast.While) -> None:
    exits: list[State] = []

    def once() -> None:
        outcome: Test = test(frame, node.test, "while")
        before = frame.save()
        exits.append(State({**before.env, **outcome.false.facts}, before.live & outcome.false.live))
        frame.restore(State({**before.env, **outcome.true.facts}, before.live & outcome.true.live))
        frame.run(node.body)

    _loop(frame, node, once, exits)
    frame.run(node.orelse)


@statement(ast.For, ast.AsyncFor)
def run_for(frame: Frame, node: ast.For) -> None:
    iterated = frame.eval(node.iter)
    if isinstance(iterated, Seq) and iterated.items == () and iterated.rest is None:
        frame.run(node.orelse)
        return
    words = _words(iterated)
    if words:
        _in_turn(frame, node, words)
        frame.run(node.orelse)
        return
    exits = [frame.save()]

    def once() -> None:
        assign(frame, node.target, element(frame, iterated, node.iter), node.target)
        frame.run(node.body)
        exits.append(frame.save())

    _loop(frame, node, once, exits)
    frame.run(node.orelse)


def _words(iterated: Value) -> tuple[Value, ...]:
    """The words that a loop goes through, if it goes through a few: each is run by itself, since words name attributes."""
    items = iterated.items if isinstance(iterated, Seq) and iterated.rest is None else None
    if items is None or len(items) > MOST_WORDS:
        return ()
    return items if all(isinstance(each, Text) and each.value is not None for each in items) else ()


def _in_turn(frame: Frame, node: ast.For, items: tuple[Value, ...]) -> None:
    """Run a body once for each of some items."""
    outer = frame.breaks, frame.continues
    frame.breaks, frame.continues = [], []
    arm, frame.arm = frame.arm, (*frame.arm, loop_of(node))
    for each in items:
        assign(frame, node.target, each, node.target)
        frame.run(node.body)
        if frame.continues:
            frame.merge(frame.save(), *frame.continues)
            frame.continues.clear()
    frame.arm = arm
    frame.merge(frame.save(), *frame.breaks)
    frame.breaks, frame.continues = outer


def _loop(frame: Frame, node: ast.stmt, once: object, exits: list[State]) -> None:
    """Run a body until its variables settle; `exits` are the states in which the loop can end."""
    assert callable(once)
    outer = frame.breaks, frame.continues
    frame.breaks, frame.continues = [], []
    frame.conditional += 1
    arm, frame.arm = frame.arm, (*frame.arm, loop_of(node))
    for _ in range(LOOP_PASSES):
        entry = frame.save()
        once()
        frame.merge(State(frame.env, frame.live), entry, *frame.continues)
        if _is_settled(frame, node, entry.env):
            break
    frame.conditional -= 1
    frame.arm = arm
    frame.merge(*exits, *frame.breaks)
    frame.breaks, frame.continues = outer


def _is_settled(frame: Frame, node: ast.stmt, before: dict[str, Value]) -> bool:
    """Whether another pass would find, in every variable that it reads before it binds it, what this one found."""
    changed = [name for name, value in frame.env.items() if not _tells_the_same(before.get(name), value)]
    if not changed:
        return True
    if any(name in before or "." in name for name in changed):
        return False
    passed = frame.machine.passed.get(node)
    if passed is None:
        passed = frame.machine.passed[node] = passed_on(node)
    return passed.isdisjoint(changed)


def _tells_the_same(before: Value | None, after: Value) -> bool:
    """Whether a pass that finds the one does what a pass does that finds the other.

    Nothing is told of what is unknown, and nothing more where how many dimensions there are, if any, is not known.
    """
    if before is after or before is None:
        return before is after
    held, found = {*map(_apart_from_rank, members(before))}, {*map(_apart_from_rank, members(after))}
    return found in (held, held | {UNKNOWN})


def _apart_from_rank(value: Value) -> Value:
    return value.replace(rank=None) if isinstance(value, Tensor) and value.rank != 0 else value


@statement(ast.Break)
def run_break(frame: Frame, node: ast.Break) -> None:
    frame.breaks.append(frame.save())
    frame.live = Target.NONE


@statement(ast.Continue)
def run_continue(frame: Frame, node: ast.Continue) -> None:
    frame.continues.append(frame.save())
    frame.live = Target.NONE
