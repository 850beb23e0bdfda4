"""Inputs that are filled in full: the graph that is replayed is the one of their very size."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from graphlint.site.acts import Act, Verb
from graphlint.site.story import Captured, Story
from graphlint.site.things import Thing
from graphlint.syntax import walk


def fits(story: Story, captured: Captured, filled: int, replay: int, size: ast.expr | None) -> bool:
    """Whether a graph is taken out of its container by the size up to which an input was filled before its replay.

    Also where it is taken by a number of which the size is a multiple: `rows = count * self.width`.
    """
    if size is None:
        return False
    act, replayed = story.acts[filled], story.acts[replay]
    factors = list(_factors(size, act))
    wanted = {ast.dump(each) for each in (size, *factors)}
    for at, each in story.between(captured.end, replay + 1, Verb.LOAD, Verb.METHOD):
        is_ours = replayed.thing in each.thing.family() and each.frame is act.frame
        key = _key(each.node) if is_ours else None
        if key is not None and ast.dump(key) in wanted:
            return not _changes(story, key if factors else size, act, min(at, filled), max(at, filled))
    return False


def is_set_first(story: Story, captured: Captured, filled: int, replay: int) -> bool:
    """Whether all that an input is filled through was set before: `rows.fill_(-1)`, `rows[:, :n].copy_(x)`."""
    before = max((at for at in story.replays(captured) if at < filled), default=captured.end)
    for at, act in story.between(before, filled, Verb.WRITE):
        if act.is_partial and is_constant(act) and _lies_in(story.acts[filled].thing, act.thing):
            cuts = walk(act.thing.node) if act.thing.node is not None else ()
            ends = [each.upper for each in cuts if isinstance(each, ast.Slice) and each.upper is not None]
            if all(fits(story, captured, at, replay, each) for each in ends):
                return True
    return False


def is_constant(act: Act) -> bool:
    """Whether a tensor, or a part of it, is set to a number that is written there: no size of this batch."""
    node = act.node
    given = node.args if isinstance(node, ast.Call) else [node.value] if isinstance(node, ast.Assign) else []
    numbers = (each.operand if isinstance(each, ast.UnaryOp) else each for each in given)
    return act.name == "zero_" or (act.name in ("fill_", "=") and all(isinstance(each, ast.Constant) for each in numbers))


def _lies_in(part: Thing, whole: Thing) -> bool:
    view = part.base
    while view is not None and view is not whole:
        view = view.base
    return view is not None


def _key(node: ast.AST) -> ast.expr | None:
    """By what something is taken out of a container: `graphs[n]`, `graphs.get(n)`."""
    match node:
        case ast.Subscript(slice=key):
            return key
        case ast.Call(func=ast.Attribute(attr="get"), args=[key, *_]):
            return key
    return None


def _factors(size: ast.expr, act: Act) -> Iterator[ast.expr]:
    """The names that are multiplied to a size, where it is computed or where a variable of the function is bound to it."""
    match size:
        case ast.Name(id=name) if act.frame.body is not None:
            bound = [each for each in walk(act.frame.body) if isinstance(each, ast.Assign) and _binds(each, name)]
            if len(bound) == 1 and isinstance(bound[0].value, ast.BinOp):
                yield from _factors(bound[0].value, act)
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            yield from (each for each in (left, right) if isinstance(each, ast.Name))


def _binds(node: ast.Assign, name: str) -> bool:
    return any(isinstance(each, ast.Name) and each.id == name for each in node.targets)


def _changes(story: Story, size: ast.expr, act: Act, first: int, last: int) -> bool:
    """Whether a variable of a size is bound anew between two acts: what is read then is another size."""
    names = {part.id for part in walk(size) if isinstance(part, ast.Name)}
    bound = (each for _, each in story.between(first, last, Verb.BIND) if each.frame is act.frame)
    return any(each.slot is not None and each.slot.key in names for each in bound)
