"""Walks of whole functions, scripts and classes."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from graphlint.project import ClassDecl, Module, Project
from graphlint.site.acts import Frame
from graphlint.site.calls import Given, default, inline, instance
from graphlint.site.expressions import evaluate
from graphlint.site.marked import run_body
from graphlint.site.members import attribute
from graphlint.site.roots import capturing, usual_order
from graphlint.site.statements import run
from graphlint.site.things import FunctionNode, Kind, Scope, Thing
from graphlint.site.walker import Walker

MOST_OF_FORWARD = 4_000
"""Acts of one call of a `forward` that are looked at."""


def walk_script(project: Project, module: Module, later: Sequence[ast.FunctionDef | ast.AsyncFunctionDef] = ()) -> Walker:
    """Walk the statements at the top of a file, and then functions that it does not call, each as often as others may."""
    walker = Walker(project, module, evaluate, run)
    walker.frame = Frame(module, module.name, None, None)
    walker.run(module.source.tree.body)
    called = {id(act.frame.body) for act in walker.acts}
    for node in later:
        thing = walker.scope.slots.get(node.name)
        if thing is not None and thing.function is node and id(node) not in called:
            for _ in range(2):
                _enter(walker, thing)
    return walker


def walk_function(project: Project, module: Module, node: FunctionNode, rounds: int = 1) -> Walker:
    """Walk one function with arguments of which nothing is known, then the functions it gives back."""
    walker = Walker(project, module, evaluate, run)
    outer = walker.module_scope(module)
    for _ in range(rounds):
        scope = Scope(module, getattr(node, "name", "<lambda>"), len(walker.acts), outer)
        _arguments(walker, scope, node)
        walker.frame = Frame(module, scope.name, None, None, node)
        walker.scope, walker.returned = scope, []
        walker.running = [node]
        run_body(walker, node)
        for thing in list(walker.returned):
            _follow(walker, thing)
    return walker


def _follow(walker: Walker, thing: Thing) -> None:
    """A function that was given back is called by someone, more than once."""
    for part in [thing, *thing.slots.values()]:
        if (
            part.kind is Kind.FUNCTION
            and part.scope is not None
            and part.function is not None
            and part.scope.outer is not None
        ):
            for _ in range(2):
                _enter(walker, part)
        elif part.decl is not None and part.decl.name not in part.decl.module.symbols:
            _use(walker, part, part.decl)


def _use(walker: Walker, thing: Thing, decl: ClassDecl) -> None:
    """Walk the methods of a class that stands in a function, or of an object of it, in the order in which they are used."""
    order = usual_order(decl.node.body, capturing(decl.module))
    if thing.kind is Kind.CLASS and order:
        init = decl.members.get("__init__")
        thing = instance(walker, thing, _unknown(walker, decl.module, init[-1]) if init else Given((), {}), decl.node)
    for name in order if thing.kind in (Kind.INSTANCE, Kind.MODULE) else ():
        found = attribute(walker, thing, name, decl.node)
        if found.kind is Kind.FUNCTION:
            _enter(walker, found, found.base)


def _enter(walker: Walker, function: Thing, receiver: Thing | None = None) -> list[Thing]:
    """Walk a function as a root of its own, with unknown arguments; what it gives back."""
    body, module = function.function, function.module
    assert body is not None and module is not None
    scope = Scope(module, getattr(body, "name", "<lambda>"), len(walker.acts), function.scope)
    _arguments(walker, scope, body, receiver)
    before = walker.scope, walker.frame, walker.returned
    walker.frame = Frame(module, scope.name, None, None, body)
    walker.scope, walker.returned = scope, []
    walker.running.append(body)
    run_body(walker, body)
    walker.running.pop()
    given = walker.returned
    walker.scope, walker.frame, walker.returned = before
    return given


def _arguments(walker: Walker, scope: Scope, node: FunctionNode, receiver: Thing | None = None) -> None:
    names = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    rest = [each for each in (node.args.vararg, node.args.kwarg) if each is not None]
    for place, parameter in enumerate([*names, *rest]):
        if place == 0 and receiver is not None:
            scope.slots[parameter.arg] = receiver
            continue
        scope.slots[parameter.arg] = _argument(walker, scope.module, node, parameter, len(walker.acts))


def _argument(walker: Walker, module: Module, node: FunctionNode, parameter: ast.arg, born: int) -> Thing:
    """What nobody is seen to give: something unknown, if the default is nothing of torch that matters here."""
    known = walker.standing(module, default(node.args, parameter))
    if known is not None:
        return known
    thing = Thing(Kind.UNKNOWN, parameter, born, parameter.arg)
    thing.is_argument = True
    return thing


def walk_class(project: Project, decl: ClassDecl, order: Iterable[str]) -> Walker:
    """Walk a class as it is used: made first, then its methods in this order on the same object."""
    walker = Walker(project, decl.module, evaluate, run)
    walker.frame = Frame(decl.module, decl.name, None, None)
    cls = Thing(Kind.CLASS, decl.node, 0, decl.name, decl=decl, module=decl.module)
    init = project.member(decl, "__init__")
    given = _unknown(walker, init[0].module, init[1][-1]) if init is not None else Given((), {})
    made = walker.made = instance(walker, cls, given, decl.node)
    for name in order:
        found = attribute(walker, made, name, decl.node)
        if found.kind is Kind.FUNCTION:
            for thing in _enter(walker, found, found.base):
                _follow(walker, thing)
    return walker


def walk_forward(project: Project, decl: ClassDecl) -> tuple[Walker, int]:
    """Two calls of `forward` on one object, and the act with which the second one begins."""
    walker = walk_class(project, decl, ())
    made = walker.made
    walker.limit = len(walker.acts) + MOST_OF_FORWARD
    begin = 0
    for _ in range(2):
        begin = len(walker.acts)
        found = attribute(walker, made, "forward", decl.node)
        if found.kind is Kind.FUNCTION:
            _enter(walker, found, found.base)
        walker.limit = begin + 2 * MOST_OF_FORWARD
    return walker, begin


def _unknown(walker: Walker, module: Module, node: ast.AST) -> Given:
    if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return Given((), {})
    parameters = [*node.args.posonlyargs, *node.args.args][1:]
    return Given(tuple(_argument(walker, module, node, parameter, 0) for parameter in parameters), {})


__all__ = ["inline", "walk_class", "walk_forward", "walk_function", "walk_script"]
