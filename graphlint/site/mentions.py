"""Whether code mentions a name, as a variable or as an attribute."""

from __future__ import annotations

import ast
from collections.abc import Set

from graphlint.syntax import walk


def mentions(node: ast.AST, names: Set[str]) -> bool:
    """Whether one of some names stands anywhere below a node."""
    return any(
        (isinstance(each, ast.Attribute) and each.attr in names) or (isinstance(each, ast.Name) and each.id in names)
        for each in walk(node)
    )
