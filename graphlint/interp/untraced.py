"""Host values that a capture may read and Dynamo may not: it traces host tensors as it does any other.

Measured with torch 2.13 on the CPU (`tests/data/traced.txt`): even `torch.tensor(5).item()` splits the graph.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from graphlint.events import GraphBreak
from graphlint.interp.frame import Frame
from graphlint.outline import mentions
from graphlint.project import ClassDecl, Outside, Project
from graphlint.syntax import walk
from graphlint.types import Confidence, Target
from graphlint.values import (
    Arguments,
    Bool,
    ExternalObject,
    Function,
    Nothing,
    Number,
    Place,
    Seq,
    Tensor,
    Text,
    Union,
    Value,
    members,
)

if TYPE_CHECKING:
    from graphlint.interp.machine import Machine

HELD = "Dynamo traces host tensors and arrays without knowing what they hold"
ON_HOST = (Place.HOST, Place.PINNED)
PLAIN = (Number, Bool)
ARRAYS = ("numpy.ndarray", "numpy.number")


def ask(frame: Frame, value: Value | None, node: ast.AST, construct: str) -> None:
    """Python asks for what a value holds, which splits the graph if that is a host tensor."""
    asked = members(value) if value is not None else ()
    for member in asked:
        if is_array(member):
            split(frame, node, Confidence.CERTAIN, construct, HELD)
        elif isinstance(member, Tensor) and member.place in ON_HOST:
            # What may as well be a number or a flag, such as the length of a cache that grows, mostly is one.
            split(frame, node, Confidence.POSSIBLE if or_number(value) else member.sure, construct)


def is_array(value: Value | None) -> bool:
    """Whether a value is an array of numpy or what one is reduced to, which Dynamo traces as tensors."""
    return isinstance(value, ExternalObject) and value.name in ARRAYS


def array_among(left: Value, right: Value) -> Value | None:
    """What an operation on arrays gives: an array, or a number of numpy's."""
    if isinstance(left, (Nothing, Text)) or isinstance(right, (Nothing, Text)):
        return None
    return left if is_array(left) else right if is_array(right) else None


KEPT_OUT = "the function is kept out of what Dynamo traces"


def call(frame: Frame, callee: Function, arguments: Arguments, node: ast.AST) -> Value:
    """Dynamo leaves its graph for the call, and looks at nothing that is done there."""
    split(frame, node, Confidence.CERTAIN, callee.decl.name, KEPT_OUT)
    live, was = frame.live, frame.recording
    frame.live, frame.recording = live & Target.GRAPH or live, was and bool(live & Target.GRAPH)
    value = frame.machine.call(frame, callee, arguments, node)
    frame.live, frame.recording = live, was
    return value


BUFFERS = frozenset({"torch.nn.Buffer", "torch.nn.parameter.Buffer"})


def is_declared_fleeting(machine: Machine, decl: ClassDecl, name: str) -> bool:
    """Whether a class says `self.name = nn.Buffer(..., persistent=False)`; `register_buffer` makes another kind."""
    bases = [base for base in machine.project.mro(decl) if isinstance(base, ClassDecl) and mentions(base.node, "Buffer")]
    return any(name in _fleeting(machine, base) for base in bases)


def _fleeting(machine: Machine, owner: ClassDecl) -> frozenset[str]:
    known = machine.read.fleeting.get(owner)
    if known is None:
        parts = (each for part in owner.node.body if mentions(part, "Buffer") for each in walk(part))
        made = [each for each in parts if isinstance(each, ast.Assign) and _is_fleeting(machine.project, owner, each.value)]
        targets = (target for each in made for target in each.targets)
        known = frozenset(target.attr for target in targets if isinstance(target, ast.Attribute))
        machine.read.fleeting[owner] = known
    return known


def _is_fleeting(project: Project, owner: ClassDecl, value: ast.expr) -> bool:
    if not isinstance(value, ast.Call) or not any(
        word.arg == "persistent" and isinstance(word.value, ast.Constant) and not word.value.value
        for word in value.keywords
    ):
        return False
    found = project.dotted(owner.module, value.func)
    return isinstance(found, Outside) and found.name in BUFFERS


def or_number(value: Value | None, depth: int = 2) -> bool:
    """Whether a Python number or flag may stand where a tensor may, here or within."""
    if isinstance(value, Union):
        kinds = {type(member) for member in value.members}
        return (Tensor in kinds and not kinds.isdisjoint(PLAIN)) or any(or_number(each, depth) for each in value.members)
    if not isinstance(value, Seq) or not depth:
        return False
    return any(or_number(each, depth - 1) for each in (*(value.items or ()), value.rest))


def split(frame: Frame, node: ast.AST, sure: Confidence, construct: str, why: str = HELD) -> None:
    """Dynamo splits the graph; a raw capture does not mind."""
    live, frame.live = frame.live, frame.live & Target.COMPILE
    frame.emit(GraphBreak, node, sure, construct=construct, why=why)
    frame.live = live
