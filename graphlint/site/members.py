"""Attributes: what an object of the tree holds, and methods bound to it."""

from __future__ import annotations

import ast

from graphlint.site.acts import Verb
from graphlint.site.names import FACTS, VIEWS
from graphlint.site.things import Kind, Slot, Thing
from graphlint.site.walker import Walker


def attribute(walker: Walker, base: Thing, attr: str, node: ast.AST) -> Thing:
    """The thing an attribute holds; methods become functions bound to their object."""
    if attr in FACTS:
        return walker.thing(Kind.CONSTANT, node, name=attr)
    if attr not in base.slots:
        if base.kind is Kind.TENSOR and attr in VIEWS:
            return walker.thing(Kind.TENSOR, node, base=base)
        base.slots[attr] = _member(walker, base, attr, node)
    thing = base.slots[attr]
    walker.act(Verb.LOAD, node, thing, slot=Slot(base, attr))
    return thing


def _member(walker: Walker, base: Thing, attr: str, node: ast.AST) -> Thing:
    found = walker.project.member(base.decl, attr) if base.decl is not None else None
    if found is None:
        child = Thing(Kind.UNKNOWN, node, base.born, attr)
        child.is_argument, child.is_guess = base.is_argument, True
        return child
    owner, symbols = found
    symbol = symbols[-1]
    if isinstance(symbol, (ast.FunctionDef, ast.AsyncFunctionDef)):
        method = Thing(Kind.FUNCTION, symbol, base.born, symbol.name, decl=owner, function=symbol, module=owner.module)
        method.scope = walker.module_scope(owner.module)
        is_static = any(isinstance(mark, ast.Name) and mark.id == "staticmethod" for mark in symbol.decorator_list)
        method.base = None if is_static else base
        return walker.decorated(method)
    if isinstance(symbol, (ast.Assign, ast.AnnAssign)) and symbol.value is not None:
        return walker.evaluate(symbol.value)
    return Thing(Kind.UNKNOWN, node, base.born, attr)
