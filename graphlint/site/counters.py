"""Entries that begin as numbers: `dict(lr=lr, k=0)`, `state["step"] = 0`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from graphlint.modules import once_a_module
from graphlint.project import Module
from graphlint.syntax import last_called, walk


@once_a_module
def numbered(module: Module) -> frozenset[str]:
    """The keys under which a file puts plain numbers, as slots spell them: `['step']`."""
    return frozenset(
        f"[{key!r}]" for node in walk(module.source.tree) for key, value in _entries(node) if _is_number(value)
    )


def _entries(node: ast.AST) -> Iterator[tuple[object, ast.expr]]:
    match node:
        case ast.Call(keywords=words) if last_called(node) == "dict":
            yield from ((word.arg, word.value) for word in words)
        case ast.Dict(keys=keys, values=values):
            yield from ((each.value, value) for each, value in zip(keys, values) if isinstance(each, ast.Constant))
        case ast.Assign(targets=[ast.Subscript(slice=ast.Constant(value=key))], value=value):
            yield key, value


def _is_number(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and type(value.value) in (int, float)
