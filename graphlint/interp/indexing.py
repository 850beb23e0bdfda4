"""Indexing: reads and stores through integers, slices, masks, lists and tensors.

On a device tensor a boolean mask has to be counted, a 0-d device index or bound has to be read, a list or host tensor
has to be uploaded, and a Python number can be stored only where a kernel takes it as an argument.  Measured on an H200
with torch 2.11 (see the recorded operator verdicts).
"""

from __future__ import annotations

import ast

from graphlint.events import DeviceToHost, HostIndex, MaskIndex, TensorBound
from graphlint.interp.dispatch import ITEMS, apply, attribute, item, register
from graphlint.interp.drifting import drifting_entry
from graphlint.interp.entries import with_entry
from graphlint.interp.frame import Frame, expression
from graphlint.interp.frozen import note_bounds, taken
from graphlint.interp.members import is_of_optimizer
from graphlint.interp.mutation import is_shared, path_of, report_stored
from graphlint.interp.naming import is_mask
from graphlint.interp.objects import store_attribute
from graphlint.interp.operators import place_of, role_of
from graphlint.interp.ranks import is_of_array, is_of_bytes, is_sure_mask, one_index
from graphlint.interp.stores import stored_value
from graphlint.interp.untraced import ask, or_number
from graphlint.syntax import last
from graphlint.types import Confidence
from graphlint.values import (
    MOVED,
    READ_BACK,
    Arguments,
    ExternalObject,
    Function,
    Instance,
    Kind,
    Nothing,
    Number,
    Origin,
    Place,
    Seq,
    SliceValue,
    Table,
    Tensor,
    Text,
    Union,
    Unknown,
    Value,
    join,
    members,
    on_device,
    one_of,
    tensors_in,
)


@expression(ast.Subscript)
def eval_subscript(frame: Frame, node: ast.Subscript) -> Value:
    owner = frame.eval(node.value)
    index = frame.eval(node.slice)
    path = subscript_path(node)
    if path is not None and path in frame.env:
        return frame.env[path]
    found = item(frame, owner, index, node)
    if type(index) is Number and index.origin is Origin.STATE:
        found = taken(owner, found) if type(owner) is Tensor else _picked(frame, found, node)
    if type(found) is Unknown and type(node.slice) is ast.Constant and is_of_optimizer(frame.machine, frame.receiver):
        from graphlint.interp.stepped import entry  # few files have optimizers of their own

        return entry(frame, node) or found
    return drifting_entry(frame, node, found) if type(found) is Number else found


def _picked(frame: Frame, found: Value, node: ast.Subscript) -> Value:
    from graphlint.interp.picked import picked  # here because few containers are asked for a place that moves on

    return picked(frame, found, node)


def subscript_path(node: ast.Subscript) -> str | None:
    """`state["h"]` as one word, so that a check on it narrows the next read."""
    base = path_of(node.value)
    if base is None or not isinstance(node.slice, ast.Constant) or not isinstance(node.slice.value, str):
        return None
    return f"{base}.[{node.slice.value}]"


@expression(ast.Slice)
def eval_slice(frame: Frame, node: ast.Slice) -> Value:
    parts = [Nothing() if part is None else frame.eval(part) for part in (node.lower, node.upper, node.step)]
    return SliceValue(parts[0], parts[1], parts[2])


@register(ITEMS, Tensor)
def tensor_item(frame: Frame, tensor: Tensor, index: Value, node: ast.AST) -> Value:
    """`tensor[index]`."""
    if isinstance(index, Text) and (index.value is not None or tensor.sure is Confidence.POSSIBLE):
        return Unknown()
    # What is a tensor is indexed by a key of a dictionary that is a number: `for row, g in self.gens.items()`.
    for part, place in _parts(index, node):
        for member in members(part):
            _read_part(frame, tensor, member, place, node)
    note_bounds(frame, tensor, [part for part, _ in _parts(index, node)], node)
    return _selected(tensor, index)


