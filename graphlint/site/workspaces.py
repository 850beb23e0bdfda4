"""Memory that graphs of several sizes share as an attribute, which is made anew where a call needs more of it.

self.fit(n)                       # if n > len(self.rows): self.rows = torch.empty(n, device=device)
if n not in self.graphs: self.capture(n)
self.rows[:n].copy_(rows)         # a graph of an earlier call reads the rows that are gone
self.graphs[n].replay()
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from graphlint.site.acts import Act, Frame, Verb, outward
from graphlint.site.branches import DROPPING, regrows
from graphlint.site.story import Captured, Story
from graphlint.site.things import Kind, Thing
from graphlint.syntax import walk


def grown(story: Story, captured: Captured, graphs: Thing) -> Iterator[tuple[Act, list[Act]]]:
    """Where what a region reads is made anew on the way to a replay of any graph, and the writes that then miss some."""
    told: set[ast.AST] = set()
    for index, act in story.between(-1, len(story.acts), Verb.BIND):
        is_read = act.slot is not None and act.slot in captured.inputs and isinstance(act.slot.holder, Thing)
        if not is_read or act.node in told or act.thing.kind is not Kind.TENSOR or story.is_captured(index):
            continue
        replay = next(story.replays(captured, index), None)
        if replay is None or not regrows(act) or not _is_asked(act, story.acts[replay]):
            continue
        if not _is_kept(story, act) and not _are_dropped(story, index, act, graphs):
            told.add(act.node)
            yield act, _misses(story, index, replay, act)


def _is_asked(act: Act, replay: Act) -> bool:
    """Whether one call that is given something of its own makes memory and replays, or has both done."""
    shared = {id(each.frame) for each in outward(replay) if each.frame.caller is not None}
    here = next((each for each in outward(act) if id(each.frame) in shared), None)
    if here is None:
        return False
    if here.frame is act.frame:
        return True
    given = [*here.node.args, *(word.value for word in here.node.keywords)] if isinstance(here.node, ast.Call) else []
    names = {each.id for part in given for each in walk(part) if isinstance(each, ast.Name)}
    own = _receiver(here.frame)
    return bool(names - {own})


def _receiver(frame: Frame) -> str:
    args = frame.body.args.args if isinstance(frame.body, (ast.FunctionDef, ast.AsyncFunctionDef)) else []
    return args[0].arg if args else ""


def _is_kept(story: Story, act: Act) -> bool:
    """Whether what was there is put by before it is replaced: graphs that read it stay right with it."""
    return any(each.verb is Verb.KEEP and each.frame is act.frame for each in story.acts)


def _are_dropped(story: Story, index: int, act: Act, graphs: Thing) -> bool:
    """Whether the same call, or one that led to it, drops the graphs."""
    around = {id(each.frame) for each in outward(act) if each.frame.caller is not None}
    later = story.between(index, len(story.acts), Verb.METHOD, Verb.BIND)
    return any(
        id(each.frame) in around
        and ((each.thing is graphs and each.name in DROPPING) or (each.verb is Verb.BIND and each.other is graphs))
        for _, each in later
    )


def _misses(story: Story, index: int, replay: int, act: Act) -> list[Act]:
    """Writes into the new memory, between its making and a replay."""
    assert act.slot is not None
    found: dict[ast.AST, Act] = {}
    for _, each in story.between(index, replay, Verb.WRITE):
        called = each.node.func if isinstance(each.node, ast.Call) else None
        root = called.value if isinstance(called, ast.Attribute) else None
        while isinstance(root, ast.Subscript):
            root = root.value
        if isinstance(root, ast.Attribute) and root.attr == act.slot.key and not each.is_maybe:
            found.setdefault(each.node, each)
    return list(found.values())
