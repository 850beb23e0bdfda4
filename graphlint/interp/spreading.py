"""State that a method gives to every module of a tree, each made by the module's own method.

def start(self, batch):
    for module in self.modules():
        if isinstance(module, Streaming):
            module.state = module.make_state(batch)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from graphlint.interp.binding import own_name
from graphlint.project import FunctionDecl
from graphlint.syntax import walk
from graphlint.values import Instance, Unknown, Value

if TYPE_CHECKING:
    from graphlint.interp.machine import Machine

TREES = frozenset({"modules", "children", "named_modules", "named_children"})


def spread_names(statements: Sequence[ast.AST], own: str) -> frozenset[str]:
    """The variables that stand for each module below an object in turn."""
    return frozenset(name for each in statements if isinstance(each, ast.For) for name in _name(each, own))


def _name(loop: ast.For, own: str) -> Iterator[str]:
    match loop.iter:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=root), attr=attr)) if root == own and attr in TREES:
            target = loop.target.elts[-1] if isinstance(loop.target, ast.Tuple) else loop.target
            if isinstance(target, ast.Name):
                yield target.id


def gives(target: ast.Attribute, value: ast.expr | None, names: frozenset[str]) -> bool:
    """Whether a statement puts into a module what a method of that module makes."""
    match target.value, value:
        case ast.Name(id=to), ast.Call(func=ast.Attribute(value=ast.Name(id=root))):
            return to == root and to in names
    return False


def made(machine: Machine, value: Instance, decl: FunctionDecl, node: ast.expr | None) -> Value | None:
    """What such a statement puts into an object, whatever the method is given; None for any other."""
    if (
        not isinstance(node, ast.Call)
        or not isinstance(node.func, ast.Attribute)
        or not isinstance(node.func.value, ast.Name)
    ):
        return None
    name = node.func.value.id
    if name == own_name(decl) or name not in spread_names(decl.every(ast.For), own_name(decl)):
        return None
    with machine.exploring(value, {}):
        frame = machine.toplevel(decl.module)
        frame.env.update(
            {each.id: Unknown() for each in walk(node) if isinstance(each, ast.Name) and each.id in decl.bound}
        )
        frame.env[name] = value
        frame.owner, frame.receiver, frame.own = decl.owner, value, name
        return frame.eval(node)
