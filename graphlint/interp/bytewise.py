"""Index tensors of bytes, which select by truth as masks do: `x[(x > 0).to(torch.uint8)]`, `keep = a.byte()`.

The type of an integer is not followed; that something is made of bytes is read off the expression that makes it.
"""

from __future__ import annotations

import ast

from graphlint.interp.frame import Frame
from graphlint.modules import once_a_module
from graphlint.project import Module
from graphlint.syntax import last, last_called, nested, spelled

BYTES = ("torch.uint8", "torch.ByteTensor")
WORDS = ("uint8", ".byte(", "ByteTensor")


@once_a_module
def _speaks_of_bytes(module: Module) -> bool:
    return any(word in module.source.text for word in WORDS)


def is_of_bytes(frame: Frame, place: ast.AST) -> bool:
    """Whether an index is made of bytes, where it stands or where this function binds it."""
    if not _speaks_of_bytes(frame.module):
        return False
    if not isinstance(place, ast.Name):
        return _makes_bytes(place)
    decl = frame.summary.decl
    body = decl.node.body if decl is not None else []
    made = [each for each in nested(body) if isinstance(each, ast.Assign)] if isinstance(body, list) else []
    values = [each.value for each in made if any(isinstance(to, ast.Name) and to.id == place.id for to in each.targets)]
    return bool(values) and all(map(_makes_bytes, values))


def _makes_bytes(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call):
        return False
    given = [*node.args, *(word.value for word in node.keywords if word.arg == "dtype")]
    return last_called(node) == "byte" or (
        last_called(node) in ("to", "type") and any(spelled(each) in BYTES or last(each) == "uint8" for each in given)
    )
