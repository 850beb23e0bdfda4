"""Two attributes that change places: `self.now, self.next = self.next, self.now`.

A replay goes on with the places of the capture.  After an even number of swaps these are what they were before.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from graphlint.interp.frame import Frame
from graphlint.outline import mentions
from graphlint.syntax import last, stands_in, walk
from graphlint.values import Instance, Number, Value, members

FunctionDef = ast.FunctionDef | ast.AsyncFunctionDef


def of_records(frame: Frame, value: Value) -> bool:
    """Whether a value is an object of a class that has to do with tensors."""
    return any(isinstance(each, Instance) and mentions(each.decl.node, "torch") for each in members(value))


def turns_back(frame: Frame, node: ast.AST) -> bool:
    """Whether a swap is surely done an even number of times: a loop counts so far, or somebody sees to it that it does."""
    body = frame.summary.decl.node if frame.summary.decl is not None else None
    if not isinstance(body, FunctionDef):
        return False
    counts = [
        count for loop in walk(body) if isinstance(loop, ast.For) and stands_in(loop.body, node) for count in _count(loop)
    ]
    return any(_is_even(frame, each) for each in counts)


def _count(loop: ast.For) -> Iterator[ast.expr]:
    match loop.iter:
        case ast.Call(func=ast.Name(id="range"), args=[count]):
            yield count


def _is_even(frame: Frame, count: ast.expr) -> bool:
    with frame.untouched():
        known = [each.value for each in members(frame.eval(count)) if isinstance(each, Number)]
    if any(isinstance(each, int) and each % 2 == 0 for each in known):
        return True
    match count:
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            return any(isinstance(each, ast.Constant) and each.value == 2 for each in (left, right))
    is_known = any(isinstance(each, int) for each in known)
    return not is_known and any(_asks(each, last(count)) for each in walk(frame.module.source.tree))


def _asks(node: ast.AST, name: str) -> bool:
    """Whether a statement refuses an odd number: `assert n % 2 == 0`, `if n % 2: raise ...`."""
    match node:
        case ast.Assert(test=test):
            return _is_parity(test, name)
        case ast.If(test=test, body=[*_, ast.Raise()]):
            return _is_parity(test, name)
    return False


def _is_parity(test: ast.expr, name: str) -> bool:
    return any(
        isinstance(part, ast.BinOp)
        and isinstance(part.op, ast.Mod)
        and last(part.left) == name
        and isinstance(part.right, ast.Constant)
        and part.right.value == 2
        for part in walk(test)
    )
