"""Attributes: what an object of the tree holds, and methods bound to it."""

from __future__ import annotations

import ast

from graphlint.project import ClassDecl, Outside, Symbol
from graphlint.site.acts import Verb
from graphlint.site.names import FACTS, VIEWS, optimizer
from graphlint.site.roots import may_capture
from graphlint.site.things import Kind, Slot, Thing
from graphlint.site.walker import Walker
from graphlint.syntax import is_marked, last, receiver_name


def attribute(walker: Walker, base: Thing, attr: str, node: ast.AST) -> Thing:
    """The thing an attribute holds; methods become functions bound to their object."""
    if attr in FACTS:
        return walker.thing(Kind.CONSTANT, node, name=attr)
    if attr not in base.slots:
        if base.kind is Kind.TENSOR and attr in VIEWS:
            return walker.thing(Kind.TENSOR, node, base=base)
        base.slots[attr] = _member(walker, base, attr, node)
    thing = base.slots[attr]
    if thing.kind is Kind.PROPERTY:
        return _computed(walker, thing, base, node)
    walker.act(Verb.LOAD, node, thing, slot=Slot(base, attr))
    return thing


def _computed(walker: Walker, thing: Thing, base: Thing, node: ast.AST) -> Thing:
    """What the function behind a property gives; a cached one stays what it was first."""
    from graphlint.site.calls import Given, inline

    value = inline(walker, thing, Given((base,), {}), node)
    if thing.name == CACHED:
        base.slots[getattr(thing.function, "name", "")] = value
    return value


def setter(walker: Walker, base: Thing, attr: str) -> Thing | None:
    """The function that runs where an attribute is assigned; None where there is none."""
    found = walker.project.member(base.decl, attr) if base.decl is not None else None
    for symbol in found[1] if found is not None else ():
        if found is None or not isinstance(symbol, ast.FunctionDef):
            continue
        if any(isinstance(mark, ast.Attribute) and mark.attr == "setter" for mark in symbol.decorator_list):
            return _method(walker, base, found[0], symbol)
    return None


CACHED = "cached_property"


PROPERTIES = frozenset({"property", CACHED})


def inherited(walker: Walker, attr: str, node: ast.AST) -> Thing | None:
    """The method that `super()` finds in the function that is walked; bases of other files, if these capture as well."""
    body = walker.frame.body
    if not isinstance(body, (ast.FunctionDef, ast.AsyncFunctionDef)) or not (own := receiver_name(body)):
        return None
    receiver = walker.scope.slots.get(own)
    if receiver is None or receiver.decl is None:
        return None
    bases = (each for each in walker.project.mro(receiver.decl) if isinstance(each, ClassDecl))
    here = next((each for each in bases if body in each.members.get(body.name, ())), None)
    found = walker.project.member(receiver.decl, attr, here) if here is not None else None
    if found is None or not (found[0].module is walker.module or may_capture(found[0].module)):
        return None
    return _bound(walker, receiver, found[0], found[1], node)


def _member(walker: Walker, base: Thing, attr: str, node: ast.AST) -> Thing:
    found = walker.project.member(base.decl, attr) if base.decl is not None else None
    if attr == "param_groups" and _is_optimizer(walker, base):
        # Every loop over them comes by the same groups.
        group = Thing(Kind.CONTAINER, node, base.born, base=base)
        return Thing(Kind.CONTAINER, node, base.born, attr, base=base, slots={"[*]": group})
    if found is None:
        child = Thing(Kind.UNKNOWN, node, base.born, attr)
        child.is_argument, child.is_guess = base.is_argument, base.kind is not Kind.GRAPH
        if base.kind is Kind.GRAPH:
            # `run = graph.replay`: who holds that holds the graph.
            child.base, child.slots = base, {"__self__": base}
        return child
    return _bound(walker, base, found[0], found[1], node)


def _is_optimizer(walker: Walker, base: Thing) -> bool:
    """Whether an object is an optimizer of torch's, or of a class derived from one."""
    if base.kind is Kind.INSTANCE and base.decl is not None:
        outside = (each.name for each in walker.project.mro(base.decl) if isinstance(each, Outside))
        return any(optimizer(name) for name in outside)
    return base.kind is Kind.OPTIMIZER


def _bound(walker: Walker, base: Thing, owner: ClassDecl, symbols: list[Symbol], node: ast.AST) -> Thing:
    """What a class says about an attribute of one of its objects."""
    for each in symbols:
        marks = [last(mark) for mark in each.decorator_list] if isinstance(each, ast.FunctionDef) else []
        kind = next((mark for mark in marks if mark in PROPERTIES), "")
        if kind and isinstance(each, ast.FunctionDef):
            found = _method(walker, base, owner, each)
            found.kind, found.name = Kind.PROPERTY, kind
            return found
    symbol = symbols[-1]
    if isinstance(symbol, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return walker.decorated(_method(walker, base, owner, symbol))
    if isinstance(symbol, (ast.Assign, ast.AnnAssign)) and symbol.value is not None:
        return walker.evaluate(symbol.value)
    return Thing(Kind.UNKNOWN, node, base.born, getattr(symbol, "name", ""))


def _method(walker: Walker, base: Thing, owner: ClassDecl, symbol: ast.FunctionDef | ast.AsyncFunctionDef) -> Thing:
    method = Thing(Kind.FUNCTION, symbol, base.born, symbol.name, decl=owner, function=symbol, module=owner.module)
    method.scope = walker.module_scope(owner.module)
    method.base = None if is_marked(symbol, "staticmethod") else base
    return method
