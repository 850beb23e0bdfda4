"""What a tensor compares itself with: other tensors and numbers.

With anything else (a string, None, a class, a member of an enumeration) `==` of a tensor gives `NotImplemented`, and Python
falls back to whether both are the same object: nothing is launched and nothing is read.
"""

from __future__ import annotations

from graphlint.project import ClassDecl, Outside, Project
from graphlint.values import (
    ClassValue,
    DeviceValue,
    DtypeValue,
    External,
    Function,
    Instance,
    Method,
    ModuleValue,
    Nothing,
    Opaque,
    Place,
    Seq,
    SliceValue,
    Table,
    Tensor,
    Text,
    Union,
    Value,
    members,
    on_device,
)

REFUSED = (ClassValue, DeviceValue, DtypeValue, Function, Method, ModuleValue, Nothing, Seq, SliceValue, Table, Text)
"""Kinds of which a tensor makes no tensor (measured with torch 2.13: `==` gives a `bool`)."""

BY_IDENTITY = ("abc.", "enum.", "torch.nn.", "typing.", "builtins.object")
NUMERIC = ("enum.Int", "enum.ReprEnum", "builtins.int", "builtins.float")
"""Bases whose objects are numbers, whatever else they are."""


def takes(project: Project, value: Value) -> bool:
    """Whether comparing a tensor with one of these can give a tensor."""
    return any(_takes(project, member) for member in members(value))


def _takes(project: Project, value: Value) -> bool:
    if isinstance(value, External):
        return not value.name.startswith("builtins.")
    if isinstance(value, Instance):
        return _has_equality(project, value.decl)
    return not isinstance(value, REFUSED)


def _has_equality(project: Project, decl: ClassDecl) -> bool:
    outside = [base.name for base in project.mro(decl) if isinstance(base, Outside)]
    if is_numeric(project, decl) or any(not name.startswith(BY_IDENTITY) for name in outside):
        return True
    return project.member(decl, "__eq__") is not None


def is_numeric(project: Project, decl: ClassDecl) -> bool:
    """Whether the objects of a class are numbers, such as the members of an `IntEnum`."""
    return any(isinstance(base, Outside) and base.name.startswith(NUMERIC) for base in project.mro(decl))


def read_in(project: Project, sought: Value, container: Value) -> Tensor | None:
    """The device tensor whose comparison Python asks for its truth when it looks for a value in a container."""
    parts = members(container)
    inside = [part for part in parts if isinstance(part, Tensor) and part.place is Place.DEVICE]
    subject = on_device(sought) if isinstance(sought, (Tensor, Union)) else None
    held = on_device(container) if not isinstance(container, (Table, Instance)) else None
    culprit = inside[0] if inside else held if held is not None and subject is None else subject
    return culprit if culprit is not None and any(_compares(project, sought, part) for part in parts) else None


def _compares(project: Project, sought: Value, container: Value) -> bool:
    """Whether numbers can end up compared on the device: not by what looks for a hash, and not with strings."""
    if not isinstance(container, Seq):
        return isinstance(container, Tensor)
    if container.form == "set" or container.items == () or not takes(project, sought):
        return False
    return any(not isinstance(each, Opaque) and _takes(project, each) for each in members(container.element()))
