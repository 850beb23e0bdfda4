"""Inputs that are filled in full: the graph that is replayed is the one of their very size."""

from __future__ import annotations

import ast

from graphlint.site.acts import Act, Verb
from graphlint.site.story import Captured, Story
from graphlint.syntax import walk


def fits(story: Story, captured: Captured, filled: int, replay: int, size: ast.expr | None) -> bool:
    """Whether a graph is taken out of its container by the size up to which an input was filled before its replay."""
    if size is None:
        return False
    act, replayed, wanted = story.acts[filled], story.acts[replay], ast.dump(size)
    for at, each in story.between(captured.end, replay + 1, Verb.LOAD):
        is_ours = replayed.thing in each.thing.family() and each.frame is act.frame
        if is_ours and isinstance(each.node, ast.Subscript) and ast.dump(each.node.slice) == wanted:
            return not _changes(story, size, act, min(at, filled), max(at, filled))
    return False


def _changes(story: Story, size: ast.expr, act: Act, first: int, last: int) -> bool:
    """Whether a variable of a size is bound anew between two acts: what is read then is another size."""
    names = {part.id for part in walk(size) if isinstance(part, ast.Name)}
    bound = (each for _, each in story.between(first, last, Verb.BIND) if each.frame is act.frame)
    return any(each.slot is not None and each.slot.key in names for each in bound)
