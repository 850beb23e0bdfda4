"""Objects of the tree that a `with` enters: what their `__enter__` opens stays open until the block ends.

class Session:
    def __enter__(self):
        self.cast.__enter__()                           # or self.stack.enter_context(...)
        return self
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from graphlint.site.acts import Verb
from graphlint.site.members import attribute
from graphlint.site.things import Kind, Thing
from graphlint.site.walker import Managing, Walker

INSIDE = frozenset({"__enter__", "__exit__", "close", "enter_context"})
"""Methods that open or close a block without a `with`."""


def is_manager(thing: Thing) -> bool:
    return thing.kind is Kind.INSTANCE and thing.decl is not None


def entered(walker: Walker, manager: Thing, node: ast.expr, around: Thing | None = None) -> Thing:
    """Enter an object, with all that it opens for itself, or for what is `around` it; what `as` binds."""
    walker.managing.append(Managing(around or manager, walker.layer))
    given = _ran(walker, manager, "__enter__", node)
    held, frame = walker.managing.pop(), walker.frame
    # What a loop or a block in `__enter__` itself was around opens now: its end has closed no more than itself.
    for inner, thing, walker.frame in held.later:
        _open(walker, held.manager, thing, inner)
    walker.frame = frame
    return manager if given is None else given


def left(walker: Walker, manager: Thing, node: ast.expr) -> None:
    """Leave an object, with all that it has opened and `__exit__` has not closed."""
    walker.managing.append(Managing(manager, walker.layer))
    _ran(walker, manager, "__exit__", node)
    walker.managing.pop()


def _ran(walker: Walker, manager: Thing, name: str, node: ast.expr) -> Thing | None:
    """What `__enter__` or `__exit__` of an object gives, walked; None if its class has none in the tree."""
    from graphlint.site.calls import Given, inline

    if manager.decl is None or walker.project.member(manager.decl, name) is None:
        return None
    function = attribute(walker, manager, name, node)
    if function.kind is not Kind.FUNCTION:
        return None
    return inline(walker, function, Given((manager,), {}), node)


def passed_on(walker: Walker, receiver: Thing, name: str, given: Sequence[Thing], node: ast.Call) -> Thing | None:
    """What a call opens or closes without a `with` of its own; None if that is nothing.

    In an `__enter__` or `__exit__` that is done for the block around.  Elsewhere only autocast is followed, which is what
    stays open for long.
    """
    thing = next(iter(given), None) if name == "enter_context" else receiver
    if thing is None:
        return None
    if name == "close":
        for _, opened in reversed([*walker.stacked.get(id(receiver), ())]):
            _close(walker, receiver, opened)
        return None
    if name == "enter_context" and id(receiver) in walker.stacked:
        if is_manager(thing):
            return entered(walker, thing, node, receiver)
        _open(walker, receiver, thing, node)
        return thing
    if is_manager(thing) or not (walker.managing or thing.kind is Kind.AUTOCAST):
        return None
    held = walker.managing[-1] if walker.managing else Managing(receiver, walker.layer)
    walker.stacked.setdefault(id(held.manager), [])
    if name == "__exit__":
        _close(walker, held.manager, thing)
    elif walker.layer is held.layer:
        _open(walker, held.manager, thing, node)
        held.layer = walker.layer
    else:
        held.later.append((node, thing, walker.frame))
    return thing


def _open(walker: Walker, manager: Thing, thing: Thing, node: ast.AST) -> None:
    walker.enter(node, thing)
    walker.act(Verb.ENTER, node, thing)
    walker.stacked[id(manager)].append((node, thing))


def _close(walker: Walker, manager: Thing, thing: Thing) -> None:
    opened = walker.stacked.get(id(manager), [])
    if opened and opened[-1][1] is thing and walker.layer is not None and walker.layer.thing is thing:
        node, _ = opened.pop()
        walker.act(Verb.LEAVE, node, thing)
        walker.leave(node)
