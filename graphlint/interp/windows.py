"""Containers of tensors that an object keeps from call to call: what is joined of them is what they held at capture.

self.frames.append(x)                                  # moves on while Python runs, at capture
return torch.stack(tuple(self.frames), dim=1)          # and every replay stacks the frames of the capture
"""

from __future__ import annotations

import ast

from graphlint.interp.drifting import lengthens
from graphlint.interp.frame import Frame
from graphlint.interp.mutation import is_bound
from graphlint.site_events import GrowingState
from graphlint.syntax import spelled
from graphlint.types import Confidence
from graphlint.values import Instance, members

WRAPPING = frozenset({"list", "reversed", "tuple"})
COMPREHENSIONS = (ast.ListComp, ast.GeneratorExp)


def note_window(frame: Frame, node: ast.AST) -> None:
    """Whether a call joins what methods put into a container of a lasting object; it is told where a region does so."""
    held = _held(node.args[0]) if frame.recording and isinstance(node, ast.Call) and node.args else None
    if held is None or is_bound(frame, held):
        return
    with frame.untouched():
        owners = [each for each in members(frame.eval(held.value)) if isinstance(each, Instance)]
    if any(not each.fresh and lengthens(frame.machine, each.decl, held.attr) for each in owners):
        frame.emit(GrowingState, node, Confidence.LIKELY, target=spelled(held), is_window=True)


def _held(node: ast.expr) -> ast.Attribute | None:
    """The container that a list of tensors is, or is made of: `list(self.q)`, `[*self.q, x]`, `[y for y in self.q]`."""
    match node:
        case ast.Attribute():
            return node
        case ast.Call(func=ast.Name(id=name), args=[inner]) if name in WRAPPING:
            return _held(inner)
        case ast.List(elts=parts) | ast.Tuple(elts=parts):
            found = (_held(each.value) for each in parts if isinstance(each, ast.Starred))
            return next((each for each in found if each is not None), None)
        case ast.BinOp(op=ast.Add(), left=left, right=right):
            return _held(left) or _held(right)
    if isinstance(node, COMPREHENSIONS) and len(node.generators) == 1:
        return _held(node.generators[0].iter)
    return None
