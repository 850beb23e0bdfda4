"""Calls by the type of the callee: functions and classes of the tree, objects, partials, and names from outside."""

from __future__ import annotations

import ast

from graphlint.effects.table import lookup, methods
from graphlint.events import HostArgument
from graphlint.interp import torch_attributes, torch_calls, untraced
from graphlint.interp.comparisons import is_numeric
from graphlint.interp.decorating import is_kept_out, is_kernel, is_memoised
from graphlint.interp.dispatch import ATTRIBUTES, CALLS, ELEMENTS, apply, attribute, count_unknown, element, item, register
from graphlint.interp.drifting import drifting_in_class
from graphlint.interp.fields import AFTER, TUPLE_BASES, constructor
from graphlint.interp.forwarding import forwarded
from graphlint.interp.frame import Frame
from graphlint.interp.handlers import METHODS, MODULE_METHODS, MethodHandler, device_tensor, handler_of
from graphlint.interp.hanging import made_with
from graphlint.interp.hooks import hooked, lent
from graphlint.interp.objects import bound, class_member, is_module, record_of
from graphlint.interp.sizes import without_sizes, without_unread
from graphlint.interp.specials import special
from graphlint.project import ClassDecl, Outside
from graphlint.types import Confidence
from graphlint.values import (
    Arguments,
    ClassValue,
    DeviceValue,
    External,
    ExternalObject,
    Function,
    Instance,
    Kind,
    Method,
    ModuleValue,
    Nothing,
    Number,
    Opaque,
    Origin,
    Place,
    Seq,
    Table,
    Tensor,
    Text,
    Unknown,
    Value,
    join_all,
    loosened,
    members,
)

ENUM_BASES = {"enum.Enum", "enum.IntEnum", "enum.StrEnum", "enum.Flag", "enum.IntFlag"}

_RETURN_FIELDS = (
    "values indices eigenvalues eigenvectors U S V Vh Q R L P LU pivots info solution residuals rank "
    "singular_values hist bin_edges mantissa exponent sign logabsdet output counts inverse_indices X"
)
RETURN_FIELDS = frozenset(_RETURN_FIELDS.split())
"""The fields of `torch.return_types`, the named tuples that operators give (torch 2.13 documentation)."""

PAIRS = {"min": 0, "max": 1, "values": 0, "indices": 1}
"""Where names stand in results of two: of `aminmax`, and of `max`, `sort`, `topk` and the like.

Other values have methods of these names.
"""


@register(CALLS, Function)
def call_function(frame: Frame, callee: Function, arguments: Arguments, node: ast.AST) -> Value:
    if frame.machine.told.is_eager(frame.machine.project, callee.decl):
        return _call_eagerly(frame, callee, arguments, node)
    if is_kept_out(frame.machine, callee.decl):
        return untraced.call(frame, callee, arguments, node)
    if is_kernel(frame.machine.project, callee.decl):
        count_unknown(frame, node)
        return Unknown()
    # A tensor is looked up by its identity: one that is new in every call is found in no cache.
    new = any(isinstance(each, Tensor) and each.role in ("", "input") for each in arguments.values())
    if new or not is_memoised(frame.machine, callee.decl):
        return frame.machine.call(frame, callee, arguments, node)
    # What is computed once has been computed by the warm-up.
    ceiling, frame.ceiling = frame.ceiling, Confidence.POSSIBLE
    value = frame.machine.call(frame, callee, arguments, node)
    frame.ceiling = ceiling
    return value


def _call_eagerly(frame: Frame, callee: Function, arguments: Arguments, node: ast.AST) -> Value:
    """What it gives is known; what it does on the way is no part of the graph."""
    was, frame.recording = frame.recording, False
    value = frame.machine.call(frame, callee, arguments, node)
    frame.recording = was
    return value


