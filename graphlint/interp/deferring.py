"""What a constructor does later: calls that make an attribute run when somebody reads it, which most are not.

Hooks are registered at once, for they change what other attributes do.
"""

from __future__ import annotations

import ast

from graphlint.interp.frame import Frame
from graphlint.interp.members import may_be_part, reach, sets, writes
from graphlint.interp.mutation import is_building
from graphlint.interp.record import Deferred, Effect
from graphlint.outline import mentions
from graphlint.project import FunctionDecl
from graphlint.syntax import walk
from graphlint.values import Instance, Value

HANGING = "register_f"
"""What the text of a function holds that registers a hook of most kinds."""
AT_ONCE = frozenset({"register_forward_hook", "register_forward_pre_hook", "register_full_backward_hook"})
"""Calls that change what other attributes do, and not only what they give is of interest."""

DEFERRABLE = (ast.Call, ast.ListComp, ast.DictComp, ast.GeneratorExp, ast.IfExp, ast.BoolOp)


def defer(frame: Frame, node: ast.Assign) -> bool:
    """Put off `self.name = call(...)` in a constructor until somebody reads the attribute; False if it must run now."""
    if len(node.targets) != 1 or not isinstance(node.targets[0], ast.Attribute) or not isinstance(node.value, DEFERRABLE):
        return False
    target = node.targets[0]
    receiver = frame.receiver
    if not isinstance(receiver, Instance) or not is_building(frame, receiver):
        return False
    if _hangs(frame, node.value):
        return False
    if not isinstance(target.value, ast.Name):
        # `self.config.flag = call(...)`: an attribute of something else than what is being made.
        return True
    if frame.env.get(target.value.id) is not receiver or _reads(node.value, target.value.id, target.attr):
        return False
    record = frame.machine.records[receiver]
    record.make(frame.machine, target.attr)
    record.write(target.attr, Deferred(frame, node.value), not frame.conditional)
    frame.env.pop(f"{target.value.id}.{target.attr}", None)
    return True


def _hangs(frame: Frame, node: ast.expr) -> bool:
    """Whether an expression registers a hook, or calls a function or a method of the same object that does."""
    match node:
        case ast.ListComp(elt=inner) | ast.DictComp(value=inner):
            return _hangs(frame, inner)
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=attr)) if name == frame.own:
            assert isinstance(frame.receiver, Instance)
            found = frame.machine.project.member(frame.receiver.decl, attr)
            symbol = found[1][-1] if found is not None else None
            if found is None or not isinstance(symbol, ast.FunctionDef):
                return False
            return hangs(found[0].module.function(symbol, found[0], attr))
        case ast.Call(func=ast.Attribute(attr=attr)):
            return attr in AT_ONCE
        case ast.Call(func=ast.Name(id=name)):
            declared = frame.machine.project.lookup(frame.module, name)
            return isinstance(declared, FunctionDecl) and hangs(declared)
    return False


def all_parts(frame: Frame, module: Value) -> Value | None:
    """Any one of the modules below a module, where this function hangs hooks on them; None elsewhere."""
    if frame.decl is None or not hangs(frame.decl):
        return None
    from graphlint.interp.parts import below  # here because few functions hang hooks on parts

    return below(frame, module)


def hangs(decl: FunctionDecl) -> bool:
    """Whether a function registers a hook itself."""
    return mentions(decl.node, HANGING) and any(
        isinstance(each.func, ast.Attribute) and each.func.attr in AT_ONCE for each in decl.every(ast.Call)
    )


def _reads(node: ast.expr, owner: str, name: str) -> bool:
    """Whether an expression takes what the attribute held so far: put off, it would find itself there."""
    return any(
        isinstance(each, ast.Attribute)
        and each.attr == name
        and isinstance(each.value, ast.Name)
        and each.value.id == owner
        for each in walk(node)
    )


def put_off(frame: Frame, node: ast.expr) -> bool:
    """Put off a call in a constructor, whose result nobody takes, until an attribute is read that it may write.

    True if the call need not be made now: `self.post_init()`, or `self.init_weights()` that sets nothing.
    """
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method)):
            receiver = frame.receiver
            if (
                not isinstance(receiver, Instance)
                or frame.env.get(name) is not receiver
                or not is_building(frame, receiver)
                or frame.machine.project.member(receiver.decl, method) is None
            ):
                return False
            if not sets(frame.machine, receiver.decl, method):
                return True
            return _later(frame, receiver, method, node)
    return False


def _later(frame: Frame, receiver: Instance, method: str, node: ast.Call) -> bool:
    machine = frame.machine
    run = reach(machine, receiver.decl, method)
    record = machine.records[receiver]
    if not run.closed:
        return False
    written = [(base, writes(machine, each)) for base, each in run.methods]
    names = frozenset(name for _, each in written for name in each.values)
    every = [(base, one) for base, each in written for some in each.values.values() for one in some]
    parts = any(may_be_part(base, each.value) for base, each in every)
    record.effects.append(Effect(Deferred(frame, node), names, parts))
    return True
