"""Values that are stored through an index of a device tensor, and how they get there."""

from __future__ import annotations

import ast

from graphlint.events import HostToDevice, MaskIndex, ScalarStore
from graphlint.interp.frame import Frame
from graphlint.interp.frozen import note_frozen
from graphlint.types import Confidence
from graphlint.values import Bool, Kind, Number, Opaque, Place, SliceValue, Tensor, Value, members


def stored_value(
    frame: Frame, tensor: Tensor, masks: list[Tensor], parts: list[Value], value: Value, target: ast.Subscript
) -> None:
    """What `tensor[parts] = value` does with the value; `masks` are those of the parts that select by truth."""
    device_value = next(
        (member for member in members(value) if isinstance(member, Tensor) and member.place is Place.DEVICE), None
    )
    if masks and device_value is not None:
        frame.emit(MaskIndex, target, min(masks[0].sure, device_value.sure), store=True)
        return
    host = next((member for member in members(value) if isinstance(member, Tensor) and member.place is Place.HOST), None)
    if host is not None and not masks:
        if host.rank == 0 and _is_block(tensor, parts):
            # What has no dimensions fills a block: a kernel takes its value. A single element is a copy.
            note_frozen(frame, (tensor, host), target)
            return
        block = host.rank == 0 and tensor.rank is None and len(parts) == 1 and isinstance(parts[0], Number)
        sure = Confidence.POSSIBLE if block else min(tensor.sure, host.sure)
        frame.emit(HostToDevice, target, sure, call=ast.unparse(target), origin="")
        return
    if masks or not all(isinstance(member, (Number, Bool, Opaque)) for member in members(value)):
        return
    _scalar(frame, tensor, parts, target)


def _is_block(tensor: Tensor, parts: list[Value]) -> bool:
    """Whether integers and slices choose more than one element."""
    if not all(isinstance(part, (Number, SliceValue)) for part in parts):
        return False
    cut = any(isinstance(part, SliceValue) for part in parts)
    return cut or (tensor.rank is not None and len(parts) < tensor.rank)


def _scalar(frame: Frame, tensor: Tensor, parts: list[Value], target: ast.Subscript) -> None:
    """A Python number stored through an integer index tensor, or into a single element."""
    indices = [
        part for part in parts if isinstance(part, Tensor) and part.kind is not Kind.BOOL and part.place is Place.DEVICE
    ]
    known = [part for part in indices if part.kind is Kind.INT]
    if known or (indices and len(indices) > 1):
        frame.emit(ScalarStore, target, min(tensor.sure, indices[0].sure), index="an index tensor")
        return
    if tensor.rank is not None and len(parts) == tensor.rank and all(isinstance(part, Number) for part in parts):
        frame.emit(ScalarStore, target, tensor.sure, index="the index of a single element")
