"""`with` blocks: what entering one gives, and what it changes inside."""

from __future__ import annotations

import ast
from collections.abc import Callable

from graphlint.events import Synchronize
from graphlint.interp.carried import Touch
from graphlint.interp.dispatch import apply, attribute, element
from graphlint.interp.frame import Frame, Link, Summary
from graphlint.interp.machine import Capture
from graphlint.interp.warmth import is_told_whole
from graphlint.project import FunctionDecl, Outside
from graphlint.syntax import nested, walk
from graphlint.types import Region, Target
from graphlint.values import (
    Arguments,
    DeviceValue,
    ExternalObject,
    Function,
    Instance,
    Opaque,
    Place,
    Seq,
    Tensor,
    Unknown,
    Value,
    join_all,
    members,
)


def _nothing() -> None:
    return


CAPTURE = "<capture>"
CAPTURES = {"torch.cuda.graph", "torch.cuda.graphs.graph"}


def enter(frame: Frame, value: Value, node: ast.expr) -> tuple[Value, Callable[[], None]]:
    """(what `as` binds, how to leave)."""
    if isinstance(value, DeviceValue):
        frame.devices.append(value)
        return value, lambda: _leave_device(frame)
    if (isinstance(value, ExternalObject) and value.name in CAPTURES) or _captures(frame, node):
        return value, _start_capture(frame, node)
    if isinstance(value, Instance):
        return _enter_instance(frame, value, node), _nothing
    if isinstance(value, Seq) and value.form == "iter":
        return element(frame, value, node), _nothing
    return (value if not isinstance(value, Opaque) else Opaque()), _nothing


def _captures(frame: Frame, node: ast.expr) -> bool:
    """Whether an expression calls a context manager of the tree that yields inside a capture."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        return False
    found = frame.machine.project.lookup(frame.module, node.func.id)
    if not isinstance(found, FunctionDecl) or not isinstance(found.node.body, list):
        return False
    return any(
        isinstance(each, ast.With)
        and any(_is_capture(frame, found, item.context_expr) for item in each.items)
        and any(isinstance(part, ast.Yield) for part in walk(each))
        for each in nested(found.node.body)
    )


def _is_capture(frame: Frame, decl: FunctionDecl, node: ast.expr) -> bool:
    called = frame.machine.project.dotted(decl.module, node.func) if isinstance(node, ast.Call) else None
    return isinstance(called, Outside) and called.name in CAPTURES


def _leave_device(frame: Frame) -> None:
    frame.devices.pop()


def _start_capture(frame: Frame, node: ast.expr) -> Callable[[], None]:
    """What runs from here to the end of the block is a region of its own."""
    if frame.recording:
        # Entering a capture synchronises, which a capture that is under way refuses.
        frame.emit(Synchronize, node, call="torch.cuda.graph")
    was, outer, whole = frame.recording, frame.summary, is_told_whole(frame)
    frame.machine.capturing += whole
    if outer.name == CAPTURE:
        frame.emit(Synchronize, node, call="torch.cuda.graph")
    summary = Summary(CAPTURE)
    _mark_outside(frame)
    region = Region(f"{frame.module.name}.{outer.name}", "capture", frame.span(node)._replace(end_line=node.lineno))
    frame.recording, frame.summary = True, summary

    def leave() -> None:
        frame.recording, frame.summary = was, outer
        frame.machine.capturing -= whole
        root = Summary(CAPTURE)
        root.links.append(Link(region.span, summary, Target.GRAPH))
        root.touched[Touch(summary, False, ())] = None
        frame.machine.captures.append(Capture(region, root, Target.GRAPH))

    return leave


def _mark_outside(frame: Frame) -> None:
    """Host tensors made before the capture can change between replays, which read what they held at capture."""
    for name, value in frame.env.items():
        frame.env[name] = as_input(value)


def as_input(value: Value) -> Value:
    """The value with its host tensors marked as given from outside the region."""
    return join_all(
        [
            each.replace(role="input") if isinstance(each, Tensor) and each.place is Place.HOST and not each.role else each
            for each in members(value)
        ]
    )


def _enter_instance(frame: Frame, value: Instance, node: ast.expr) -> Value:
    method = attribute(frame, value, "__enter__", node)
    return apply(frame, method, Arguments(), node) if isinstance(method, Function) else Unknown()
