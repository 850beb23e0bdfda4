"""Variables that one pass of a loop hands to the next: those that may be read before the pass binds them."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from graphlint.syntax import stored, walk

Loop = ast.For | ast.AsyncFor | ast.While


def passed_on(node: ast.stmt) -> frozenset[str]:
    """The variables that a pass may find as the pass before it left them; more if in doubt."""
    assert isinstance(node, Loop)
    reads = Reads()
    bound: set[str] = set()
    if isinstance(node, ast.While):
        reads.of(node.test, bound)
    else:
        bound.update(_names(node))
    reads.run(node.body, bound)
    return frozenset(reads.found)


def _names(node: ast.AST) -> set[str]:
    return {each.id for each in stored(node) if isinstance(each, ast.Name)}


class Reads:
    """Collects the names that are read where they are not bound on every way from the top."""

    def __init__(self) -> None:
        self.found: set[str] = set()

    def of(self, node: ast.AST | None, bound: set[str]) -> None:
        for each in walk(node) if node is not None else ():
            if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load) and each.id not in bound:
                self.found.add(each.id)

    def run(self, body: Sequence[ast.stmt], bound: set[str]) -> None:
        """Follow statements; `bound` grows by what they bind for sure."""
        for node in body:
            match node:
                case ast.If():
                    self.of(node.test, bound)
                    arms = [set(bound), set(bound)]
                    self.run(node.body, arms[0])
                    self.run(node.orelse, arms[1])
                    bound |= arms[0] & arms[1]
                case ast.For() | ast.AsyncFor():
                    self.of(node.iter, bound)
                    self.run(node.body, bound | _names(node))
                    self.run(node.orelse, set(bound))
                case ast.With() | ast.AsyncWith():
                    for item in node.items:
                        self.of(item.context_expr, bound)
                    bound |= _names(node)
                    self.run(node.body, bound)
                case ast.Assign() | ast.AnnAssign():
                    self.of(node, bound)
                    bound |= _names(node)
                case ast.AugAssign():
                    self.found |= _names(node) - bound
                    self.of(node, bound)
                case _:
                    # Whatever else there is binds nothing for sure.
                    self.of(node, bound)
