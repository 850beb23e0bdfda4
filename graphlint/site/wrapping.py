"""Functions under decorators that capture them: `@graphed` with a function or a class of the tree."""

from __future__ import annotations

import ast

from graphlint.project import ClassDecl, FunctionDecl
from graphlint.site.acts import Frame
from graphlint.site.calls import Given, inline, instance
from graphlint.site.mentions import mentions
from graphlint.site.roots import CAPTURES
from graphlint.site.things import Kind, Thing
from graphlint.site.walker import Walker

CALLABLE = (Kind.FUNCTION, Kind.INSTANCE, Kind.COMPILED, Kind.GRAPHED)


def wrapped(walker: Walker, thing: Thing, decl: FunctionDecl | ClassDecl, decorator: ast.expr) -> Thing:
    """What a decorator makes of a function or of a method, whose object is handed to the wrapper then."""
    if decorator in walker.running or not mentions(decl.node, CAPTURES):
        return thing
    frame, scope, layer = walker.frame, walker.scope, walker.layer
    assert thing.module is not None
    walker.frame, walker.scope = Frame(thing.module, "", None, None), walker.module_scope(thing.module)
    walker.running.append(decorator)
    try:
        made = _made(walker, thing, decorator)
    finally:
        walker.running.pop()
        walker.frame, walker.scope, walker.layer = frame, scope, layer
    return made if made.kind in CALLABLE else thing


def _made(walker: Walker, thing: Thing, decorator: ast.expr) -> Thing:
    receiver, thing.base = thing.base, None
    maker = walker.evaluate(decorator)
    given = Given((thing,), {})
    if maker.kind is Kind.CLASS:
        return instance(walker, maker, given, decorator)
    made = inline(walker, maker, given, decorator) if maker.kind is Kind.FUNCTION else maker
    if made.kind is Kind.FUNCTION:
        made.base = receiver
    else:
        thing.base = receiver
    return made
