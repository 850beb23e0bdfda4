"""What a method leaves in the attributes of its object, for the code that called it.

def look(self, x):              self.look(x)
    self.seen = x.isnan()       if self.seen: ...      # what `look` was given decides what this is
"""

from __future__ import annotations

import ast

from graphlint.interp.capturing import leave_open
from graphlint.interp.frame import Frame, Summary
from graphlint.interp.mutation import path_of
from graphlint.values import Function, Value, join_all


def note_exit(frame: Frame) -> None:
    """Remember, where a method ends, what it has stored by then."""
    frame.exits.append({name: frame.env[path] for name, path in frame.stored.items() if path in frame.env})


def left(frame: Frame) -> dict[str, Value | None]:
    """What a method that has run stored on every way through, by attribute; None for what it stored on some.

    A capture that it leaves open goes on in the code that called it.
    """
    if frame.opened:
        leave_open(frame)
    if frame.live:
        note_exit(frame)
    return {
        name: join_all([each[name] for each in frame.exits]) if all(name in each for each in frame.exits) else None
        for name in frame.stored
    }


def take_over(frame: Frame, function: Function, summary: Summary, node: ast.AST) -> None:
    """Let the code around a call of a method know what it has stored."""
    if function.receiver is None or frame.choosing or not isinstance(node, ast.Call):
        return
    path = _path(frame, node.func)
    if path is None:
        return
    for name, value in summary.left.items():
        whole = f"{path}.{name}"
        for known in [known for known in frame.env if known == whole or known.startswith(whole + ".")]:
            del frame.env[known]
        if value is not None:
            frame.env[whole] = value
        if path == frame.own:
            frame.stored[name] = whole


def _path(frame: Frame, callee: ast.expr) -> str | None:
    """The object that a method is called on, as a variable of the caller: `self.cache` of `self.cache.update(x)`."""
    match callee:
        case ast.Attribute(value=ast.Call(func=ast.Name(id="super"), args=[])):
            return frame.own or None
        case ast.Attribute(value=owner):
            return path_of(owner)
    return None
