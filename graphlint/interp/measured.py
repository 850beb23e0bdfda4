"""Clocks that are read to tell how long something took: what a replay does not read again, it does not compute with."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from graphlint.project import FunctionDecl
from graphlint.syntax import walk


def is_measured(decl: FunctionDecl | None, node: ast.AST) -> bool:
    """Whether a clock is read for a duration that decides nothing: `took = time.time() - start`, and its `start`."""
    if decl is None:
        return False
    differences = [each for each in decl.every(ast.BinOp) if isinstance(each.op, ast.Sub)]
    ends = [each for each in differences if each.left is node]
    if ends:
        return all(_is_only_told(decl, each) for each in ends)
    starts = list(_named(decl, node))
    taken = [each for each in differences if isinstance(each.right, ast.Name) and each.right.id in starts]
    return bool(taken) and _reads(decl, starts) == len(taken) and all(_is_only_told(decl, each) for each in taken)


def _named(decl: FunctionDecl, value: ast.AST) -> Iterator[str]:
    """The variables that are bound to an expression."""
    for each in decl.every(ast.Assign):
        if each.value is value:
            yield from (target.id for target in each.targets if isinstance(target, ast.Name))


def _reads(decl: FunctionDecl, names: list[str]) -> int:
    return sum(isinstance(each.ctx, ast.Load) and each.id in names for each in decl.every(ast.Name))


def _is_only_told(decl: FunctionDecl, difference: ast.BinOp) -> bool:
    """Whether no condition and no product rests on a duration, nor on the variable that holds it."""
    names = list(_named(decl, difference))
    deciding = [*decl.every(ast.Compare), *(each for each in decl.every(ast.BinOp) if _is_product(each))]
    return not any(
        part is difference or (isinstance(part, ast.Name) and part.id in names) for each in deciding for part in walk(each)
    )


def _is_product(node: ast.BinOp) -> bool:
    """A product or remainder that is more than another unit: `(end - start) * 1000`."""
    scaled = isinstance(node.left, ast.Constant) or isinstance(node.right, ast.Constant)
    return isinstance(node.op, (ast.Mult, ast.Mod, ast.Pow, ast.MatMult)) and not scaled