def _parts(index: Value, node: ast.AST) -> list[tuple[Value, ast.AST]]:
    """The components of an index with the expression of each."""
    written = node.slice if isinstance(node, ast.Subscript) else node
    if isinstance(index, Seq) and index.form == "tuple" and index.items is not None:
        places = (
            written.elts
            if isinstance(written, ast.Tuple) and len(written.elts) == len(index.items)
            else [written] * len(index.items)
        )
        return list(zip(index.items, places))
    if isinstance(index, Union):
        return [(index, written)]
    return [(index, written)]


def _read_part(frame: Frame, tensor: Tensor, part: Value, place: ast.AST, node: ast.AST) -> None:
    """One component of an index that is read through."""
    if isinstance(part, SliceValue):
        _bounds(frame, tensor, part, node)
    elif isinstance(part, Tensor):
        _tensor_part(frame, tensor, part, place, node)
    elif isinstance(part, Seq) and part.form in ("list", "tuple", "iter"):
        _list_part(frame, tensor, part, node)
    elif isinstance(part, ExternalObject) and part.name == "numpy.number":
        ask(frame, part, node, "an index")
    elif isinstance(part, ExternalObject) and part.name.startswith("numpy.") and tensor.place is Place.DEVICE:
        frame.emit(HostIndex, node, min(tensor.sure, Confidence.LIKELY), what="array")


def _bounds(frame: Frame, tensor: Tensor, part: SliceValue, node: ast.AST) -> None:
    for bound in (part.low, part.high, part.step):
        for member in members(bound):
            if isinstance(member, Tensor) and member.place is Place.DEVICE:
                frame.emit(TensorBound, node, member.sure, role="slice bound", or_number=or_number(bound))
        ask(frame, bound, node, "a slice bound")


def _tensor_part(frame: Frame, tensor: Tensor, part: Tensor, place: ast.AST, node: ast.AST) -> None:
    if part.place is Place.DEVICE:
        if tensor.place is Place.HOST:
            frame.emit(HostIndex, node, min(tensor.sure, part.sure), what="device index into a host tensor")
        elif tensor.place is Place.DEVICE and (mask := _as_mask(frame, part, place)) is not None:
            sure = max(tensor.sure, Confidence.LIKELY) if is_sure_mask(part) else tensor.sure
            # Nobody selects from a tensor with the one answer that comparing numbers gives.
            told = tensor.sure is Confidence.CERTAIN and part.kind is Kind.BOOL
            frame.emit(MaskIndex, node, min(max(mask.sure, Confidence.LIKELY) if told else mask.sure, sure), store=False)
        elif part.rank == 0 and part.kind is not Kind.BOOL:
            frame.emit(TensorBound, node, part.sure, role="index")
    elif part.rank == 0 or part.kind is Kind.BOOL:
        ask(frame, part, node, "an index")
    elif part.place is Place.HOST and tensor.place is Place.DEVICE:
        _looks_up(frame, tensor, part, place, node)


def _looks_up(frame: Frame, tensor: Tensor, part: Tensor, place: ast.AST, node: ast.AST) -> None:
    """A host tensor as an index; Inductor makes a range of numbers, or a mask, itself on the device."""
    told = last(place.func) == "tensor" if isinstance(place, ast.Call) else last(place) not in ("", *frame.env)
    numbers = part.kind is Kind.INT and (told or part.role not in ("", READ_BACK))
    frame.emit(HostIndex, node, min(tensor.sure, part.sure), what="host tensor", numbers=numbers)


def _list_part(frame: Frame, tensor: Tensor, part: Seq, node: ast.AST) -> None:
    if tensor.place is not Place.DEVICE or part.items == ():
        return
    if (part.items is None and part.form == "tuple") or _gathers(part):
        _components(frame, tensor, part, node)
        return
    if not _cuts(part):
        sure = tensor.sure if part.form == "list" else min(tensor.sure, Confidence.LIKELY)
        frame.emit(HostIndex, node, sure, what="list")


def _cuts(part: Seq) -> bool:
    """Slices among the parts: a component each, of which nothing is uploaded."""
    return any(isinstance(member, (SliceValue, Nothing)) for member in members(part.element()))


