"""Numbers that a loop passes to a compiled function, another one in every round."""

from __future__ import annotations

import ast

from graphlint.site.acts import Act
from graphlint.site.things import Kind, Thing
from graphlint.syntax import receiver_name, stored, walk


def counted(before: Act, act: Act) -> str:
    """The parameter that gets what a loop counts in every round and that the compiled function uses; "" if none does."""
    parameters, body = _signature(act.thing.base)
    given = list(act.other.slots.values()) if act.other is not None else []
    earlier = list(before.other.slots.values()) if before.other is not None else []
    if act.call is None or act.call.keywords:
        return ""
    for name, new, old in zip(parameters, given, earlier):
        if _is_counter(new, act) and _is_counter(old, before) and new is not old and _uses(body, name):
            return name
    return ""


def _is_counter(thing: Thing, act: Act) -> bool:
    """Whether a number is what a loop around an act counts, and no length or constant."""
    loops = [layer.node for layer in act.layers if isinstance(layer.node, (ast.For, ast.AsyncFor))]
    targets = [node for loop in loops for node in (loop, loop.target, *stored(loop))]
    return thing.kind is Kind.NUMBER and any(thing.node is node for node in targets)


def _signature(compiled: Thing | None) -> tuple[list[str], list[ast.stmt]]:
    """The positional parameters of a function, or of the `forward` of a module, and its body."""
    function = compiled.function if compiled is not None else None
    decl = compiled.decl if compiled is not None and compiled.kind is Kind.MODULE else None
    forward = decl.members.get("forward", [None])[-1] if decl is not None else None
    node = forward if isinstance(forward, ast.FunctionDef) else function
    if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return [], []
    names = [each.arg for each in (*node.args.posonlyargs, *node.args.args)]
    own = receiver_name(node) if node is forward else ""
    return names[1:] if own else names, node.body


def _uses(body: list[ast.stmt], name: str) -> bool:
    return any(isinstance(each, ast.Name) and each.id == name for part in body for each in walk(part))
