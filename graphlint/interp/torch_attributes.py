"""Attributes of tensors, of objects from outside the tree, and of outside names.

What is had from objects from outside by index or by iteration: numbers of arrays, bytes of a tensor's memory.
"""

from __future__ import annotations

import ast

from graphlint.effects import grammar
from graphlint.effects.table import canonical, lookup
from graphlint.interp.dispatch import ELEMENTS, ITEMS, register
from graphlint.interp.facts import MODE, Facts, bind_row
from graphlint.interp.fields import held
from graphlint.interp.frame import Frame
from graphlint.interp.placement import DTYPES
from graphlint.interp.raising import raise_effects
from graphlint.interp.results import PLAIN, result
from graphlint.interp.torch_calls import call_row
from graphlint.interp.transfers import special
from graphlint.interp.untraced import is_array
from graphlint.types import Confidence
from graphlint.values import (
    EITHER,
    Arguments,
    DeviceValue,
    DtypeValue,
    External,
    ExternalObject,
    Kind,
    Method,
    Nothing,
    Number,
    Opaque,
    Origin,
    Place,
    Seq,
    Tensor,
    Text,
    Unknown,
    Value,
    join_all,
    tensors_in,
)


def tensor_attribute(frame: Frame, tensor: Tensor, name: str, node: ast.AST) -> Value:
    """`tensor.name`: data the table has a row for, or a method."""
    if name == "device":
        # Where a tensor only possibly lies on the host, what is put beside it need not lie there either.
        doubtful = tensor.place is Place.HOST and tensor.sure is Confidence.POSSIBLE
        sure = Confidence.POSSIBLE if tensor.sure is Confidence.POSSIBLE else Confidence.CERTAIN
        return DeviceValue(Place.UNKNOWN if doubtful else tensor.place, sure)
    if name == "dtype":
        return DtypeValue(tensor.kind)
    if name == "shape":
        return shape_of(tensor)
    row = lookup(f"torch.Tensor.{name}")
    if row is not None and row.attribute:
        return result(frame, row, row.result, Facts(frame, row, Arguments((), (("self", tensor),)), None, None))
    return Method(tensor, name) if row is not None else Unknown()


def device_attribute(device: DeviceValue, name: str) -> Value:
    """`device.type`: the host's, or that of the platform that graphs are captured on."""
    if name == "type":
        return Text(DEVICE_TYPES.get(device.place), None if device.place in DEVICE_TYPES else "c*")
    return join_all([Number(Kind.INT), Nothing()]) if name == "index" else Unknown()


DEVICE_TYPES = {Place.DEVICE: "cuda", Place.HOST: "cpu", Place.PINNED: "cpu"}


def shape_of(tensor: Tensor) -> Value:
    size = Number(Kind.INT, None, Origin.SHAPE)
    return Seq("tuple", None, size) if tensor.rank is None else Seq("tuple", (size,) * tensor.rank)


def object_attribute(frame: Frame, owner: ExternalObject, name: str, node: ast.AST) -> Value:
    """An attribute of an object from outside: parameters of torch modules are on the device."""
    row = lookup(f"{owner.name}.{name}")
    if row is not None:
        if row.name == "torch.Generator.device":
            from graphlint.interp.drawing import device_of  # here because hardly any code asks for it

            return device_of(owner)
        if row.attribute:
            return result(frame, row, row.result, Facts(frame, row, Arguments((), (("self", owner),)), None, owner))
        return Method(owner, name)
    if owner.name.startswith("torch.nn."):
        return _module_attribute(owner, name)
    groups = held((owner.name,), name)
    if groups is not None:
        return groups
    if owner.name.startswith("numpy."):
        return Method(owner, name)
    return Method(owner, name) if owner.name.startswith("torch.") else Unknown()


TENSORS = frozenset({"weight", "bias", "num_batches_tracked", "in_proj_weight", "in_proj_bias"})
"""Parameters and buffers of torch's modules, which move with them (torch 2.13 documentation)."""


def _module_attribute(owner: ExternalObject, name: str) -> Value:
    if name == "training":
        return (owner.arguments.keyword(MODE) if owner.arguments is not None else None) or EITHER
    if name in TENSORS or name.startswith(("weight_", "bias_", "running_")):
        tensor: Value = Tensor(Place.DEVICE, Kind.FLOAT, None, Confidence.CERTAIN, "parameter")
        return join_all([tensor, Nothing()]) if name == "bias" else tensor
    if owner.arguments is not None:
        row = lookup(owner.name)
        given = None if row is None else bind_row(row, owner.arguments, None).get(name)
        if given is not None:
            return given
    return Method(owner, name)


def external_attribute(name: str) -> Value:
    """`torch.float32`, `torch.pi`, or a longer dotted name."""
    if name.startswith("torch.") and name.count(".") == 1:
        kind = DTYPES.get(name[6:])
        if kind is not None:
            return DtypeValue(kind)
    row = lookup(name)
    if row is not None and row.attribute and isinstance(row.result, (grammar.Plain, grammar.Number)):
        return PLAIN.get(row.result.word, Opaque()) if isinstance(row.result, grammar.Plain) else Number(Kind.FLOAT)
    # An operator keeps its own name: its overloads follow it, `torch.ops.aten.nonzero.default`.
    return External(name if name.startswith("torch.ops.") else canonical(name))


ELEMENT = ExternalObject("numpy.number")


@special("torch.Tensor.untyped_storage", "torch.Tensor.storage")
def storage(frame: Frame, facts: Facts, node: ast.AST) -> Value:
    """The memory of a tensor lies where the tensor does."""
    raise_effects(frame, facts, node)
    found = next(tensors_in(facts.value("self")), None)
    return ExternalObject("torch.UntypedStorage", None, Place.UNKNOWN if found is None else found.place)


@register(ITEMS, ExternalObject)
def object_item(frame: Frame, value: ExternalObject, index: Value, node: ast.AST) -> Value:
    """`array[0]` is a number of numpy's, `array[1:]` an array."""
    if is_array(value):
        return ELEMENT if isinstance(index, Number) else value
    return _special(frame, value, "__getitem__", Arguments((index,)), node)


@register(ELEMENTS, ExternalObject)
def object_element(frame: Frame, value: ExternalObject, node: ast.AST) -> Value:
    if is_array(value):
        return ELEMENT
    given = _special(frame, value, "__iter__", Arguments(), node)
    return given.element() if isinstance(given, Seq) else given


def _special(frame: Frame, value: ExternalObject, name: str, arguments: Arguments, node: ast.AST) -> Value:
    full = f"{value.name}.{name}"
    return Unknown() if lookup(full) is None else call_row(frame, full, arguments, node, value, value)
