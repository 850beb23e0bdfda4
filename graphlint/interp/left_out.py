"""What a `forward` does for callers that leave out an argument which the code around it always gives.

def forward(self, x, mask=None):
    if mask is None:
        mask = torch.ones(x.shape[:2]).to(x.device)     # whoever calls the module itself comes here
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING

from graphlint.interp.binding import defaults
from graphlint.interp.frame import Summary
from graphlint.project import FunctionDecl
from graphlint.syntax import against_none, stored, walk
from graphlint.values import Nothing, Value, members

if TYPE_CHECKING:
    from graphlint.interp.machine import Machine


def call_leaving_out(machine: Machine, seen: Sequence[Summary]) -> dict[str, Value] | None:
    """The variables of a call as it was seen, but without what its function fills in and no call left to it."""
    first = seen[0]
    names = [] if first.decl is None else _filled_in(machine, first.decl)
    always = [name for name in names if all(_is_given(each, name) for each in seen)]
    return {**first.given, **dict.fromkeys(always, Nothing())} if always else None


def _filled_in(machine: Machine, decl: FunctionDecl) -> list[str]:
    """The parameters that are None if nobody gives them, and get another value then."""
    optional = [name for name, node in defaults(decl).items() if isinstance(machine.default(decl, node), Nothing)]
    if not optional or not isinstance(decl.node.body, list):
        return []
    asking = [each for each in decl.node.body if isinstance(each, ast.If) and against_none(each.test)]
    return [name for name in optional if any(_fills(each, name) for each in asking)]


def _fills(node: ast.If, name: str) -> bool:
    """`if name is None: name = ...`"""
    asked = node.test.left if isinstance(node.test, ast.Compare) else None
    if not isinstance(asked, ast.Name) or asked.id != name:
        return False
    targets = (target for each in node.body for part in walk(each) for target in stored(part))
    return any(isinstance(each, ast.Name) and each.id == name for each in targets)


def _is_given(summary: Summary, name: str) -> bool:
    held = summary.given.get(name)
    return held is not None and not any(isinstance(each, Nothing) for each in members(held))
