"""Branches that say nothing of what a graph holds, or too much.

One that a number decides which calls move on goes the way of the capture for ever; one that leads to an error is no part
of a run that can be captured.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from graphlint.events import FrozenScalar
from graphlint.interp.frame import Frame
from graphlint.project import FunctionDecl
from graphlint.syntax import last, nested, spelled, stands_in
from graphlint.types import Confidence
from graphlint.values import tensors_in

TELLING = frozenset({"critical", "debug", "error", "exception", "info", "log", "print", "warn", "warning", "write"})
"""Calls that tell somebody something, and compute nothing."""


def note_steered(frame: Frame, node: ast.expr) -> None:
    """`if self.calls % 4 == 0:`, with an arm that does more than to tell somebody: the answer moves from call to call."""
    decl = frame.summary.decl
    # A function that computes with numbers alone gives one, of which is told where a kernel takes it.
    if decl is None or not any(True for each in list(frame.env.values()) for _ in tensors_in(each, 1)):
        return
    if any(stands_in((each.test,), node) and _works(each) for each in decl.every(ast.If)):
        frame.emit(FrozenScalar, node, Confidence.LIKELY, what="number", recorded="branch")


def _works(node: ast.If) -> bool:
    return not (_is_idle(node.body) and _is_idle(node.orelse))


def _is_idle(arm: Sequence[ast.stmt]) -> bool:
    """Whether an arm gives up, tells somebody something, or puts a number back: nothing that a graph would hold."""
    return all(map(idles, arm))


def idles(node: ast.stmt) -> bool:
    match node:
        case ast.Pass() | ast.Raise() | ast.Expr(value=ast.Constant()):
            return True
        case ast.Expr(value=ast.Call(func=func)):
            return last(func) in TELLING
        case ast.Assign(targets=[ast.Attribute()], value=ast.Constant() | ast.BinOp(right=ast.Constant())):
            return True
        case ast.AugAssign(target=ast.Attribute(), value=ast.Constant()):
            return True
        case ast.If():
            return not _works(node)
    return False


def fails(decl: FunctionDecl | None, arm: Sequence[ast.stmt], test: ast.expr, holds: bool) -> bool:
    """Whether an arm of an `if`, where its test holds or not, ends in an error: its own, or that of an assertion behind it.

    if not x.is_contiguous():
        print("not contiguous")
    assert x.is_contiguous()

    Nor is an arm run that tells somebody something who has to ask for it: `if debug: print(x)`.
    """
    if not arm or decl is None:
        return False
    if isinstance(arm[-1], ast.Raise):
        return not any(stands_in(each.body, arm[-1]) for each in decl.every(ast.Try))
    if holds and _is_asked_for(decl, test) and all(_tells(decl, arm, each) for each in arm):
        return True
    if not _is_idle(arm):
        return False
    needed = _parts(test, holds)
    behind = (each for each in decl.every(ast.Assert) if each.lineno > arm[-1].lineno)
    return any(needed <= _parts(each.test, False) for each in behind)


def rest_fails(decl: FunctionDecl | None, node: ast.If) -> bool:
    """Whether all that a function does behind an `if` that leaves it is to raise an error, and to word what that says."""
    body = decl.node.body if decl is not None else None
    if not isinstance(body, list) or node not in body or not isinstance(body[-1], ast.Raise):
        return False
    rest = body[body.index(node) + 1 :]
    return not any(isinstance(each, ast.Return) for each in nested(rest))


def _tells(decl: FunctionDecl, arm: Sequence[ast.stmt], node: ast.stmt) -> bool:
    """Whether a statement of an arm tells somebody something, or makes what nobody but that arm reads."""
    match node:
        case ast.Expr():
            return idles(node)
        case ast.If() | ast.For():
            return all(_tells(decl, arm, each) for each in (*node.body, *node.orelse))
        case ast.Assign(targets=[ast.Name(id=name)]):
            last_line = arm[-1].end_lineno or 0
            uses = [each for each in decl.every(ast.Name) if each.id == name and each.lineno > last_line]
            # What comes behind makes its own first, under the same name.
            uses.sort(key=lambda each: (each.lineno, isinstance(each.ctx, ast.Load)))
            return not uses or not isinstance(uses[0].ctx, ast.Load)
    return False


ASKING = frozenset({"dbg", "dump", "print"})
"""Words in the names of switches that make an object talkative, as `debug` and `verbose` anywhere in one do."""


def _is_asked_for(decl: FunctionDecl, test: ast.expr) -> bool:
    """Whether a test holds only for callers that switch a parameter on, or for an object that is told to be talkative."""
    match test:
        case ast.BoolOp(op=ast.And(), values=values):
            return any(_is_asked_for(decl, each) for each in values)
        case ast.Name(id=name) if name in decl.signature.defaults:
            default = decl.signature.defaults[name]
            return isinstance(default, ast.Constant) and default.value is False
        case ast.Name() | ast.Attribute():
            name = last(test).lower()
            is_asked = "debug" in name or "verbose" in name or not ASKING.isdisjoint(name.split("_"))
            return is_asked and not _is_on(decl, last(test))
    return False


def _is_on(decl: FunctionDecl, name: str) -> bool:
    """Whether objects are talkative unless somebody says otherwise: `def __init__(self, verbose=True)`."""
    made = decl.owner.members.get("__init__", [None])[-1] if decl.owner is not None else None
    if not isinstance(made, ast.FunctionDef) or decl.owner is None:
        return False
    default = decl.module.function(made, decl.owner, "__init__").signature.defaults.get(name)
    return isinstance(default, ast.Constant) and default.value is True


OPPOSED: tuple[tuple[type[ast.cmpop], type[ast.cmpop]], ...] = (
    (ast.Eq, ast.NotEq), (ast.Is, ast.IsNot), (ast.In, ast.NotIn), (ast.Lt, ast.GtE), (ast.Gt, ast.LtE),
)  # fmt: skip
OPPOSITE = {one: other for pair in OPPOSED for one, other in (pair, pair[::-1])}


def _parts(test: ast.expr, denied: bool) -> frozenset[str]:
    """What must be true where a test holds, or where it does not; all of it, where that is several things."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            return _parts(inner, not denied)
        case ast.BoolOp(op=op, values=values) if isinstance(op, ast.Or) is denied:
            return frozenset().union(*(_parts(each, denied) for each in values))
        case ast.Compare(left=left, ops=[op], comparators=[right]) if denied and type(op) in OPPOSITE:
            return frozenset({spelled(ast.Compare(left, [OPPOSITE[type(op)]()], [right]))})
    return frozenset({f"not {spelled(test)}" if denied else spelled(test)})
