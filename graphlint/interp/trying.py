"""`try`: the handlers of a body that surely fails run on every call, others are for what hardly ever happens."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Mapping

from graphlint.interp.frame import Frame, State, statement
from graphlint.syntax import TRIES, last, walk
from graphlint.types import Confidence
from graphlint.values import EITHER, MOVING, Bool, Nothing, Opaque, Seq, Table, Value

ANY = "BaseException"


@statement(*TRIES)
def run_try(frame: Frame, node: ast.Try) -> None:
    before, outer = frame.save(), frame.ceiling
    returned, left = len(frame.returns), len(frame.breaks) + len(frame.continues)
    frame.run(node.body)
    middle = State(dict(frame.env), frame.live)
    ended = before.live and not middle.live and returned == len(frame.returns)
    raised = surely_raised(frame, node.body, bool(ended) and left == len(frame.breaks) + len(frame.continues))
    frame.run(node.orelse)
    ends = [State(frame.env, frame.live)]
    tried = len(frame.returns) > returned and not frame.live
    returned = len(frame.returns)
    for handler in node.handlers:
        frame.merge(before, State(middle.env, middle.live or before.live))
        if handler.name:
            frame.env[handler.name] = Opaque()
        ceiling, frame.ceiling = frame.ceiling, outer if catches(handler, raised) else Confidence.POSSIBLE
        frame.run(handler.body)
        keep_answers(frame, node, handler, middle.env)
        frame.ceiling = ceiling
        ends.append(State(frame.env, frame.live))
    if tried:
        # `try: return answer() except ...: return False`: the constant stands for a failure, not for an answer.
        frame.returns[returned:] = [value for value in frame.returns[returned:] if not isinstance(value, (Bool, Nothing))]
    frame.merge(*ends)
    if node.finalbody:
        # It runs on every call, also behind a `return` by which the body passes over what was done once.
        live, ceiling = frame.live, frame.ceiling
        frame.live, frame.ceiling = live or before.live, outer
        frame.run(node.finalbody)
        frame.live, frame.ceiling = frame.live & live, ceiling


def surely_raised(frame: Frame, body: list[ast.stmt], ended: bool) -> frozenset[str]:
    """The names of the exceptions of which a body surely raises one; `ended` if nothing goes on behind it.

    None of them if it may as well come to its end.
    """
    missing = next((name for part in body if (name := _lookup_fails(frame, part))), "")
    if missing:
        return frozenset({missing})
    return frozenset(_named(body)) if ended else frozenset()


def _named(body: list[ast.stmt]) -> Iterator[str]:
    for node in (each for part in body for each in walk(part)):
        if isinstance(node, ast.Raise):
            yield ANY if node.exc is None else last(node.exc.func if isinstance(node.exc, ast.Call) else node.exc) or ANY
        elif isinstance(node, ast.Assert):
            yield "AssertionError"


def _lookup_fails(frame: Frame, node: ast.stmt) -> str:
    """What `value = {}["key"]` raises, where the container is known to hold no such thing."""
    match node:
        case ast.Expr(value=ast.Subscript() as looked) | ast.Assign(value=ast.Subscript() as looked):
            return _missing(_container(frame, looked.value), looked.slice)
    return ""


def _container(frame: Frame, node: ast.expr) -> Value | None:
    if isinstance(node, (ast.Dict, ast.List, ast.Tuple)):
        return frame.eval(node) if not any(isinstance(each, ast.Call) for each in walk(node)) else None
    return frame.env.get(node.id) if isinstance(node, ast.Name) else None


def _missing(container: Value | None, index: ast.expr) -> str:
    key = index.value if isinstance(index, ast.Constant) else None
    match container:
        case Table(items=items, rest=None) if isinstance(key, (str, int)):
            return "" if any(known == key for known, _ in items) else "KeyError"
        case Seq(form="list" | "tuple", items=tuple() as items, rest=None) if isinstance(key, int):
            return "" if -len(items) <= key < len(items) else "IndexError"
    return ""


def catches(handler: ast.ExceptHandler, raised: frozenset[str]) -> bool:
    """Whether a handler is for one of these exceptions."""
    if handler.type is None:
        return bool(raised)
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(_is_a(name, last(kind)) for name in raised for kind in kinds)


def keep_answers(frame: Frame, node: ast.Try, handler: ast.ExceptHandler, tried: Mapping[str, Value]) -> None:
    """`try: on = asked() except ...: on = False`: the constant stands for a failure, not for an answer."""
    asked = {name for each in node.body for name in _given(each, ast.Call)}
    for name in asked.intersection(name for each in handler.body for name in _given(each, ast.Constant)):
        answer = tried.get(name)
        if isinstance(answer, Bool) and answer not in (EITHER, MOVING):
            frame.env[name] = answer


def _given(node: ast.stmt, kind: type[ast.expr]) -> Iterator[str]:
    """The variable that a statement binds to an expression of some kind."""
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=value) if isinstance(value, kind):
            yield name


def _is_a(name: str, kind: str) -> bool:
    one, other = getattr(builtins, name, None), getattr(builtins, kind, None)
    if isinstance(one, type) and isinstance(other, type):
        return issubclass(one, other)
    return name == kind or kind in ("Exception", ANY)
