"""Objects of the tree that a `with` enters: what their `__enter__` opens stays open until the block ends.

class Session:
    def __enter__(self):
        self.cast.__enter__()                           # or self.stack.enter_context(...)
        return self
"""

from __future__ import annotations

import ast

from graphlint.site.acts import Frame, Verb
from graphlint.site.members import attribute
from graphlint.site.things import Kind, Thing
from graphlint.site.walker import Walker

Opened = tuple[ast.AST, Thing, Frame]
INSIDE = frozenset({"__enter__", "enter_context"})
"""Methods that open a block without a `with`."""


def is_manager(thing: Thing) -> bool:
    return thing.kind is Kind.INSTANCE and thing.decl is not None


def ran(walker: Walker, manager: Thing, name: str, node: ast.expr) -> Thing | None:
    """What `__enter__` or `__exit__` of an object gives, walked; None if its class has none in the tree."""
    from graphlint.site.calls import Given, inline

    if manager.decl is None or walker.project.member(manager.decl, name) is None:
        return None
    function = attribute(walker, manager, name, node)
    if function.kind is not Kind.FUNCTION:
        return None
    return inline(walker, function, Given((manager,), {}), node)


def entered(walker: Walker, manager: Thing, node: ast.expr) -> Thing:
    """Enter an object, with all that it opens; what `as` binds."""
    held: list[Opened] = []
    walker.opening.append(held)
    given = ran(walker, manager, "__enter__", node)
    walker.opening.pop()
    # Only now: a loop or a block in `__enter__` itself closes what it has opened, and no more.
    frame = walker.frame
    for inner, thing, walker.frame in held:
        walker.enter(inner, thing)
        walker.act(Verb.ENTER, inner, thing)
        walker.stacked[id(manager)].append((inner, thing))
    walker.frame = frame
    return manager if given is None else given


def opens(walker: Walker, receiver: Thing, name: str, given: tuple[Thing, ...], node: ast.Call) -> Thing | None:
    """What a call in an `__enter__` opens for the block around; None if it opens nothing."""
    thing = receiver if name == "__enter__" else next(iter(given), None)
    if not walker.opening or thing is None or is_manager(thing):
        return None
    walker.opening[-1].append((node, thing, walker.frame))
    return thing
