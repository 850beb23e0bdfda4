"""Loops over generators and iterators of the tree: the loop's body runs where they yield."""

from __future__ import annotations

import ast
from collections.abc import Callable

from graphlint.site.calls import Given, inline
from graphlint.site.members import attribute
from graphlint.site.things import FunctionNode, Kind, Thing
from graphlint.site.walker import Walker

ROUNDS = 2
"""How often the body of a loop is walked, so that a second pass is seen."""
INNER = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
Round = Callable[[Thing | None, int], None]


def over_call(walker: Walker, node: ast.For | ast.AsyncFor, each: Round) -> bool:
    """Walk a loop over a call of a generator of the tree; False where the loop is over something else."""
    call = node.iter
    if not isinstance(call, ast.Call) or not isinstance(call.func, (ast.Name, ast.Attribute)):
        return False
    function = walker.evaluate(call.func)
    return _yields(function) and _over(walker, node, lambda: walker.evaluate(call), each)


def over_object(walker: Walker, node: ast.For | ast.AsyncFor, source: Thing, each: Round) -> bool:
    """Walk a loop over an object of the tree whose `__iter__` is a generator; False where it is none."""
    begin = _method(walker, source, "__iter__", node.iter)
    if begin is None or not _yields(begin):
        return False
    return _over(walker, node, lambda: inline(walker, begin, Given((source,), {}), node.iter), each)


def advanced(walker: Walker, node: ast.expr, source: Thing) -> Thing | None:
    """What one more step of an iterator of the tree gives; None where the class has no `__next__`."""
    step = _method(walker, source, "__next__", node)
    return None if step is None else inline(walker, step, Given((source,), {}), node)


def _method(walker: Walker, source: Thing, name: str, node: ast.expr) -> Thing | None:
    if source.kind is not Kind.INSTANCE or source.decl is None or walker.project.member(source.decl, name) is None:
        return None
    found = attribute(walker, source, name, node)
    return found if found.kind is Kind.FUNCTION else None


def _over(walker: Walker, node: ast.For | ast.AsyncFor, begin: Callable[[], Thing], each: Round) -> bool:
    scope, frame, returned, maybe = walker.scope, walker.frame, walker.returned, walker.maybe
    done = 0

    def resume(given: Thing) -> None:
        nonlocal done
        if done == ROUNDS:
            return
        inner = walker.scope, walker.frame, walker.returned, walker.maybe
        # Whatever a generator asks before it yields, each round of the loop is there because it has.
        walker.scope, walker.frame, walker.returned, walker.maybe = scope, frame, returned, maybe
        each(given, done)
        walker.scope, walker.frame, walker.returned, walker.maybe = inner
        done += 1

    walker.enter(node)
    walker.resumes.append((node.iter, resume))
    begin()
    walker.resumes.pop()
    walker.leave(node)
    return done > 0


def _yields(function: Thing) -> bool:
    """Whether a thing is a function of the tree that is a generator."""
    body = function.function
    if function.kind is not Kind.FUNCTION or not isinstance(body, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return False
    return _has_yield(body)


def _has_yield(function: FunctionNode) -> bool:
    waiting: list[ast.AST] = [function]
    while waiting:
        for child in ast.iter_child_nodes(waiting.pop()):
            if isinstance(child, (ast.Yield, ast.YieldFrom)):
                return True
            if not isinstance(child, INNER):
                waiting.append(child)
    return False
