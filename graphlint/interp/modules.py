"""`nn.Module` and its kin: registering, containers, hooks, and functions that call what they are given.

Functions that a module is told to run over its parts: `module.apply(function)` over modules, `_apply` over tensors.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from graphlint.events import HostToDevice
from graphlint.interp import untraced
from graphlint.interp.annotations import annotated
from graphlint.interp.deferring import all_parts
from graphlint.interp.dispatch import ATTRIBUTES, apply, attribute, register
from graphlint.interp.frame import Frame
from graphlint.interp.handlers import first, function, module_method
from graphlint.interp.mutation import is_building, set_named
from graphlint.interp.objects import class_member, is_module, record_of, store_attribute
from graphlint.interp.placement import place_named, sure_named
from graphlint.interp.record import Deferred
from graphlint.interp.relocation import moved
from graphlint.types import Confidence
from graphlint.values import (
    Arguments,
    Bool,
    ClassValue,
    DeviceValue,
    ExternalObject,
    Function,
    Identity,
    Instance,
    Kind,
    Method,
    Nothing,
    Number,
    Opaque,
    Place,
    Seq,
    SuperValue,
    Table,
    Tensor,
    Text,
    Unknown,
    Value,
    join,
    join_all,
    members,
    tensors_in,
)

if TYPE_CHECKING:
    from graphlint.interp.machine import Machine

MOST_CHILDREN = 24
PLAIN = (Bool, Nothing, Number, Seq, Table, Text)

PARAMETER = Tensor(Place.DEVICE, Kind.FLOAT, None, Confidence.CERTAIN, "parameter")


def settled_on_device(value: Value, role: str) -> Value:
    """A tensor that moves with its module: on the device by the time of capture, wherever it was made."""
    moved = [
        member.replace(place=Place.DEVICE, role=role, sure=Confidence.CERTAIN) if isinstance(member, Tensor) else member
        for member in members(value)
    ]
    return join_all(moved)


@module_method("register_buffer")
def register_buffer(frame: Frame, receiver: Value, arguments: Arguments, node: ast.AST) -> Value:
    _register(frame, receiver, arguments, "buffer", "tensor", node)
    return Nothing()


@module_method("register_parameter")
def register_parameter(frame: Frame, receiver: Value, arguments: Arguments, node: ast.AST) -> Value:
    _register(frame, receiver, arguments, "parameter", "param", node)
    return Nothing()


@module_method("add_module", "register_module")
def add_module(frame: Frame, receiver: Value, arguments: Arguments, node: ast.AST) -> Value:
    _register(frame, receiver, arguments, "", "module", node)
    return Nothing()


def _register(frame: Frame, receiver: Value, arguments: Arguments, role: str, keyword: str, node: ast.AST) -> None:
    name, value = first(arguments, 0, "name"), first(arguments, 1, keyword)
    if value is None:
        return
    held = settled_on_device(value, role) if role else value
    if role == "buffer" and isinstance(receiver, Instance) and is_building(frame, receiver):
        from graphlint.interp.unmoved import left  # here because not every model has buffers

        held = left(frame, receiver.decl, value) or held
    if role and isinstance(value, Unknown):
        held = Tensor(Place.DEVICE, Kind.ANY, None, Confidence.LIKELY, role)
    key = name.key if isinstance(name, Text) else "*"
    if role and key != "*" and isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        set_named(frame, node.func.value, key, held, node)
    else:
        store_attribute(frame, receiver, key, held)


@module_method("parameters", "buffers")
def parameters(frame: Frame, receiver: Value, arguments: Arguments, node: ast.AST) -> Value:
    return Seq("iter", None, PARAMETER)


@module_method("named_parameters", "named_buffers")
def named_parameters(frame: Frame, receiver: Value, arguments: Arguments, node: ast.AST) -> Value:
    return Seq("iter", None, Seq("tuple", (Text(), PARAMETER)))


@module_method("modules", "children")
def children(frame: Frame, receiver: Value, arguments: Arguments, node: ast.AST) -> Value:
    return Seq("iter", None, _any_part(frame, receiver))


def _any_part(frame: Frame, receiver: Value) -> Value:
    return all_parts(frame, receiver) or submodule(frame, receiver)


@module_method("named_modules", "named_children")
def named_children(frame: Frame, receiver: Value, arguments: Arguments, node: ast.AST) -> Value:
    return Seq("iter", None, Seq("tuple", (Text(), _any_part(frame, receiver))))


@module_method("get_submodule")
def named_part(frame: Frame, receiver: Value, arguments: Arguments, node: ast.AST) -> Value:
    """`model.get_submodule("body.norm")`."""
    name = first(arguments, 0, "target")
    if not isinstance(name, Text) or name.value is None:
        return _any_part(frame, receiver)
    for word in name.value.split("."):
        receiver = attribute(frame, receiver, word, node)
    return receiver


def submodule(frame: Frame, receiver: Value) -> Value:
    """Any one of the modules that a module holds itself."""
    if isinstance(receiver, Seq):
        return receiver.element()
    if not isinstance(receiver, Instance):
        return Unknown()
    record = record_of(frame.machine, receiver)
    if len(record.written) > MOST_CHILDREN:
        return Unknown()
    parts = record.parts(frame.machine, lambda _, bound: any(_may_be_module(frame.machine, what) for what in bound))
    held: list[Value] = [value for _, value in parts if isinstance(value, (Instance, ExternalObject))]
    if record.children is not None:
        held.append(record.children.element() if isinstance(record.children, (Seq, Table)) else record.children)
    return join_all(held) if held else Unknown()


def _may_be_module(machine: Machine, what: Value | Deferred) -> bool:
    """Whether what an attribute is bound to may be a module; a call that is declared to give something else is not made."""
    callee = what.callee(machine) if isinstance(what, Deferred) else None
    if isinstance(callee, ClassValue):
        return is_module(machine, callee.decl)
    node = callee.decl.node if isinstance(callee, Function) else None
    if not isinstance(callee, Function) or not isinstance(node, ast.FunctionDef) or node.returns is None:
        return True
    given = members(annotated(machine, callee.decl.module, node.returns, callee.decl.owner))
    return any(
        is_module(machine, each.decl) if isinstance(each, Instance) else not isinstance(each, PLAIN) for each in given
    )


@module_method("to", "cuda", "cpu")
def relocated(frame: Frame, receiver: Value, arguments: Arguments, node: ast.AST) -> Value:
    return moved(frame, receiver, arguments, node)


@module_method(
    "half",
    "float",
    "double",
    "bfloat16",
    "requires_grad_",
    "share_memory",
    "compile",
    "to_empty",
    "type",
)
def itself(frame: Frame, receiver: Value, arguments: Arguments, node: ast.AST) -> Value:
    return receiver


@module_method(
    "register_load_state_dict_post_hook",
    "register_state_dict_hook",
    "_register_load_state_dict_pre_hook",
)
def hook(frame: Frame, receiver: Value, arguments: Arguments, node: ast.AST) -> Value:
    return Opaque()


@module_method("state_dict")
def state_dict(frame: Frame, receiver: Value, arguments: Arguments, node: ast.AST) -> Value:
    """The parameters and buffers themselves, not copies."""
    return Table((), PARAMETER.replace(sure=Confidence.LIKELY))


@module_method("load_state_dict")
def load_state_dict(frame: Frame, receiver: Value, arguments: Arguments, node: ast.AST) -> Value:
    """Copies what it is given into the parameters, wherever that is; with `assign` it takes it as it is."""
    given = first(arguments, 0, "state_dict")
    host = next((tensor for tensor in tensors_in(given) if tensor.place is Place.HOST), None)
    if host is not None and arguments.keyword("assign") is None:
        frame.emit(HostToDevice, node, min(host.sure, Confidence.LIKELY), call="load_state_dict", origin="")
    return Opaque()


@module_method("zero_grad", "extra_repr", "register_load_state_dict_pre_hook")
def quiet(frame: Frame, receiver: Value, arguments: Arguments, node: ast.AST) -> Value:
    return Opaque()


@function("torch.nn.Parameter", "torch.nn.parameter.Parameter")
def parameter(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    data = first(arguments, 0, "data")
    if not isinstance(data, Tensor) or data.role != "input":
        untraced.split(frame, node, Confidence.CERTAIN, "torch.nn.Parameter", "Dynamo makes no parameter inside a graph")
    return buffer(frame, arguments, node)


@function("torch.nn.Buffer", "torch.nn.parameter.Buffer")
def buffer(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    """Moves with its module; made anywhere else it stays where its data is."""
    return kept(frame, next(tensors_in(first(arguments, 0, "data")), None))


def kept(frame: Frame, tensor: Tensor | None) -> Tensor:
    rank = None if tensor is None else tensor.rank
    kind = Kind.FLOAT if tensor is None else tensor.kind
    if frame.recording and tensor is not None and tensor.place is Place.HOST and tensor.sure is Confidence.CERTAIN:
        return tensor
    return Tensor(Place.DEVICE, kind, rank, Confidence.CERTAIN, "parameter")


@function("torch.device")
def device(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    value = first(arguments, 0, "type")
    place = None if value is None else place_named(value)
    return DeviceValue(Place.UNKNOWN if place is None else place, sure_named(value))


@function(
    "torch.compiler.disable",
    "torch.jit.script",
    "torch.jit.ignore",
    "torch.jit.unused",
    "torch._dynamo.disable",
    "torch.jit.export",
    "torch.compiler.allow_in_graph",
)
def transparent(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    """Gives back what it was given, or a decorator that does."""
    value = first(arguments)
    return Identity() if value is None else value


@function("torch.utils.checkpoint.checkpoint")
def call_through(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    """Calls its first argument with the others."""
    if not arguments.positional:
        return Unknown()
    own = {"use_reentrant", "preserve_rng_state", "determinism_check", "debug", "context_fn"}
    passed = tuple((key, value) for key, value in arguments.keywords if key not in own)
    return apply(
        frame, arguments.positional[0], arguments.replace(positional=arguments.positional[1:], keywords=passed), node
    )


@function("torch.func.vmap", "torch.vmap")
def transform(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    return first(arguments) or Unknown()


@function("torch.cuda.graph", "torch.cuda.graphs.graph")
def capture(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    return ExternalObject("torch.cuda.graph", arguments)


@register(ATTRIBUTES, SuperValue)
def super_attribute(frame: Frame, value: SuperValue, name: str, node: ast.AST) -> Value:
    receiver = value.receiver
    decl = receiver.decl if isinstance(receiver, (Instance, ClassValue)) else value.start
    found = class_member(frame, decl, name, receiver, node, value.start)
    if found is not None:
        return found
    return Method(receiver, name) if isinstance(receiver, Instance) else Unknown()


@module_method("apply")
def over_modules(frame: Frame, receiver: Value, arguments: Arguments, node: ast.AST) -> Value:
    """The parts come first; what runs before a capture, such as setting weights, is no part of it."""
    function = first(arguments, 0, "fn")
    if function is not None and frame.recording:
        for each in members(join(receiver, submodule(frame, receiver))):
            if not isinstance(each, Unknown):
                apply(frame, function, Arguments((each,)), node)
    elif function is not None:
        from graphlint.interp.parts import hang_on_each  # here because few hooks are hung by `apply`

        hang_on_each(frame, function, receiver, node)
    return receiver


@module_method("_apply")
def over_tensors(frame: Frame, receiver: Value, arguments: Arguments, node: ast.AST) -> Value:
    function = first(arguments, 0, "fn")
    if function is not None and frame.recording:
        apply(frame, function, Arguments((PARAMETER,)), node)
    return receiver
