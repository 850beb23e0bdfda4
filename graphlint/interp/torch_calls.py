"""Calls of what the effects table knows: the value that comes back, and the events its effects are."""

from __future__ import annotations

import ast
from collections.abc import Callable

from graphlint import events
from graphlint.effects import grammar
from graphlint.effects.grammar import Row
from graphlint.effects.table import lookup
from graphlint.interp import relocation
from graphlint.interp.dispatch import count_unknown
from graphlint.interp.facts import Facts
from graphlint.interp.frame import Frame
from graphlint.interp.frozen import note_frozen, note_narrowed
from graphlint.interp.handlers import MODULE_METHODS
from graphlint.interp.placement import is_reserving
from graphlint.interp.raising import raise_effects, short
from graphlint.interp.results import MODULE, result
from graphlint.interp.switches import is_device_default
from graphlint.types import Confidence
from graphlint.values import (
    Arguments,
    ExternalObject,
    Number,
    Origin,
    Seq,
    Tensor,
    Union,
    Unknown,
    Value,
    members,
)

JOINING = frozenset({
    "torch.cat", "torch.concat", "torch.concatenate", "torch.dstack", "torch.hstack", "torch.stack", "torch.vstack",
})  # fmt: skip
HELD = ("parameter", "buffer")
"""The roles of tensors that are parts of modules."""
Special = Callable[[Frame, Facts, ast.AST], Value]
SPECIAL: dict[str, Special] = {}
"""Calls whose overloads no row can spell, by canonical name; `transfers` fills it."""


def call_row(
    frame: Frame,
    name: str,
    arguments: Arguments,
    node: ast.AST,
    owner: ExternalObject | None,
    receiver: Value | None = None,
) -> Value:
    """Call what the row of `name` describes: raises its effects, gives its result; the answer of a silent one is kept."""
    here = (is_device_default(frame.module), is_reserving(frame, name), bool(frame.machine.writes))
    given = (name, arguments, owner, receiver, frame.devices[-1] if frame.devices else None, here)
    if name in JOINING:
        from graphlint.interp.windows import note_window  # here because not every file joins tensors

        note_window(frame, node)
    known = frame.machine.silent.get(given)
    if known is not None:
        return known
    row = lookup(name)
    assert row is not None, name
    facts = Facts(frame, row, arguments, receiver, owner)
    facts.call = node
    special = SPECIAL.get(row.name)
    if special is not None:
        return special(frame, facts, node)
    says = [
        raise_effects(frame, facts, node),
        note_frozen(frame, facts.given.values(), node),
        note_sizes(frame, row, facts, node),
    ]
    if says[1] and row.name.endswith(".narrow"):
        note_narrowed(frame, facts.given.get("length"), node)
    value = result(frame, row, row.result, facts)
    if value is MODULE:
        return relocation.made(frame, row.name, arguments)
    if not any(says) and not facts.varies:
        frame.machine.silent[given] = value
    return value


_SIZES = (
    "size sizes shape split_size split_sizes split_size_or_sections indices_or_sections repeats end k n steps "
    "length output_size"
)
SIZES = frozenset(_SIZES.split())
"""Parameters that decide the shape of a result, among those that take host numbers."""


FOLLOWING = frozenset({"view", "reshape", "torch.reshape", "expand", "torch.broadcast_to", "repeat", "tile", "unflatten"})
"""Calls that bring a tensor into another shape: behind the first one of a function they say nothing new."""


def note_sizes(frame: Frame, row: Row, facts: Facts, node: ast.AST) -> bool:
    """A number that was read from the device decides the shape of a result; whether one does."""
    # The first number of `torch.arange(n)` is its end.
    is_end = "end" not in facts.given and any(parameter.name == "end" for parameter in row.parameters)
    for parameter in row.parameters:
        name = "end" if is_end and parameter.name == "start" else parameter.name
        if parameter.host and name in SIZES and _is_data(facts.given.get(parameter.name)):
            told = short(row) in FOLLOWING and any(isinstance(each, events.DataSize) for each in frame.summary.events)
            sure = Confidence.POSSIBLE if told else Confidence.LIKELY
            frame.emit(events.DataSize, node, sure, call=short(row), argument=name)
            return True
    return False


def _is_data(value: Value | None, depth: int = 2) -> bool:
    """Whether a value is a number that depends on tensor data, or a sequence with one."""
    if isinstance(value, Number):
        return value.origin is Origin.DATA
    if isinstance(value, Union):
        return any(_is_data(member, depth) for member in members(value))
    if not isinstance(value, Seq) or not depth:
        return False
    parts = [*(value.items or ()), *([value.rest] if value.rest is not None else [])]
    return any(_is_data(part, depth - 1) for part in parts)


def call_tensor_method(frame: Frame, receiver: Tensor, name: str, arguments: Arguments, node: ast.AST) -> Value:
    """Call a method of a tensor by its row; one that no row knows is counted as unknown."""
    full = f"torch.Tensor.{name}"
    if lookup(full) is None:
        count_unknown(frame, node)
        return Unknown()
    return call_row(frame, full, arguments, node, None, receiver)


def is_module(value: ExternalObject) -> bool:
    """Whether an object of torch's is a module: its constructor's row says so."""
    row = lookup(value.name)
    return row is not None and row.result == grammar.Plain("module")


OF_MODULES = "torch.nn.Module."
"""What every module has: such a method of one of torch's does what it does for modules of the tree."""


def call_object_method(frame: Frame, receiver: ExternalObject, name: str, arguments: Arguments, node: ast.AST) -> Value:
    """Call a method of an object of torch's or numpy's: by its row, or as a method that every module has."""
    full = f"{receiver.name}.{name}"
    row = lookup(full)
    handler = MODULE_METHODS.get(name) if is_module(receiver) else None
    if handler is not None and (row is None or row.name.startswith(OF_MODULES)):
        if row is not None:
            call_row(frame, full, arguments, node, receiver, receiver)
        return handler(frame, receiver, arguments, node)
    if row is None:
        if receiver.name.startswith("numpy."):
            return receiver
        count_unknown(frame, node)
        return Unknown()
    has_self = bool(row.parameters) and row.parameters[0].name == "self"
    return call_row(frame, full, arguments, node, receiver, receiver if has_self else None)


def is_misfit(name: str, arguments: Arguments) -> bool:
    """Whether a method of tensors is given an array where it takes a number, or more than it takes.

    What it is called on is then none: `norm` of a library of one's own, in `ext.norm(x, weight)`.
    """
    row = lookup(f"torch.Tensor.{name}")
    if row is None or arguments.more is not None:
        return False
    parameters = [each for each in row.parameters[1:] if each.form in ("positional", "star")]
    given = arguments.positional
    if len(given) > len(parameters) and not any(each.form == "star" for each in parameters):
        return True
    rest = [parameters[-1]] * max(len(given) - len(parameters), 0) if parameters else []
    return any(each.host and _is_array(value) for each, value in zip([*parameters, *rest], given))


def _is_array(value: Value) -> bool:
    """Whether a tensor cannot be a number: a parameter of a module, or one that has dimensions."""
    return isinstance(value, Tensor) and (value.role in HELD or bool(value.rank))
