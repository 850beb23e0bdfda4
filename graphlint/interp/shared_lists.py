"""Lists of a file, or of a function around a hook, into which code of a region puts tensors: it does so at capture only."""

from __future__ import annotations

import ast
import re

from graphlint.events import HostMutation
from graphlint.interp.frame import Frame
from graphlint.interp.moving import is_undone
from graphlint.interp.mutation import container, is_shared
from graphlint.project import FunctionDecl
from graphlint.source import lines
from graphlint.types import Confidence

HOOKING = r"\bregister_\w*hook\w*\("


def note_shared(frame: Frame, node: ast.AST) -> None:
    """`HISTORY.append(y)`, and `seen.append(y)` in a hook; other functions hand out their results in lists around them."""
    decl = frame.summary.decl
    match node:
        case ast.Call(func=ast.Attribute(value=owner)) if decl is not None and frame.recording:
            holder = container(owner)
        case _:
            return
    if isinstance(holder, ast.Name) and is_shared(frame, holder.id):
        around = frame.scope.parent
        if around is not None and around.find(holder.id) is not None and not _is_hook(decl):
            return
        sure = Confidence.POSSIBLE if is_undone(decl, holder.id) else Confidence.LIKELY
        frame.emit(HostMutation, node, sure, target=holder.id, what="container")


def _is_hook(decl: FunctionDecl) -> bool:
    """Whether a function is registered as a hook where it is written, or by its name."""
    if isinstance(decl.node, ast.Lambda):
        return re.search(HOOKING, lines(decl.module.source)[decl.node.lineno - 1]) is not None
    return re.search(HOOKING + rf"[^\n]*\b{re.escape(decl.name)}\b", decl.module.source.text) is not None
