"""The parts of a module, however deep, where code hangs hooks on them: `for part in model.modules()`.

Anywhere else the parts that a module holds itself are enough, and looking for more would cost every constructor that
goes through its modules to set weights.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from graphlint.interp.deferring import hangs
from graphlint.interp.dispatch import apply
from graphlint.interp.frame import Frame
from graphlint.interp.objects import record_of
from graphlint.values import Arguments, ExternalObject, Function, Instance, Seq, Table, Value, join_all, members

MOST_PARTS = 48


def below(frame: Frame, module: Value) -> Value | None:
    """Any one of the modules below a module; None if none is known."""
    found: dict[Value, None] = {}
    waiting = list(members(module))
    while waiting and len(found) < MOST_PARTS:
        for part in _held(frame, waiting.pop(0)):
            if part not in found:
                waiting.append(part)
                if isinstance(part, (Instance, ExternalObject)):
                    found[part] = None
    return join_all(list(found)) if found else None


def _held(frame: Frame, module: Value) -> Iterator[Value]:
    if isinstance(module, (Seq, Table)):
        yield from members(module.element())
    elif isinstance(module, Instance):
        record = record_of(frame.machine, module)
        for _, value in record.parts(frame.machine, lambda _, __: True):
            yield from (each for each in members(value) if isinstance(each, (Instance, ExternalObject, Seq, Table)))


def hang_on_each(frame: Frame, function: Value, module: Value, node: ast.AST) -> None:
    """`model.apply(watch)`, where `watch` registers a hook on the module that it is given."""
    if not isinstance(function, Function) or not hangs(function.decl) or not isinstance(node, ast.Call):
        return
    if not isinstance(node.func, ast.Attribute) or not node.args:
        return
    owner = node.func.value
    some = ast.copy_location(ast.Subscript(owner, ast.copy_location(ast.Constant(0), node), ast.Load()), node)
    for given, value in ((some, below(frame, module)), (owner, module)):
        if value is not None:
            for each in members(value):
                apply(frame, function, Arguments((each,)), ast.copy_location(ast.Call(node.args[0], [given], []), node))
