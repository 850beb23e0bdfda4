"""Binding targets to values.

`x += y` on tensors, which writes in place: the name keeps its storage, so nothing is rebound.
"""

from __future__ import annotations

import ast

from graphlint.events import HostMutation
from graphlint.interp.carried import global_key, is_kept, is_none_asked, is_put_back
from graphlint.interp.dispatch import element, item
from graphlint.interp.frame import Frame
from graphlint.interp.indexing import store_item
from graphlint.interp.members import is_of_optimizer
from graphlint.interp.moving import moves_on, sure_to_stay
from graphlint.interp.mutation import assign_attribute, lengthened, report_entry, report_longer, set_named
from graphlint.project import FunctionDecl
from graphlint.syntax import stands_in
from graphlint.types import Confidence
from graphlint.values import (
    Nothing,
    Number,
    Origin,
    Seq,
    Tensor,
    Unknown,
    Value,
    join_all,
    members,
)

NAMED = frozenset({"_buffers", "_parameters", "__dict__"})
"""Dictionaries of an object that hold its attributes."""


def assign(frame: Frame, target: ast.expr, value: Value, node: ast.AST, augmented: bool = False) -> None:
    """Bind a target to a value."""
    match target:
        case ast.Name(id=name):
            _assign_name(frame, name, value, node, augmented)
        case ast.Attribute():
            assign_attribute(frame, target, value, node, augmented)
        case ast.Subscript(value=ast.Attribute(value=owner, attr=attr), slice=ast.Constant(value=str(key))) if (
            attr in NAMED
        ):
            set_named(frame, owner, key, value, target)
        case ast.Subscript():
            before = len(frame.summary.touched)
            held = frame.eval(target.value)
            frame.untouch(before)
            store_item(frame, held, frame.eval(target.slice), value, target)
            if type(value) is Number and value.origin is Origin.STATE and is_of_optimizer(frame.machine, frame.receiver):
                from graphlint.interp.stepped import report_step  # here because few files have optimizers of their own

                report_step(frame, target, node)
            if isinstance(value, Number) and isinstance(node, ast.Assign):
                report_entry(frame, target, node)
            elif (made := lengthened(target, node)) is not None:
                report_longer(frame, target, made)
        case ast.Tuple(elts=targets) | ast.List(elts=targets):
            _unpack(frame, targets, value, node)
        case ast.Starred(value=inner):
            assign(frame, inner, Seq("list", None, value), node)


def _assign_name(frame: Frame, name: str, value: Value, node: ast.AST, augmented: bool) -> None:
    prefix, env = name + ".", frame.env
    for path in [path for path in env if path.startswith(prefix)]:
        del env[path]
    if name in frame.globals:
        _report_global(frame, name, node, augmented)
        value = Number(value.kind, None, Origin.STATE) if isinstance(value, Number) else value
    frame.env[name] = value


def _report_global(frame: Frame, name: str, node: ast.AST, augmented: bool) -> None:
    """A global that a function sets; one that it sets and puts back is as it was."""
    decl = frame.summary.decl
    if augmented or (decl is None and moves_on(node, name)):
        frame.emit(HostMutation, node, sure_to_stay(decl, name), target=name, what="counter")
        return
    if decl is None:
        return  # the statements of a capture block give names to what the graph computes
    key = global_key(frame.module, name)
    stays = is_put_back(decl, name) or is_kept(decl, name, node) or _is_filled_once(decl, name, node)
    sure = Confidence.POSSIBLE if stays else Confidence.CERTAIN
    frame.emit(HostMutation, node, sure, target=name, what="global", keys=(key,))
    frame.touch(key, is_store=True)


def _is_filled_once(decl: FunctionDecl, name: str, node: ast.AST) -> bool:
    """Whether an `if` around an assignment asks if what it fills is still None."""
    return any(is_none_asked(each.test, (name,)) and stands_in(each.body, node) for each in decl.every(ast.If))


def _unpack(frame: Frame, targets: list[ast.expr], value: Value, node: ast.AST) -> None:
    if isinstance(value, Seq) and value.items is not None and len(value.items) == len(targets):
        if not any(isinstance(target, ast.Starred) for target in targets):
            for target, part in zip(targets, value.items):
                assign(frame, target, part, node)
            return
    for position, target in enumerate(targets):
        part = _part(frame, value, position, node) if not isinstance(target, ast.Starred) else element(frame, value, node)
        assign(frame, target, part, node)


def _part(frame: Frame, value: Value, position: int, node: ast.AST) -> Value:
    """Element number `position` of what is unpacked."""
    found = [
        item(frame, member, Number(value=position), node) if isinstance(member, Seq) else element(frame, member, node)
        for member in members(value)
        if not isinstance(member, Nothing)
    ]
    return join_all(found) if found else Unknown()


def is_tensor(value: Value) -> bool:
    """Whether a value is a tensor wherever it is not None."""
    held = [each for each in members(value) if not isinstance(each, Nothing)]
    return bool(held) and all(isinstance(each, Tensor) for each in held)


def in_place(old: Value, new: Value) -> Value:
    """What is written, as what it was before."""
    return new.replace(role=old.role) if isinstance(old, Tensor) and isinstance(new, Tensor) else new
