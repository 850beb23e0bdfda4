"""`with` blocks: what entering one gives, and what it changes inside."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import partial

from graphlint.captors import BEGINS, ENDS, region_name
from graphlint.effects.table import lookup
from graphlint.events import Synchronize
from graphlint.interp import untraced
from graphlint.interp.capturing import STACK, begins, close, close_to
from graphlint.interp.carried import Touch
from graphlint.interp.dispatch import apply, attribute, element
from graphlint.interp.frame import Frame, Link, Opened, Summary
from graphlint.interp.machine import Capture
from graphlint.interp.torch_calls import call_row
from graphlint.interp.warmth import is_told_whole
from graphlint.outline import mentions
from graphlint.project import FunctionDecl, Outside
from graphlint.syntax import nested, walk
from graphlint.types import Confidence, Region, Target
from graphlint.values import (
    Arguments,
    DeviceValue,
    ExternalObject,
    Function,
    Instance,
    Nothing,
    Opaque,
    Place,
    Seq,
    Table,
    Tensor,
    Unknown,
    Value,
    join_all,
    members,
    tensors_in,
)


def _nothing() -> None:
    return


CAPTURE = "<capture>"
CAPTURES = {"torch.cuda.graph", "torch.cuda.graphs.graph"}


def enter(frame: Frame, value: Value, node: ast.expr) -> tuple[Value, Callable[[], None]]:
    """(what `as` binds, how to leave)."""
    if isinstance(value, DeviceValue):
        untraced.split(frame, node, Confidence.CERTAIN, "torch.device", "Dynamo does not trace this context manager")
        frame.devices.append(value)
        return value, lambda: _leave_device(frame)
    if any(map(_is_capture_object, members(value))) or _captures(frame, node, value):
        return value, _start_capture(frame, node)
    if isinstance(value, ExternalObject) and value.name == STACK:
        opened = frame.opened
        return value, lambda: close_to(frame, opened)
    if isinstance(value, Instance):
        opened = frame.opened
        entered = _enter_instance(frame, value, node)
        if _derives_from_capture(frame, value):
            return value, _start_capture(frame, node)
        take_switch(frame, node)
        return entered, partial(_leave_instance, frame, value, node, opened, frame.live)
    if isinstance(value, ExternalObject) and lookup(f"{value.name}.__enter__") is not None:
        return call_row(frame, f"{value.name}.__enter__", Arguments(), node, value, value), _nothing
    if isinstance(value, Seq) and value.form == "iter":
        return element(frame, value, node), _nothing
    return (value if not isinstance(value, Opaque) else Opaque()), _nothing


def _is_capture_object(value: Value) -> bool:
    return isinstance(value, ExternalObject) and value.name in CAPTURES


def _derives_from_capture(frame: Frame, value: Instance) -> bool:
    bases = frame.machine.project.mro(value.decl)
    return any(isinstance(base, Outside) and base.name in CAPTURES for base in bases)


def switch(frame: Frame, node: ast.expr) -> bool:
    """Run a statement that opens or closes a capture by itself; False if it does neither."""
    match node:
        case ast.Call(func=ast.Attribute(value=owner, attr=name), args=args) if name in SWITCHES:
            SWITCHES[name](frame, node, owner, args)
            return True
    return False


def _begin(frame: Frame, node: ast.Call, owner: ast.expr, args: list[ast.expr]) -> None:
    frame.eval(node)
    _open(frame, node)


def _end(frame: Frame, node: ast.Call, owner: ast.expr, args: list[ast.expr]) -> None:
    frame.eval(node)
    close(frame)


def _enter_context(frame: Frame, node: ast.Call, owner: ast.expr, args: list[ast.expr]) -> None:
    """`stack.enter_context(...)`, or `context.__enter__()`."""
    entered = args[0] if args else owner
    value, opened, was = frame.eval(entered), frame.opened, (frame.recording, frame.summary)
    _, leave = enter(frame, value, entered)
    if frame.opened is opened and leave is not _nothing:
        frame.opened = (*opened, Opened(leave, *was))


def _leave_context(frame: Frame, node: ast.Call, owner: ast.expr, args: list[ast.expr]) -> None:
    """`context.__exit__(...)`."""
    frame.eval(node)
    if frame.opened or _is_capture_object(frame.eval(owner)):
        close(frame)


def _close_stack(frame: Frame, node: ast.Call, owner: ast.expr, args: list[ast.expr]) -> None:
    """`stack.close()`."""
    frame.eval(node)
    value = frame.eval(owner) if frame.opened else None
    if isinstance(value, ExternalObject) and value.name == STACK:
        close_to(frame, ())


SWITCHES: dict[str, Callable[[Frame, ast.Call, ast.expr, list[ast.expr]], None]] = {
    BEGINS: _begin,
    ENDS: _end,
    "enter_context": _enter_context,
    "__enter__": _enter_context,
    "__exit__": _leave_context,
    "close": _close_stack,
}


def take_switch(frame: Frame, node: ast.expr) -> None:
    """Open and close what functions that were called have opened and closed for their caller."""
    while frame.switched:
        if frame.switched > 0:
            frame.switched -= 1
            _open(frame, node)
        else:
            frame.switched += 1
            close(frame)


def _open(frame: Frame, node: ast.expr) -> None:
    was = frame.recording, frame.summary
    frame.opened = (*frame.opened, Opened(_start_capture(frame, node), *was))


def _captures(frame: Frame, node: ast.expr, value: Value) -> bool:
    """Whether an expression calls a context manager of the tree that yields inside a capture."""
    if not isinstance(node, ast.Call):
        return False
    found: object = None
    if isinstance(node.func, ast.Name):
        found = frame.machine.project.lookup(frame.module, node.func.id)
    elif isinstance(value, Seq) and value.form == "iter":
        callee = frame.eval(node.func)
        found = callee.decl if isinstance(callee, Function) else None
    if not isinstance(found, FunctionDecl) or not isinstance(found.node.body, list):
        return False
    return _yields_captured(frame, found)


def _yields_captured(frame: Frame, decl: FunctionDecl) -> bool:
    """Whether a generator yields in a block that captures, or behind the beginning of a capture."""
    if mentions(decl.node, BEGINS) and begins(decl.node):
        return any(isinstance(part, ast.Yield) for part in walk(decl.node))
    return any(
        isinstance(each, ast.With)
        and any(_is_capture(frame, decl, item.context_expr) for item in each.items)
        and any(isinstance(part, ast.Yield) for part in walk(each))
        for each in nested(decl.node.body)  # type: ignore[arg-type]  # the caller has asked
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
    name = region_name(frame.module, frame.decl.node if frame.decl else None, outer.name)
    region = Region(name, "capture", frame.span(node)._replace(end_line=node.lineno))
    if not was:
        # Code around that runs once, such as `if self.graph is None:`, runs for the sake of this.
        frame.ceiling = Confidence.CERTAIN
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
    """The value with its host tensors, and those that it holds, marked as given from outside the region."""
    return join_all([_as_input(each) for each in members(value)])


def _as_input(value: Value) -> Value:
    if isinstance(value, Tensor):
        return value.replace(role="input") if value.place is Place.HOST and not value.role else value
    if not any(each.place is Place.HOST for each in tensors_in(value)):
        return value
    if isinstance(value, Seq):
        items = None if value.items is None else tuple([as_input(each) for each in value.items])
        return value.replace(items=items, rest=None if value.rest is None else as_input(value.rest))
    if isinstance(value, Table):
        entries = tuple([(key, as_input(each)) for key, each in value.items])
        return value.replace(items=entries, rest=None if value.rest is None else as_input(value.rest))
    return value


def _leave_instance(frame: Frame, value: Instance, node: ast.expr, opened: tuple[Opened, ...], live: Target) -> None:
    """Closes what the `__enter__` of an object opened, or runs its `__exit__`, also behind a `return`."""
    if frame.opened is not opened:
        close_to(frame, opened)
    elif frame.recording and frame.machine.project.member(value.decl, "__exit__") is not None:
        was, frame.live = frame.live, frame.live or live
        method = attribute(frame, value, "__exit__", node)
        if isinstance(method, Function):
            apply(frame, method, Arguments((Nothing(), Nothing(), Nothing())), node)
        frame.live = was


def _enter_instance(frame: Frame, value: Instance, node: ast.expr) -> Value:
    method = attribute(frame, value, "__enter__", node)
    return apply(frame, method, Arguments(), node) if isinstance(method, Function) else Unknown()
