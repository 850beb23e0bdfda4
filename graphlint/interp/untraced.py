"""Host values that a capture may read and Dynamo may not: it traces host tensors as it does any other.

Measured with torch 2.13 on the CPU (`tests/data/traced.txt`): even `torch.tensor(5).item()` splits the graph.
"""

from __future__ import annotations

import ast

from graphlint.events import GraphBreak
from graphlint.interp.frame import Frame
from graphlint.project import FunctionDecl, Outside, Project
from graphlint.types import Confidence, Target
from graphlint.values import Bool, ExternalObject, Number, Place, Seq, Tensor, Union, Value, members

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
            # What may as well be a number or a flag, such as a cache's length, is one wherever Dynamo was seen to trace it.
            split(frame, node, Confidence.POSSIBLE if or_number(value) else member.sure, construct)


def is_array(value: Value | None) -> bool:
    """Whether a value is an array of numpy or what one is reduced to, which Dynamo traces as tensors."""
    return isinstance(value, ExternalObject) and value.name in ARRAYS


KEPT_OUT = frozenset({"torch.compiler.disable", "torch._dynamo.disable", "torch._dynamo.decorators.disable"})


def is_kept_out(project: Project, decl: FunctionDecl) -> bool:
    """Whether a decorator says that Dynamo is not to trace a function."""
    for each in getattr(decl.node, "decorator_list", ()):
        found = project.dotted(decl.module, each.func if isinstance(each, ast.Call) else each)
        if isinstance(found, Outside) and found.name in KEPT_OUT:
            return True
    return False


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
