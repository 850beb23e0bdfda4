"""What is had from objects from outside by index or by iteration: numbers of arrays, bytes of a tensor's memory."""

from __future__ import annotations

import ast

from graphlint.effects.table import lookup
from graphlint.interp.dispatch import ELEMENTS, ITEMS, register
from graphlint.interp.facts import Facts
from graphlint.interp.frame import Frame
from graphlint.interp.raising import raise_effects
from graphlint.interp.torch_calls import call_row
from graphlint.interp.transfers import special
from graphlint.interp.untraced import is_array
from graphlint.values import Arguments, ExternalObject, Number, Place, Seq, Unknown, Value, tensors_in

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
