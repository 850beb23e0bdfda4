"""Numbers that a loop passes to a compiled function, another one in every round."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from graphlint.site.acts import Act
from graphlint.site.things import Kind, Thing
from graphlint.syntax import receiver_name, stored, walk


def counted(before: Act, act: Act) -> str:
    """The parameter that gets what a loop counts in every round and that the compiled function uses; "" if none does."""
    parameters, statements = _signature(act)
    if act.call is None or act.call.keywords:
        return ""
    for name, new, old in zip(parameters, act.given, before.given):
        if _is_counter(new, act) and _is_counter(old, before) and new is not old and _uses(statements, name):
            return name
    return ""


def _is_counter(thing: Thing, act: Act) -> bool:
    """Whether a number is what a loop around an act counts, and no length or constant."""
    loops = [layer.node for layer in act.layers if isinstance(layer.node, (ast.For, ast.AsyncFor))]
    targets = [node for loop in loops for node in (loop, loop.target, *stored(loop))]
    return thing.kind is Kind.NUMBER and any(thing.node is node for node in targets)


def body(call: Act) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    """The function that is compiled, or the `forward` of the module that is."""
    compiled = call.thing.base
    function = compiled.function if compiled is not None else None
    decl = compiled.decl if compiled is not None and compiled.kind is Kind.MODULE else None
    forward = decl.members.get("forward", [None])[-1] if decl is not None else None
    node = forward if isinstance(forward, ast.FunctionDef) else function
    return node if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) else None


def _signature(call: Act) -> tuple[list[str], list[ast.stmt]]:
    """The positional parameters of what is compiled, and its body."""
    node = body(call)
    if node is None:
        return [], []
    names = [each.arg for each in (*node.args.posonlyargs, *node.args.args)]
    compiled = call.thing.base
    own = receiver_name(node) if compiled is not None and compiled.kind is Kind.MODULE else ""
    return names[1:] if own else names, node.body


def _uses(statements: list[ast.stmt], name: str) -> bool:
    return any(isinstance(each, ast.Name) and each.id == name for part in statements for each in walk(part))


def cut(act: Act, name: str) -> Iterator[ast.Subscript]:
    """Where a compiled function reads up to what a parameter says, or from there on, and so another length each time."""
    for part in _signature(act)[1]:
        for each in walk(part):
            if isinstance(each, ast.Subscript) and isinstance(each.ctx, ast.Load) and _is_cut(each.slice, name):
                yield each


def _is_cut(index: ast.expr, name: str) -> bool:
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    return any(_says(each.lower, name) != _says(each.upper, name) for each in parts if isinstance(each, ast.Slice))


def _says(bound: ast.expr | None, name: str) -> bool:
    return bound is not None and any(isinstance(each, ast.Name) and each.id == name for each in walk(bound))
