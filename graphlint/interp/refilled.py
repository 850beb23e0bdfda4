"""Host tensors that an object keeps and that somebody fills anew between calls: kernels take what they held at capture."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from graphlint.captors import functions
from graphlint.interp.members import late_writers
from graphlint.modules import once_a_module
from graphlint.values import REFILLED, Place, Tensor, Value, join_all, members

if TYPE_CHECKING:
    from graphlint.interp.machine import Machine
    from graphlint.project import ClassDecl, Module

BUILDING = frozenset(
    {"__init__", "__post_init__", "reset_parameters", "init_weights", "_init_weights", "_reset_parameters"}
)
"""What these write is there before any capture."""
PLAIN = frozenset({"", "state"})
WRITING = r"\.(\w+)(?=(?:\.data)?(?:\.(?!requires_grad_)\w+_\(|\s*(?:[-+*/]|//)=)|\s*(=)[^=])"
"""`model.rate.fill_(...)`, `self.rate *= 2`, `model.rate = ...`; of the last kind it has a second group."""


def refilled(machine: Machine, decl: ClassDecl, name: str, value: Value) -> Value:
    """What an attribute holds, with the role that says whether its file writes it once the object is made."""
    held = [each for each in members(value) if isinstance(each, Tensor) and each.place is Place.HOST and each.role in PLAIN]
    if len(held) < len(members(value)) or not (late_writers(machine, decl, name) or _is_written(decl.module, name)):
        return value
    return join_all([each.replace(role=REFILLED) for each in held])


def _is_written(module: Module, name: str) -> bool:
    text = module.source.text
    return any(not _is_built(module, text.count("\n", 0, at) + 1) for at in _writing(module).get(name, ()))


@once_a_module
def _writing(module: Module) -> dict[str, list[int]]:
    """Where a file writes each attribute, but for what an object itself is given in the first place."""
    text = module.source.text
    found: dict[str, list[int]] = {}
    for each in re.finditer(WRITING, text):
        at = each.start()
        before = text[max(at - 5, 0) : at]
        is_own = before.endswith("self") and not before[:-4].isidentifier()
        if each[2] is None or not is_own:
            found.setdefault(each[1], []).append(at)
    return found


def _is_built(module: Module, line: int) -> bool:
    """Whether a line stands in a function that only sets up an object."""
    around = [each for each, _ in functions(module) if each.lineno <= line <= (each.end_lineno or line)]
    return bool(around) and max(around, key=lambda each: each.lineno).name in BUILDING
