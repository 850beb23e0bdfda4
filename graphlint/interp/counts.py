"""Numbers that objects and classes keep, and that a region moves on."""

from __future__ import annotations

import ast

from graphlint.events import HostMutation, Rebound
from graphlint.interp.carried import is_put_back
from graphlint.interp.frame import Frame
from graphlint.interp.moving import moves_on, sure_to_stay
from graphlint.interp.objects import is_module
from graphlint.interp.unread import is_shown
from graphlint.syntax import spelled
from graphlint.types import Confidence
from graphlint.values import Instance, Number, Place, Value, tensors_in


def of_object(frame: Frame, lasting: list[Instance], target: ast.Attribute, value: Value, node: ast.AST) -> None:
    """A number that an object keeps is moved on, or a flag is turned."""
    text = spelled(target)
    homes = {frame.module, *(each.decl.module for each in lasting)}
    frame.emit(
        HostMutation,
        node,
        sure_to_stay(frame.summary.decl, text),
        target=text,
        what="counter",
        is_guarded=isinstance(value, Number) and all(is_module(frame.machine, each.decl) for each in lasting),
        is_shown=is_shown(frame, homes, target, node),
    )


def of_class(frame: Frame, target: ast.Attribute, value: Value, node: ast.AST, augmented: bool) -> None:
    """`Step.calls += 1`: what a class holds outlives every call."""
    text, decl = spelled(target), frame.summary.decl
    if any(tensor.place is not Place.HOST for tensor in tensors_in(value, 2)):
        back = decl is not None and is_put_back(decl, text)
        frame.emit(Rebound, node, Confidence.POSSIBLE if back else Confidence.LIKELY, target=text, buffer=False)
    elif augmented or moves_on(node, text):
        shown = is_shown(frame, {frame.module}, target, node)
        frame.emit(HostMutation, node, sure_to_stay(decl, text), target=text, what="counter", is_shown=shown)
