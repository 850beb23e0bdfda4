"""Modules that are moved while a region runs: each parameter is a copy, refused from and to pageable memory.

A module that the region makes itself has its parameters on the host unless it is told a device; any other has moved
before the capture.
"""

from __future__ import annotations

import ast

from graphlint.effects.table import lookup
from graphlint.events import DeviceToHost, HostToDevice
from graphlint.interp.carried import is_settled
from graphlint.interp.dispatch import apply, attribute
from graphlint.interp.facts import MODE
from graphlint.interp.frame import Frame
from graphlint.interp.handlers import first, method, module_method
from graphlint.interp.objects import is_module
from graphlint.interp.placement import default_place, place_named
from graphlint.syntax import spelled, stands_in
from graphlint.types import Confidence
from graphlint.values import (
    FALSE,
    TRUE,
    Arguments,
    ExternalObject,
    Instance,
    Nothing,
    Place,
    Seq,
    Table,
    Tensor,
    Unknown,
    Value,
    join_all,
    members,
)

MOVES = ("to", "cuda", "cpu")
SAME = ("eval", "train", "half", "float", "double", "bfloat16", "requires_grad_", "share_memory", "compile")


def made(frame: Frame, name: str, arguments: Arguments) -> ExternalObject:
    """A module of torch's; one that a region makes is on the host if it has parameters and is given no device."""
    new = frame.recording and _has_parameters(name) and _is_unplaced(arguments) and default_place(frame) is Place.HOST
    return ExternalObject(name, arguments, Place.HOST if new else Place.UNKNOWN)


def _has_parameters(name: str) -> bool:
    """The constructors of modules with parameters or buffers take the device for them."""
    row = lookup(name)
    return row is not None and any(parameter.name == "device" for parameter in row.parameters)


def _is_unplaced(arguments: Arguments) -> bool:
    given = arguments.keyword("device")
    return arguments.more_keywords is None and (given is None or isinstance(given, Nothing))


def moved(frame: Frame, receiver: Value, arguments: Arguments, node: ast.AST) -> Value:
    """The module where `to`, `cuda` or `cpu` puts it."""
    name = node.func.attr if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else ""
    place = _target(name, arguments)
    if place is None or not frame.recording:
        return receiver
    parts = [each for each in _parts(receiver) if isinstance(each, Tensor) or _has_parameters(each.name)]
    if place is Place.HOST and any(each.place is not Place.HOST for each in parts):
        frame.emit(DeviceToHost, node, Confidence.LIKELY, call=name)
    elif place is not Place.HOST and any(each.place is Place.HOST for each in parts):
        frame.emit(HostToDevice, node, Confidence.LIKELY, call=name, origin="")
    return _settled(receiver, place)


def _target(name: str, arguments: Arguments) -> Place | None:
    if name in ("cuda", "cpu"):
        return Place.DEVICE if name == "cuda" else Place.HOST
    given = first(arguments, 0, "device")
    return None if name != "to" or given is None else place_named(given)


def _parts(receiver: Value) -> list[ExternalObject | Tensor]:
    """Modules of torch's, and the tensors of a list of parameters."""
    if isinstance(receiver, (Seq, Table)):
        known = [each for _, each in receiver.items] if isinstance(receiver, Table) else receiver.items or ()
        held = (*known, *([receiver.rest] if receiver.rest is not None else []))
        return [part for each in held for member in members(each) for part in _parts(member)]
    return [receiver] if isinstance(receiver, (ExternalObject, Tensor)) else []


def _settled(receiver: Value, place: Place) -> Value:
    there = Place.HOST if place is Place.HOST else Place.UNKNOWN
    if isinstance(receiver, ExternalObject):
        return receiver.replace(place=there)
    if isinstance(receiver, Tensor):
        return receiver.replace(place=place)
    if isinstance(receiver, Table):
        entries = tuple((key, _each(each, place)) for key, each in receiver.items)
        return receiver.replace(items=entries, rest=None if receiver.rest is None else _each(receiver.rest, place))
    if isinstance(receiver, Seq):
        items = None if receiver.items is None else tuple(_each(item, place) for item in receiver.items)
        return receiver.replace(items=items, rest=None if receiver.rest is None else _each(receiver.rest, place))
    return receiver