@register(CALLS, ClassValue)
def call_class(frame: Frame, callee: ClassValue, arguments: Arguments, node: ast.AST) -> Value:
    """Make an object; inside a region it is fresh, and its constructor's events belong to the region."""
    if frame.machine.watched is not None and frame.machine.watched[0] is callee.decl:
        frame.machine.watched[1].append(arguments)
    outside = {base.name for base in frame.machine.project.mro(callee.decl) if isinstance(base, Outside)}
    if outside & TUPLE_BASES and "__init__" not in callee.decl.members:
        return Instance(callee.decl, arguments, frame.recording)
    if outside & ENUM_BASES:
        return Opaque()
    # What is made once and kept is there before the region runs.
    read = without_unread(frame.machine, callee.decl, arguments)
    made = read if frame.recording else without_sizes(frame.machine, callee.decl, read)
    instance = Instance(callee.decl, made, frame.recording and frame.ceiling is not Confidence.POSSIBLE)
    if (
        frame.recording
        and frame.machine.project.member(callee.decl, "__init__") is not None
        and not is_module(frame.machine, callee.decl)
    ):
        frame.machine.construct_recorded(frame, instance, node)
    if not frame.recording:
        made_with(frame, instance, node)
    if frame.recording and _is_finished(frame, callee.decl):
        special(frame, instance, AFTER, (), node)
    return instance


def _is_finished(frame: Frame, decl: ClassDecl) -> bool:
    """Whether a constructor that nobody wrote calls a method of the class at its end."""
    project = frame.machine.project
    return project.member(decl, AFTER) is not None and constructor(project, decl) is None


@register(CALLS, Instance)
def call_instance(frame: Frame, callee: Instance, arguments: Arguments, node: ast.AST) -> Value:
    """`object(...)`, with the hooks of a module."""
    if not frame.machine.hooks:
        return _call_instance(frame, callee, arguments, node)
    with lent(frame, callee, node):
        value = _call_instance(frame, callee, arguments, node)
    return hooked(frame, callee, arguments, value, node)


def _call_instance(frame: Frame, callee: Instance, arguments: Arguments, node: ast.AST) -> Value:
    """Its `__call__`, or the `forward` of a module."""
    found = class_member(frame, callee.decl, "__call__", callee, node)
    if found is not None and not isinstance(found, Unknown):
        return apply(frame, found, arguments, node)
    return forwarded(frame, callee, arguments, node)


SOMEWHERE = Tensor(Place.UNKNOWN, Kind.ANY, None, Confidence.LIKELY)
"""What has a method that only tensors have."""


@register(ATTRIBUTES, Unknown)
def unknown_attribute(frame: Frame, value: Unknown, name: str, node: ast.AST) -> Value:
    """What has a shape is an array of some kind, and its shape is made of numbers."""
    size = Number(Kind.INT, None, Origin.SHAPE)
    if name in methods():
        return Method(SOMEWHERE, name)
    return Seq("tuple", None, size) if name == "shape" else size if name == "ndim" else Unknown()


@register(CALLS, Seq)
def call_sequence(frame: Frame, callee: Seq, arguments: Arguments, node: ast.AST) -> Value:
    """`nn.Sequential(...)(x)` calls its modules in turn."""
    if callee.form != "sequential" or not arguments.positional:
        return Unknown()
    value = arguments.positional[0]
    for module in callee.items if callee.items is not None else (callee.element(),):
        value = apply(frame, module, Arguments((value,)), node)
    return hooked(frame, callee, arguments, value, node) if frame.machine.hooks else value


@register(CALLS, External)
def call_external(frame: Frame, callee: External, arguments: Arguments, node: ast.AST) -> Value:
    name = callee.name
    handler = handler_of(name)
    if handler is not None:
        return handler(frame, arguments, node)
    if lookup(name) is not None:
        return torch_calls.call_row(frame, name, arguments, node, None)
    if name.startswith("torch.nn.") and name.rpartition(".")[2][:1].isupper():
        return ExternalObject(name, arguments)
    if name.startswith("torch.ops."):
        from graphlint.interp import operations  # here because few files call operators of their own

        found = operations.called(frame, name, arguments, node)
        if found is not None:
            return found
    count_unknown(frame, node)
    return Unknown()


@register(CALLS, ExternalObject)
def call_external_object(frame: Frame, callee: ExternalObject, arguments: Arguments, node: ast.AST) -> Value:
    """Calling a module of torch runs its `forward`."""
    for name in (f"{callee.name}.forward", f"{callee.name}.__call__"):
        if lookup(name) is not None:
            value = torch_calls.call_row(frame, name, arguments, node, callee)
            return hooked(frame, callee, arguments, value, node) if frame.machine.hooks else value
    count_unknown(frame, node)
    return Unknown()


def _of_modules(receiver: Value, name: str) -> MethodHandler | None:
    """What a method of `nn.Sequential` or `nn.ModuleList` does that it has from `nn.Module`."""
    holds = isinstance(receiver, Seq) and receiver.form in ("sequential", "modules")
    return MODULE_METHODS.get(name) if holds else None