def _gathers(part: Seq) -> bool:
    """Only tensors among the parts: torch takes a list with one for a tuple, as NumPy did (measured, torch 2.13)."""
    return part.form != "tuple" and all(isinstance(member, Tensor) for member in members(part.element()))


def _components(frame: Frame, tensor: Tensor, part: Seq, node: ast.AST) -> None:
    for member in members(part.element()):
        _read_part(frame, tensor, member, node, node)


def _selected(tensor: Tensor, index: Value) -> Value:
    """What indexing gives: the place and kind of the tensor; the rank where every component is understood."""
    return Tensor(
        tensor.place,
        tensor.kind,
        rank_after(tensor.rank, index),
        tensor.sure,
        tensor.role if tensor.role in ("input", MOVED, READ_BACK) else role_of(place_of(tensor, index), tensor, index),
    )


def rank_after(rank: int | None, index: Value) -> int | None:
    """The rank that is left by an index; None when it cannot be told."""
    if rank is None:
        return None
    parts = index.items if isinstance(index, Seq) and index.form == "tuple" else (index,)
    if parts is None:
        return None
    advanced: list[int] = []
    for part in parts:
        if isinstance(part, (Number,)):
            rank -= 1
        elif isinstance(part, Nothing):
            rank += 1
        elif isinstance(part, Tensor):
            if part.rank is None or part.kind is Kind.BOOL:
                return None
            rank -= 1
            advanced.append(part.rank)
        elif isinstance(part, Seq):
            rank -= 1
            advanced.append(1)
        elif not isinstance(part, SliceValue) and not _is_ellipsis(part):
            return None
    rank += max(advanced, default=0)
    return rank if rank >= 0 else None


def _is_ellipsis(value: Value) -> bool:
    return isinstance(value, ExternalObject) and value.name == "builtins.Ellipsis"


@register(ITEMS, Seq)
def sequence_item(frame: Frame, sequence: Seq, index: Value, node: ast.AST) -> Value:
    for member in members(index):
        if isinstance(member, Tensor) and (sure := one_index(member)) is not None:
            if member.place is Place.DEVICE:
                frame.emit(TensorBound, node, sure, role="index")
            else:
                ask(frame, member, node, "an index")
        if isinstance(member, SliceValue):
            _bounds(frame, Tensor(), member, node)
            return _sliced(sequence, member)
    if isinstance(index, Number) and isinstance(index.value, int) and sequence.items is not None:
        count = len(sequence.items)
        if sequence.rest is None and -count <= index.value < count:
            return sequence.items[index.value]
        if 0 <= index.value < count:
            return sequence.items[index.value]
        if index.value >= count and sequence.rest is not None:
            return one_of(sequence.rest)
    return one_of(sequence.element())


def _sliced(sequence: Seq, bounds: SliceValue) -> Value:
    if sequence.items is None or sequence.rest is not None:
        return sequence if sequence.items is None else Seq(sequence.form, None, sequence.element())
    limits: list[int | None] = []
    for bound in (bounds.low, bounds.high, bounds.step):
        if isinstance(bound, Nothing):
            limits.append(None)
        elif isinstance(bound, Number) and isinstance(bound.value, int):
            limits.append(bound.value)
        else:
            return Seq(sequence.form, None, sequence.element())
    return sequence.replace(items=sequence.items[slice(*limits)]) if limits[2] != 0 else sequence


@register(ITEMS, Unknown)
def unknown_item(frame: Frame, owner: Unknown, index: Value, node: ast.AST) -> Value:
    """Whatever is cut, Python reads a bound that is on the device."""
    for part, _ in _parts(index, node):
        if isinstance(part, SliceValue):
            _bounds(frame, SOMETHING, part, node)
        elif is_sure_mask(part):
            frame.emit(MaskIndex, node, Confidence.LIKELY, store=False)
    if isinstance(node, ast.Subscript) and is_of_array(index, node.slice):
        frame.emit(HostIndex, node, Confidence.LIKELY, what="list")
    return Unknown()


SOMETHING = Tensor(Place.DEVICE, Kind.ANY, None, Confidence.LIKELY)