def _each(value: Value, place: Place) -> Value:
    return join_all([_settled(member, place) for member in members(value)])


@module_method("eval", "train")
def switched(frame: Frame, receiver: Value, arguments: Arguments, node: ast.AST) -> Value:
    """A module of torch's with its mode, which is kept among what it was made with."""
    if not isinstance(receiver, ExternalObject) or receiver.arguments is None or not isinstance(node, ast.Call):
        return receiver
    mode = (
        FALSE if isinstance(node.func, ast.Attribute) and node.func.attr == "eval" else first(arguments, 0, "mode") or TRUE
    )
    others = tuple((name, value) for name, value in receiver.arguments.keywords if name != MODE)
    changed = receiver.replace(arguments=receiver.arguments.replace(keywords=(*others, (MODE, mode))))
    owner = node.func.value if isinstance(node.func, ast.Attribute) else None
    if isinstance(owner, ast.Name) and frame.env.get(owner.id) is receiver:
        frame.env[owner.id] = changed
    return changed


@method(Table, *MOVES)
def table(frame: Frame, receiver: Value, arguments: Arguments, node: ast.AST) -> Value:
    """`nn.ModuleDict(...).to(device)`, and what else has names and is moved as a whole."""
    return moved(frame, receiver, arguments, node)


@method(Seq, *MOVES, *SAME)
def container(frame: Frame, receiver: Value, arguments: Arguments, node: ast.AST) -> Value:
    """`nn.Sequential(...).to(device).eval()` is the container still; a hint of several tensors may stand for one."""
    assert isinstance(receiver, Seq)
    if receiver.form in ("modules", "sequential"):
        return moved(frame, receiver, arguments, node)
    held = receiver.element() if receiver.items != () else Unknown()
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return Unknown()
    return apply(frame, attribute(frame, held, node.func.attr, node), arguments, node)


def moving(frame: Frame) -> tuple[type[ast.expr], ...]:
    """What binds an attribute to itself for good; an object that is no module may be made for each call."""
    receiver = frame.receiver
    is_kept = isinstance(receiver, Instance) and is_module(frame.machine, receiver.decl)
    return (ast.Call, ast.ListComp) if is_kept else (ast.ListComp,)


def stays_there(frame: Frame, node: ast.AST, bound: tuple[type[ast.expr], ...]) -> bool:
    """`self.sizes = self.sizes.cpu()`: whether an attribute is bound to itself, moved, which the first call has done.

    So are the items of a list in `self.tables = [table.to(device) for table in self.tables]`; `bound` is what is bound.
    """
    assigned = frame.summary.decl.every(ast.Assign) if frame.summary.decl is not None else []
    around = [each for each in assigned if isinstance(each.value, bound) and stands_in((each.value,), node)]
    targets = [(to, each.value) for each in around for to in each.targets if isinstance(to, ast.Attribute)]
    return any(_is_moved(value, to) and _outlives(frame, to.value) for to, value in targets)


def _outlives(frame: Frame, holder: ast.expr) -> bool:
    """Whether no object that an expression may stand for is made by the region itself, anew in every call."""
    held = members(frame.env.get(spelled(holder), Unknown()))
    return not any(isinstance(each, Instance) and each.fresh for each in held)


def _is_moved(value: ast.expr, target: ast.Attribute) -> bool:
    match value:
        case ast.Call(func=ast.Attribute(value=ast.Attribute() as owner, attr="cpu")):
            return spelled(owner) == spelled(target)
    return is_settled(value, spelled(target))