@register(CALLS, Method)
def call_method(frame: Frame, callee: Method, arguments: Arguments, node: ast.AST) -> Value:
    receiver = callee.receiver
    if isinstance(receiver, Tensor) and not (receiver == SOMEWHERE and torch_calls.is_misfit(callee.name, arguments)):
        return torch_calls.call_tensor_method(frame, receiver, callee.name, arguments, node)
    handler = METHODS.get((type(receiver), callee.name)) or _of_modules(receiver, callee.name)
    if handler is not None:
        return handler(frame, receiver, arguments, node)
    if isinstance(receiver, ExternalObject):
        return torch_calls.call_object_method(frame, receiver, callee.name, arguments, node)
    if isinstance(receiver, Instance):
        return _inherited(frame, receiver, callee.name, arguments, node)
    if isinstance(receiver, Text):
        _counted(frame, callee.name, arguments, node)
    return Unknown() if not isinstance(receiver, (Text, Opaque, Number)) else Opaque()


def _counted(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> None:
    """`"a".ljust(n)`: the methods of texts take numbers on the host."""
    tensor = next((found for found in map(device_tensor, arguments.positional) if found is not None), None)
    if tensor is not None:
        frame.emit(HostArgument, node, min(tensor.sure, Confidence.LIKELY), call=name, argument="count")


def _inherited(frame: Frame, receiver: Instance, name: str, arguments: Arguments, node: ast.AST) -> Value:
    """A method that a class of the tree has from a base outside it."""
    handler = MODULE_METHODS.get(name)
    if handler is not None:
        return handler(frame, receiver, arguments, node)
    for base in frame.machine.project.mro(receiver.decl):
        if isinstance(base, Outside) and lookup(f"{base.name}.{name}") is not None:
            owner = ExternalObject(base.name, _handed_to_base(frame, receiver))
            return torch_calls.call_row(frame, f"{base.name}.{name}", arguments, node, owner)
    count_unknown(frame, node)
    return Unknown()


def _handed_to_base(frame: Frame, made: Instance) -> Arguments | None:
    """What an object's base outside the tree was made with: what the object was, unless a constructor says otherwise."""
    own = constructor(frame.machine.project, made.decl)
    spec = None if own is None else own.node.args
    named = [] if spec is None else [*spec.posonlyargs, *spec.args, *spec.kwonlyargs]
    passes_on = spec is None or (len(named) == 1 and spec.vararg is not None and spec.kwarg is not None)
    return made.arguments if passes_on else None


@register(ATTRIBUTES, ModuleValue)
def module_attribute(frame: Frame, value: ModuleValue, name: str, node: ast.AST) -> Value:
    found = frame.machine.global_(value.module, name)
    if found is None:
        found = frame.machine.value(frame.machine.project.module(f"{value.module.name}.{name}", value.module))
    return Unknown() if found is None else found


@register(ATTRIBUTES, ClassValue)
def class_attribute(frame: Frame, value: ClassValue, name: str, node: ast.AST) -> Value:
    found = class_member(frame, value.decl, name, None, node)
    if found is not None:
        # Which member of an enumeration a variable holds, a configuration decides.
        found = _member(frame, value.decl, name, found) if isinstance(found, (Text, Number)) else found
        return bound(found, value) if _is_classmethod(found) else found
    if name == "apply" and _is_autograd_function(frame, value.decl):
        return Method(value, "apply")
    return Text(value.decl.name) if name == "__name__" else Unknown()


def _member(frame: Frame, decl: ClassDecl, name: str, value: Value) -> Value:
    """A word or number in a class; in an enumeration an object, which only sometimes is a number itself."""
    project = frame.machine.project
    if not any(isinstance(base, Outside) and base.name in ENUM_BASES for base in project.mro(decl)):
        return drifting_in_class(frame.machine, decl, name, value) if isinstance(value, Number) else value
    return loosened(value) if isinstance(value, Text) or is_numeric(project, decl) else Instance(decl)


def _is_classmethod(found: Value) -> bool:
    if not isinstance(found, Function) or isinstance(found.decl.node, ast.Lambda):
        return False
    return any(isinstance(item, ast.Name) and item.id == "classmethod" for item in found.decl.node.decorator_list)


def _is_autograd_function(frame: Frame, decl: ClassDecl) -> bool:
    return any(
        isinstance(base, Outside) and base.name.startswith("torch.autograd.") for base in frame.machine.project.mro(decl)
    )


@register(ATTRIBUTES, External)
def external_attribute(frame: Frame, value: External, name: str, node: ast.AST) -> Value:
    if value.name.startswith("torch.ops.") and lookup(value.name) is not None:
        return value  # an overload: `torch.ops.aten.nonzero.default`
    return torch_attributes.external_attribute(f"{value.name}.{name}")


@register(ATTRIBUTES, ExternalObject)
def external_object_attribute(frame: Frame, value: ExternalObject, name: str, node: ast.AST) -> Value:
    return torch_attributes.object_attribute(frame, value, name, node)


@register(ATTRIBUTES, Tensor)
def tensor_attribute(frame: Frame, value: Tensor, name: str, node: ast.AST) -> Value:
    return torch_attributes.tensor_attribute(frame, value, name, node)


@register(ATTRIBUTES, DeviceValue)
def device_attribute(frame: Frame, value: DeviceValue, name: str, node: ast.AST) -> Value:
    return torch_attributes.device_attribute(value, name)


@register(ATTRIBUTES, Seq, Table, Text, Number, Method)
def plain_attribute(frame: Frame, value: Value, name: str, node: ast.AST) -> Value:
    if _of_modules(value, name) is not None:
        return Method(value, name)
    if isinstance(value, Seq) and (Seq, name) not in METHODS:
        if name in PAIRS and value.form == "tuple" and value.items is not None and len(value.items) == 2:
            return value.items[PAIRS[name]]
        held = value.element() if value.items != () else Unknown()
        if any(isinstance(member, Tensor) for member in members(held)) and lookup(f"torch.Tensor.{name}") is not None:
            # A hint said "tuple of tensors", the code treats it as one tensor: the code is right.
            return attribute(frame, held, name, node)
        return held if name in RETURN_FIELDS else Unknown() if value.form == "tuple" else Method(value, name)
    if isinstance(value, Table) and (Table, name) not in METHODS:
        for key, entry in value.items:
            if key == name:
                return entry
        return Unknown()
    return Method(value, name)


@register(ATTRIBUTES, Function)
def function_attribute(frame: Frame, value: Function, name: str, node: ast.AST) -> Value:
    if name == "co_varnames":
        return Seq("tuple", tuple(map(Text, value.decl.variables)))
    same = name in ("__func__", "__wrapped__", "__code__")
    return value if same else Text() if name in ("__name__", "__qualname__") else Unknown()


@register(ELEMENTS, Seq)
def sequence_element(frame: Frame, value: Seq, node: ast.AST) -> Value:
    return value.element() if value.items != () or value.rest is not None else Opaque()


@register(ELEMENTS, Table)
def table_element(frame: Frame, value: Table, node: ast.AST) -> Value:
    return Text()


@register(ELEMENTS, Tensor)
def tensor_element(frame: Frame, value: Tensor, node: ast.AST) -> Value:
    """Iterating over a tensor gives its rows; that is no read."""
    rank = None if value.rank is None else max(value.rank - 1, 0)
    return value.replace(rank=rank, role="")


def _iterated(frame: Frame, given: Value, owner: Instance, node: ast.AST) -> Value:
    """What an iterator gives; one that is an object of the tree is asked for its next, and never for itself again."""
    if not isinstance(given, Instance):
        return element(frame, given, node)
    following = attribute(frame, given, "__next__", node)
    if isinstance(following, Function):
        return apply(frame, following, Arguments(), node)
    return Unknown() if given.decl is owner.decl else element(frame, given, node)


@register(ELEMENTS, Instance)
def instance_element(frame: Frame, value: Instance, node: ast.AST) -> Value:
    method = attribute(frame, value, "__iter__", node)
    if isinstance(method, Function):
        return join_all([_iterated(frame, each, value, node) for each in members(apply(frame, method, Arguments(), node))])
    record = record_of(frame.machine, value)
    if record.children is not None:
        return element(frame, record.children, node)
    if isinstance(attribute(frame, value, "__getitem__", node), Function):
        return item(frame, value, Number(), node)
    held = [entry for _, entry in record.items(frame.machine) if not isinstance(entry, Nothing)]
    return join_all(held) if held else Unknown()