@register(ITEMS, Text)
def text_item(frame: Frame, text: Text, index: Value, node: ast.AST) -> Value:
    sequence_item(frame, Seq("tuple", None, Text()), index, node)
    return Text()


def store_item(frame: Frame, owner: Value, index: Value, value: Value, target: ast.Subscript) -> None:
    """`owner[index] = value`."""
    for member in members(owner):
        if isinstance(member, Tensor):
            for chosen in members(index) if isinstance(index, Union) else (index,):
                _store_tensor(frame, member, chosen, value, target)
        elif isinstance(member, (Table, Seq)):
            _store_container(frame, member, index, value, target)
        elif isinstance(member, Instance):
            _store_instance(frame, member, index, value, target)


def _store_instance(frame: Frame, owner: Instance, index: Value, value: Value, target: ast.Subscript) -> None:
    method = attribute(frame, owner, "__setitem__", target)
    if isinstance(method, Function):
        apply(frame, method, Arguments((index, value)), target)


def _store_container(frame: Frame, owner: Table | Seq, index: Value, value: Value, target: ast.Subscript) -> None:
    path = path_of(target.value)
    if path is None:
        return
    key = index.value if isinstance(index, (Text, Number)) else None
    changed: Value
    if isinstance(owner, Table):
        changed = with_entry(owner, key, value)
    else:
        changed = Seq(owner.form, None, join(owner.element(), value) if owner.items or owner.rest else value)
    frame.env[path] = changed
    if isinstance(target.value, ast.Attribute):
        store_attribute(frame, frame.eval(target.value.value), target.value.attr, changed)
    # Of what is copied to the host it is told where that is done.
    if all(each.role == READ_BACK for each in tensors_in(value, 1)):
        return
    if path in frame.inputs or "." in path or is_shared(frame, path):
        report_stored(frame, target)


def _store_tensor(frame: Frame, tensor: Tensor, index: Value, value: Value, target: ast.Subscript) -> None:
    if tensor.place is not Place.DEVICE:
        if tensor.place is Place.HOST:
            _store_into_host(frame, tensor, index, value, target)
        return
    pairs = _parts(index, target)
    if isinstance(index, Seq) and index.form == "tuple" and index.items is None:
        pairs = [(part, target.slice) for part in members(index.element())]
    parts = [part for part, _ in pairs]
    for part, place in pairs:
        if isinstance(part, SliceValue):
            _bounds(frame, tensor, part, target)
        elif isinstance(part, Seq) and part.form in ("list", "tuple") and part.items != () and not _cuts(part):
            frame.emit(HostIndex, target, tensor.sure, what="list")
        elif isinstance(part, Tensor) and part.place is Place.HOST and part.rank != 0:
            _looks_up(frame, tensor, part, place, target)
        elif isinstance(part, Tensor) and part.place is Place.DEVICE and part.rank == 0 and part.kind is not Kind.BOOL:
            frame.emit(TensorBound, target, part.sure, role="index")
    note_bounds(frame, tensor, parts, target)
    chosen = ((each, place) for part, place in _parts(index, target) for each in members(part))
    masks = [mask for each, place in chosen if (mask := _as_mask(frame, each, place)) is not None]
    stored_value(frame, tensor, masks, parts, value, target)


def _store_into_host(frame: Frame, tensor: Tensor, index: Value, value: Value, target: ast.Subscript) -> None:
    found = on_device(value) if isinstance(value, (Tensor, Union)) else None
    if found is not None:
        frame.emit(DeviceToHost, target, min(found.sure, tensor.sure), call=ast.unparse(target))


def _as_mask(frame: Frame, part: Value, place: ast.AST) -> Tensor | None:
    """A component of an index that selects by truth, as its kind or else its name says."""
    if not isinstance(part, Tensor) or part.place is not Place.DEVICE:
        return None
    if part.kind is Kind.BOOL:
        return part
    if part.kind is Kind.INT:
        return part if is_of_bytes(frame, place) else None
    by_name = part.kind is Kind.ANY and is_mask(last(place))
    return part.replace(sure=min(part.sure, Confidence.LIKELY)) if by_name else None
