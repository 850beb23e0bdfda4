"""How a condition asks where a tensor is."""

from __future__ import annotations

import ast


def asked_place(node: ast.expr) -> tuple[ast.expr, bool, bool] | None:
    """(the tensor, whether the host is asked for, whether the answer is yes where the condition holds)."""
    match node:
        case ast.Attribute(value=subject, attr="is_cuda" | "is_cpu" as name):
            return subject, name == "is_cpu", True
        case ast.Compare(
            left=ast.Attribute(value=ast.Attribute(value=subject, attr="device"), attr="type"),
            ops=[ast.Eq() | ast.NotEq() as op],
            comparators=[ast.Constant(value="cpu" | "cuda" as word)],
        ):
            return subject, word == "cpu", isinstance(op, ast.Eq)
        case ast.Compare(
            left=ast.Attribute(value=subject, attr="device"),
            ops=[ast.Eq() | ast.NotEq() as op],
            comparators=[
                ast.Call(func=ast.Attribute(value=ast.Name(id="torch"), attr="device"), args=[ast.Constant(value="cpu")])
            ],
        ):
            return subject, True, isinstance(op, ast.Eq)
    return None
