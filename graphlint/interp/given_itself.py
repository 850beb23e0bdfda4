"""Operations that write a tensor and give it back: to bind an attribute to what they give binds nothing anew.

self.state = self.state.mul_(keep).add_(x)          self.state = torch.add(self.state, x, out=self.state)
"""

from __future__ import annotations

import ast

from graphlint.project import FunctionDecl
from graphlint.syntax import last_called, spelled

MOVING = frozenset({"set_", "resize_", "resize_as_"})
"""Methods that give the tensor itself another memory."""


def is_given_itself(decl: FunctionDecl, value: ast.expr, text: str) -> bool:
    """Whether an expression is what `text` holds, written in place; by way of one variable, too."""
    match value:
        case ast.Name(id=name):
            stores = [each for each in decl.every(ast.Name) if each.id == name and isinstance(each.ctx, ast.Store)]
            made = [each.value for each in decl.every(ast.Assign) if stores[:1] == each.targets]
            is_plain = len(made) == len(stores) == 1 and not isinstance(made[0], ast.Name)
            return is_plain and is_given_itself(decl, made[0], text)
        case ast.IfExp(body=body, orelse=orelse):
            return _is_it(decl, body, text) and _is_it(decl, orelse, text)
        case ast.Call(func=ast.Attribute(value=inner)) if _writes(last_called(value)):
            return _is_it(decl, inner, text) or (bool(value.args) and _is_it(decl, value.args[0], text))
        case ast.Call(keywords=words):
            return any(word.arg == "out" and spelled(word.value) == text for word in words)
    return False


def _is_it(decl: FunctionDecl, value: ast.expr, text: str) -> bool:
    return spelled(value) == text or is_given_itself(decl, value, text)


def _writes(name: str) -> bool:
    return name.endswith("_") and not name.endswith("__") and name not in MOVING
