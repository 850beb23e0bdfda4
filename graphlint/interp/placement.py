"""Where `device` puts a tensor and what `dtype` makes of it."""

from __future__ import annotations

import ast

from graphlint.interp.facts import Facts
from graphlint.interp.frame import Frame
from graphlint.interp.switches import is_device_default
from graphlint.types import Confidence
from graphlint.values import (
    DeviceValue,
    DtypeValue,
    External,
    Kind,
    Nothing,
    Number,
    Place,
    Tensor,
    Text,
    Value,
    join_all,
    members,
)

DTYPES = {
    "bool": Kind.BOOL,
    **dict.fromkeys(
        ("uint8", "int8", "int16", "int32", "int64", "short", "int", "long", "uint16", "uint32", "uint64"), Kind.INT
    ),
    **dict.fromkeys(("half", "float", "double", "float16", "float32", "float64", "bfloat16"), Kind.FLOAT),
    **dict.fromkeys(("complex64", "complex128", "cfloat", "cdouble"), Kind.COMPLEX),
}
DEVICE_WORDS = ("cuda", "xpu", "mps", "hpu", "npu")


def default_place(frame: Frame) -> Place:
    """Where a factory without `device=` puts its tensor."""
    if frame.devices and isinstance(frame.devices[-1], DeviceValue):
        return frame.devices[-1].place
    return Place.DEVICE if is_device_default(frame.module) else Place.HOST


def default_sure(frame: Frame, device: Value | None, made_by: str) -> Confidence:
    """How sure that is: models are often made, and methods called on them, under `with torch.device(...)`."""
    if frame.devices or not (device is None or isinstance(device, Nothing)):
        return Confidence.CERTAIN
    if frame.machine.writes or is_reserving(frame, made_by):
        return Confidence.POSSIBLE
    return Confidence.LIKELY if is_device_default(frame.module) else Confidence.CERTAIN


def is_reserving(frame: Frame, name: str) -> bool:
    """Whether a constructor reserves memory for later: without a word on where, it is meant for the device."""
    return name == "torch.empty" and frame.receiver is not None and not frame.recording


def placed(frame: Frame, facts: Facts, value: Value) -> Value:
    """The result where a `device` argument puts it, of the kind a `dtype` argument gives it."""
    device, dtype = facts.value("device"), facts.value("dtype")
    kind = kind_of(dtype)
    place = None if device is None else place_named(device)
    if place is not Place.DEVICE and is_pinned(facts):
        place = Place.PINNED
    if place is None and kind is None:
        return value
    return join_all([_moved(member, place, kind, sure_named(device)) for member in members(value)])


def is_pinned(facts: Facts) -> bool:
    """Whether a call asks for page-locked memory: a flag that decides is set wherever there is a device to copy to."""
    if facts.value("pin_memory") is None:
        return False
    facts.varies = True
    words = facts.call.keywords if isinstance(facts.call, ast.Call) else []
    given = next((word.value for word in words if word.arg == "pin_memory"), None)
    return not (isinstance(given, ast.Constant) and given.value is False)


def _moved(value: Value, place: Place | None, kind: Kind | None, named: Confidence) -> Value:
    if not isinstance(value, Tensor):
        return value
    sure = min(value.sure, named if place is not Place.UNKNOWN else Confidence.LIKELY)
    return value.replace(
        place=value.place if place is None else Place.DEVICE if place is Place.UNKNOWN else place,
        kind=value.kind if kind is None else kind,
        sure=sure,
    )


def place_named(value: Value) -> Place | None:
    """The place that a device argument names; None when it is `None`."""
    named = [(_place_named(member), member) for member in members(value)]
    known = {place for place, _ in named if place is not None}
    if len(known) > 1:
        # Whoever hands in numbers, as most do, gets there without the tensor that only some hand in.
        known = {place for place, member in named if place is not None and not _is_doubtful(member)} or known
    return None if not known else known.pop() if len(known) == 1 else Place.UNKNOWN


def sure_named(value: Value | None) -> Confidence:
    """How sure it is that a device argument names that place."""
    # That its device is asked for says that something is a tensor, though not where it is.
    doubtful = value is not None and any(_is_doubtful(member) for member in members(value))
    return Confidence.LIKELY if doubtful else Confidence.CERTAIN


def _is_doubtful(value: Value) -> bool:
    return isinstance(value, DeviceValue) and value.sure is Confidence.POSSIBLE


def _place_named(value: Value) -> Place | None:
    match value:
        case Nothing():
            return None
        case DeviceValue(place=place):
            return place
        case Text(value=text) if text is not None:
            return (
                Place.HOST if text.startswith("cpu") else Place.DEVICE if text.startswith(DEVICE_WORDS) else Place.UNKNOWN
            )
        case Number():
            return Place.DEVICE
    return Place.UNKNOWN


def kind_of(value: Value | None) -> Kind | None:
    """The kind that a dtype argument gives; None when there is none."""
    found = [_kind_of(member) for member in members(value)] if value is not None else []
    kinds = {kind for kind in found if kind is not None}
    return None if not kinds else kinds.pop() if len(kinds) == 1 else Kind.ANY


def _kind_of(value: Value) -> Kind | None:
    if isinstance(value, DtypeValue):
        return value.kind
    if isinstance(value, External):
        return {"builtins.bool": Kind.BOOL, "builtins.int": Kind.INT, "builtins.float": Kind.FLOAT}.get(
            value.name, Kind.ANY
        )
    return None if isinstance(value, Nothing) else Kind.ANY
