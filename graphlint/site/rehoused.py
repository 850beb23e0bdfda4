"""Parameters that a region itself gives other memory, and gradients that get some between the capture and a replay.

`p.data = kept` runs once, while capturing: what came before it in the region reads the old memory in every replay, and
what comes behind it writes the new.  A region that binds `.data` before it reads anything has recorded the new memory only.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from graphlint.site.acts import Act, Verb
from graphlint.site.story import Captured, Story
from graphlint.site.things import Kind, Thing
from graphlint.syntax import last


def rehoused(story: Story, captured: Captured) -> Iterator[Act]:
    """Where a region binds `.data` of parameters that it has read."""
    called: list[Thing] = []
    for _, act in story.between(captured.begin, captured.end, Verb.CALL, Verb.BIND):
        if act.verb is Verb.CALL:
            called += [act.thing] if act.thing.kind is Kind.MODULE else []
        elif act.slot is not None and act.slot.key == "data" and isinstance(act.slot.holder, Thing):
            if not called:
                return
            is_told = act.slot in captured.inputs and act.frame is story.acts[captured.begin].frame
            if not is_told and is_parameter(act.slot.holder, called, captured) and not is_kept(story, act):
                yield act


def is_parameter(holder: Thing, called: list[Thing], captured: Captured) -> bool:
    """Whether something is a parameter of modules that a region calls, or one of an optimizer's groups."""
    if any(holder is part or holder.base is part for module in called for part in module.family()):
        return True
    made = holder.made_by[0] if holder.made_by else None
    node = made.node if made is not None and made.born <= captured.begin else None
    return isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and node.slice.value == "params"


def regraded(story: Story, captured: Captured, act: Act, called: list[Thing]) -> bool:
    """Whether an act binds `.grad` of a parameter to memory that is younger than a graph which writes gradients."""
    holder = act.slot.holder if act.slot is not None else None
    owner = act.thing.owner
    if not isinstance(holder, Thing) or owner.kind is not Kind.TENSOR or owner.born <= captured.end:
        return False
    inside = [each for _, each in story.between(captured.begin, captured.end, Verb.METHOD)]
    writes = any(each.name == "backward" for each in inside) and not any(each.name == "step" for each in inside)
    return writes and is_parameter(holder, called, captured)


def is_kept(story: Story, act: Act) -> bool:
    """Whether a parameter is bound to a move of itself to where it is: `p.data = p.data.to(device)`.

    Measured on an H200 with torch 2.11: nothing is recorded again for it.  Where others of its module are bound to
    something else, one of the two moves it.
    """
    if not _is_own_move(act.node):
        return False
    bound = [each for _, each in story.between(-1, len(story.acts), Verb.BIND) if each.slot and each.slot.key == "data"]
    return all(ast.dump(each.node) == ast.dump(act.node) for each in bound if _whose(each) is _whose(act))


def _whose(bind: Act) -> object:
    """The module whose parameter an act binds, or what else holds it."""
    holder = bind.slot.holder if bind.slot is not None else None
    return (holder.base or holder) if isinstance(holder, Thing) else holder


def _is_own_move(node: ast.AST) -> bool:
    match node:
        case ast.Assign(
            targets=[ast.Attribute(value=owner)],
            value=ast.Call(func=ast.Attribute(value=moved, attr="to" | "cuda" | "contiguous"), args=args, keywords=words),
        ):
            own = moved.value if isinstance(moved, ast.Attribute) and moved.attr == "data" else moved
            given = [*args, *(word.value for word in words)]
            return ast.dump(own) == ast.dump(owner) and not any(map(_is_elsewhere, given))
    return False


def _is_elsewhere(given: ast.expr) -> bool:
    """Whether `to` is given another place or dtype."""
    if isinstance(given, ast.Constant):
        return given.value == "cpu"
    return "dtype" in last(given) or (isinstance(given, ast.Attribute) and last(given.value) == "torch")
