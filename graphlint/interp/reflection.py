"""Functions about attributes, types and functions themselves."""

from __future__ import annotations

import ast
from fnmatch import fnmatchcase

from graphlint.effects.grammar import Guard
from graphlint.effects.table import lookup
from graphlint.interp import untraced
from graphlint.interp.dispatch import attribute
from graphlint.interp.frame import Frame
from graphlint.interp.handlers import first, function
from graphlint.interp.isinstance import split
from graphlint.interp.members import late_writers
from graphlint.interp.mutation import set_named
from graphlint.interp.objects import record_of, store_attribute
from graphlint.interp.torch_calls import call_row
from graphlint.project import assigned
from graphlint.types import Confidence, Target
from graphlint.values import (
    EITHER,
    FALSE,
    TRUE,
    Arguments,
    Bool,
    ClassValue,
    External,
    Function,
    Identity,
    Instance,
    Method,
    ModuleValue,
    Nothing,
    Opaque,
    Partial,
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


@function("builtins.isinstance", "builtins.issubclass")
def isinstance_(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    if len(arguments.positional) != 2:
        return EITHER
    inside, outside = split(frame, arguments.positional[0], arguments.positional[1])
    return Bool(Target.NONE if inside is None else Target.BOTH, Target.NONE if outside is None else Target.BOTH)


PLUGGED_IN = frozenset({"npu", "hpu", "mlu", "musa", "tpu", "gcu"})
"""Back ends that other packages add to `torch` (its documentation of `privateuse1`); none captures CUDA graphs."""


@function("builtins.hasattr")
def hasattr_(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    owner, name = first(arguments) or Unknown(), first(arguments, 1)
    if not isinstance(name, Text) or name.value is None:
        return EITHER
    if all(isinstance(member, Tensor) for member in members(owner)):
        return TRUE if lookup(f"torch.Tensor.{name.value}") is not None else FALSE
    if isinstance(owner, External) and owner.name == "torch" and name.value in PLUGGED_IN:
        return FALSE
    return TRUE if _is_guard(owner, name.value) else EITHER


def _is_guard(owner: Value, name: str) -> bool:
    """Whether an attribute of a module is a question about the target, which only an older torch lacks."""
    row = lookup(f"{owner.name}.{name}") if isinstance(owner, External) and owner.name.startswith("torch") else None
    return row is not None and isinstance(row.result, Guard)


@function("torch.get_device_module")
def device_module(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    """`torch.cuda`, on the only device that captures; none is named where the device decides."""
    device = first(arguments)
    is_host = isinstance(device, Text) and device.value is not None and device.value.partition(":")[0] not in ("cuda", "")
    return Opaque() if is_host else External("torch.cuda")


@function("builtins.getattr")
def getattr_(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    owner, name = first(arguments) or Unknown(), first(arguments, 1)
    default = first(arguments, 2)
    if isinstance(name, Text) and name.key == "*":
        name = _class_text(frame, node) or name
    if isinstance(name, Text) and name.value is not None:
        found = attribute(frame, owner, name.value, node)
        return found if default is None or _is_guard(owner, name.value) else join(found, default)
    pattern = name.key if isinstance(name, Text) else "*"
    held = [_any_attribute(frame, member, pattern) for member in members(owner)]
    return join_all(held if default is None else [*held, default])


def _class_text(frame: Frame, node: ast.AST) -> Text | None:
    """`getattr(self, self.prefix)`: a name that the class of the object gives, where no method ever gives another."""
    match node:
        case ast.Call(args=[_, ast.Attribute(value=ast.Name(id=name), attr=attr), *_]):
            owner = frame.env.get(name)
            if not isinstance(owner, Instance) or attr in record_of(frame.machine, owner).written:
                return None
            found = frame.machine.project.member(owner.decl, attr)
            if found is None or late_writers(frame.machine, owner.decl, attr):
                return None
            value = frame.machine.variable(assigned(found[0].module, found[1]))
            return value if isinstance(value, Text) and value.value is not None else None
    return None


def _any_attribute(frame: Frame, owner: Value, pattern: str) -> Value:
    """Some attribute whose name is put together at run time: one made under the same pattern, else any that fits it."""
    if not isinstance(owner, Instance):
        return Unknown() if not isinstance(owner, Opaque) else owner
    from graphlint.interp.taken_along import along  # here because not every region reads attributes

    record = record_of(frame.machine, owner)
    for key in (pattern, "*"):
        found = record.read(frame.machine, key)
        if found is not None:
            return found if record.building else along(frame.machine.project, owner.decl, key, found)
    parts = record.parts(frame.machine, lambda name, _: fnmatchcase(name, pattern))
    lasting = [
        along(frame.machine.project, owner.decl, name, value)
        for name, value in parts
        if isinstance(value, (Tensor, Instance))
    ]
    return join_all(lasting) if lasting else Unknown()


@function("builtins.setattr")
def setattr_(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    if len(arguments.positional) == 3:
        owner, name, value = arguments.positional
        if isinstance(name, Text) and name.key != "*" and isinstance(node, ast.Call):
            set_named(frame, node.args[0], name.key, value, node)
        else:
            store_attribute(frame, owner, "*", value)
    return Nothing()


@function("importlib.import_module")
def import_module(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    """`import_module(f".{name}", "package")`: a module of the tree, if the name is known."""
    call_row(frame, "importlib.import_module", arguments, node, None)
    package = first(arguments, 1, "package")
    within = package.value if isinstance(package, Text) else None
    found = [_imported(frame, each, within or "") for each in members(first(arguments) or Unknown())]
    return join_all(found)


def _imported(frame: Frame, name: Value, package: str) -> Value:
    if not isinstance(name, Text) or name.value is None:
        return Unknown()
    full = f"{package}{name.value}" if name.value.startswith(".") and not name.value.startswith("..") else name.value
    found = frame.machine.project.module(full, frame.module)
    return Unknown() if found is None else ModuleValue(found)


@function("builtins.super")
def super_(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    receiver = arguments.positional[1] if len(arguments.positional) == 2 else frame.receiver
    start = (
        arguments.positional[0].decl
        if arguments.positional and isinstance(arguments.positional[0], ClassValue)
        else frame.owner
    )
    if receiver is None or start is None:
        return Unknown()
    return SuperValue(receiver, start)


@function("builtins.type")
def type_(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    if len(arguments.positional) == 3:
        return _derived(*arguments.positional[1:])
    value = first(arguments)
    found = (
        [ClassValue(member.decl) if isinstance(member, Instance) else Unknown() for member in members(value)]
        if value is not None
        else []
    )
    return join_all(found) if found else Unknown()


def _derived(bases: Value, members_: Value) -> Value:
    """`type("Named", (Base,), {})`: a class that adds nothing is what it derives from."""
    items = bases.items if isinstance(bases, Seq) else None
    adds_nothing = isinstance(members_, Table) and not members_.items and members_.rest is None
    return items[0] if items is not None and len(items) == 1 and adds_nothing else Unknown()


@function("builtins.callable")
def callable_(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    return TRUE if isinstance(first(arguments), External) else EITHER


@function("functools.partial", "functools.partialmethod")
def partial(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    if not arguments.positional:
        return Unknown()
    return Partial(arguments.positional[0], arguments.replace(positional=arguments.positional[1:]))


@function("types.MethodType")
def bound_method(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    """A function as the method of an object."""
    method, owner = first(arguments), first(arguments, 1)
    return method.replace(receiver=owner) if isinstance(method, Function) and owner is not None else Unknown()


@function("functools.wraps", "functools.update_wrapper")
def wraps(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    return Identity()


@function("copy.copy")
def shallow_copy(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    """The copy is like what is copied; Dynamo copies objects of classes, and no tensors and containers."""
    value = first(arguments, 0, "x") or Unknown()
    if isinstance(value, (Tensor, Seq, Table)):
        why = "Dynamo does not trace copies of tensors and containers"
        untraced.split(frame, node, Confidence.CERTAIN, "copy.copy", why)
    return _copied(frame, value)


def _copied(frame: Frame, value: Value) -> Value:
    """What is copied inside a region is gone after it, as what is made there."""
    if not frame.recording:
        return value
    return join_all([each.replace(fresh=True) if isinstance(each, Instance) else each for each in members(value)])


@function("dataclasses.replace", "functools.cache", "contextlib.contextmanager")
def same(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    return first(arguments) or Unknown()


@function("copy.deepcopy")
def deep_copy(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    """The copy is like what is copied; copying a tensor this way has effects of its own."""
    value = first(arguments, 0, "x") or Unknown()
    if any(True for _ in tensors_in(value)):
        call_row(frame, "copy.deepcopy", arguments, node, None)
    return _copied(frame, value)


@function("functools.lru_cache")
def lru_cache(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    value = first(arguments)
    return value if isinstance(value, Function) else Identity()


@function("typing.cast")
def typing_cast(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    """What is said to be a tensor, and of which nothing else is known, may be one."""
    value = first(arguments, 1) or Unknown()
    if isinstance(value, (Unknown, Method)) and first(arguments) is External("torch.Tensor"):
        return Tensor(Place.DEVICE, sure=Confidence.POSSIBLE)
    return value
