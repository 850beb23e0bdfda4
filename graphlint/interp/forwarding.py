"""Calls of modules that end in a `forward`: of the tree's classes, and of what derives from a module of torch."""

from __future__ import annotations

import ast

from graphlint.effects.table import lookup
from graphlint.interp.dispatch import apply, count_unknown
from graphlint.interp.frame import Frame
from graphlint.interp.handlers import module_method
from graphlint.interp.objects import class_member, record_of
from graphlint.interp.record import replaced
from graphlint.interp.torch_calls import call_row
from graphlint.project import ClassDecl, Outside
from graphlint.values import Arguments, ExternalObject, Instance, Unknown, Value


@module_method("__call__")
def forwarded(frame: Frame, callee: Value, arguments: Arguments, node: ast.AST) -> Value:
    """What `nn.Module.__call__` does, for classes of the tree that have one of their own too: run the `forward`."""
    if not isinstance(callee, Instance):
        return apply(frame, callee, arguments, node)
    decl = callee.decl
    found = replaced(frame, callee, "forward") or class_member(frame, decl, "forward", callee, node)
    if found is not None and not isinstance(found, Unknown):
        return apply(frame, found, arguments, node)
    override = record_of(frame.machine, callee).read(frame.machine, "forward")
    if override is not None:
        return apply(frame, override, arguments, node)
    record = record_of(frame.machine, callee)
    if record.children is not None:
        return apply(frame, record.children, arguments, node)
    base = _module_base(frame, decl)
    if base is not None:
        return call_row(frame, f"{base}.forward", arguments, node, ExternalObject(base))
    count_unknown(frame, node)
    return Unknown()


def _module_base(frame: Frame, decl: ClassDecl) -> str | None:
    """The torch module class that a class of the tree derives its `forward` from."""
    for base in frame.machine.project.mro(decl):
        if isinstance(base, Outside) and lookup(f"{base.name}.forward") is not None:
            return base.name
    return None
