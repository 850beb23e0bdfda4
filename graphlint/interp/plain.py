"""Conditions in plain form: `not` only around single parts, `any` and `all` over a list spelled out, flags left out."""

from __future__ import annotations

import ast
from collections.abc import Set

from graphlint.project import FunctionDecl


def plain(test: ast.expr, decl: FunctionDecl) -> ast.expr:
    """A condition of a function, without what only asks whether the caller forces it, which is False by default."""
    given = decl.signature.defaults.items()
    return _plain(test, {name for name, default in given if isinstance(default, ast.Constant) and default.value is False})


def _plain(test: ast.expr, off: Set[str]) -> ast.expr:
    test = _spelled_out(test)
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = _spelled_out(test.operand)
        if not isinstance(inner, ast.BoolOp):
            return test
        turned = ast.And() if isinstance(inner.op, ast.Or) else ast.Or()
        test = ast.copy_location(ast.BoolOp(turned, [_negated(each) for each in inner.values]), test)
    if not isinstance(test, ast.BoolOp):
        return test
    is_or = isinstance(test.op, ast.Or)
    parts = [_plain(each, off) for each in test.values if not _is_off(each if is_or else _negated(each), off)]
    if not parts:
        return test
    # `a or any(...)` asks what `a or b or c` does.
    flat = [one for each in parts for one in (each.values if _is_same(each, test) else [each])]  # type: ignore[attr-defined]
    return flat[0] if len(flat) == 1 else ast.copy_location(ast.BoolOp(test.op, flat), test)


def _is_off(part: ast.expr, off: Set[str]) -> bool:
    return isinstance(part, ast.Name) and part.id in off


def _is_same(part: ast.expr, whole: ast.BoolOp) -> bool:
    return isinstance(part, ast.BoolOp) and type(part.op) is type(whole.op)


def _negated(part: ast.expr) -> ast.expr:
    match part:
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            return inner
        case ast.Compare(left=left, ops=[ast.Is()], comparators=others):
            return ast.copy_location(ast.Compare(left, [ast.IsNot()], others), part)
        case ast.Compare(left=left, ops=[ast.IsNot()], comparators=others):
            return ast.copy_location(ast.Compare(left, [ast.Is()], others), part)
    return ast.copy_location(ast.UnaryOp(ast.Not(), part), part)


def _spelled_out(test: ast.expr) -> ast.expr:
    """`any(each is None for each in (self.a, self.b))` as `self.a is None or self.b is None`."""
    match test:
        case ast.Call(
            func=ast.Name(id="any" | "all" as name),
            args=[
                ast.GeneratorExp(
                    elt=ast.Compare(left=ast.Name(id=asked), ops=ops, comparators=others),
                    generators=[
                        ast.comprehension(
                            target=ast.Name(id=each), iter=ast.List(elts=parts) | ast.Tuple(elts=parts), ifs=[]
                        )
                    ],
                )
            ],
        ) if asked == each and len(parts) > 1:
            op = ast.Or() if name == "any" else ast.And()
            return ast.copy_location(
                ast.BoolOp(op, [ast.copy_location(ast.Compare(part, ops, others), part) for part in parts]), test
            )
    return test
