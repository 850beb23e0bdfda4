"""Scratch memory that is made anew where more of it is asked for: the graphs go on using what they were recorded with.

if _scratch is None or _scratch.numel() < n:
    _scratch = torch.empty(n, device=device)        # frees the memory that a graph writes to
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from graphlint.events import Event
from graphlint.site.acts import Act, Verb, outward
from graphlint.site.branches import is_size_of
from graphlint.site.story import Captured, Story, region, tell
from graphlint.site.things import Kind, Scope, Thing
from graphlint.site_events import CachedTensor, RefreshMissesInput
from graphlint.syntax import last_called, spelled, stands_in, stored, walk
from graphlint.types import Region

FACTORIES = frozenset({"empty", "full", "ones", "rand", "randint", "randn", "zeros"})


def outgrown(story: Story) -> Iterator[tuple[Region, Event]]:
    """Where a call outside a graph may make anew what the graph reads, because it needs more of it."""
    for captured in story.captures:
        inside = {id(act.node) for act in story.acts[captured.begin : captured.end] if act.verb is Verb.BIND}
        told: set[ast.AST] = set()
        for index, act in story.between(captured.end, len(story.acts), Verb.BIND):
            if id(act.node) not in inside or act.node in told or act.thing.kind is not Kind.TENSOR or not _lasts(act):
                continue
            if story.is_captured(index) or story.next_replay(captured, index) is None or not _is_grown(act):
                continue
            if _is_of_other_size(story, captured, index):
                told.add(act.node)
                yield region(captured, story.acts), tell(CachedTensor, act, function=_written(act.node), grows=True)


def shared(story: Story) -> Iterator[tuple[Region, Event]]:
    """Memory that several graphs share, made anew on the way to a replay of one of them."""
    for captured in story.captures:
        graphs = _kept_in(story, captured)
        if graphs is None:
            continue
        from graphlint.site.workspaces import grown  # few files keep graphs by a key

        for act, missing in grown(story, captured, graphs):
            yield region(captured, story.acts), tell(CachedTensor, act, function=_written(act.node), grows=True)
            for write in missing:
                yield region(captured, story.acts), tell(RefreshMissesInput, write, target=write.text, is_grown=True)


def _kept_in(story: Story, captured: Captured) -> Thing | None:
    """The container that has a graph under a key of which only the name is known."""
    for _, act in story.between(-1, len(story.acts), Verb.BIND):
        if act.thing is captured.graph and act.slot is not None and act.slot.key == "[*]":
            return act.slot.holder if isinstance(act.slot.holder, Thing) else None
    return None


def cleared(story: Story) -> Iterator[tuple[Region, Event]]:
    """Where the results that a function remembers are dropped while a graph reads one of them."""
    for captured in story.captures:
        inside = {id(act.thing.function) for _, act in story.between(captured.begin, captured.end, Verb.CACHED)}
        for index, act in story.between(captured.end, len(story.acts), Verb.METHOD):
            if act.name != "cache_clear" or id(act.thing.function) not in inside or act.thing.function is None:
                continue
            if not story.is_captured(index) and story.next_replay(captured, index) is not None:
                name = getattr(act.thing.function, "name", act.text)
                yield region(captured, story.acts), tell(CachedTensor, act, function=name)


def _lasts(act: Act) -> bool:
    """Whether a slot is no variable of a call."""
    holder = act.slot.holder if act.slot is not None else None
    return isinstance(holder, Thing) or (isinstance(holder, Scope) and holder.outer is None)


def _written(node: ast.AST) -> str:
    targets = [each for each in stored(node) if isinstance(each, ast.expr)]
    return ast.unparse(targets[0]) if targets else ""


def _is_grown(act: Act) -> bool:
    """Whether a statement stands under an `if` that asks for the size of what it binds, or for one that it keeps beside."""
    node, body = act.node, act.frame.body
    if not isinstance(node, ast.Assign) or body is None:
        return False
    parts = (*node.targets, node.value)
    names = {spelled(each) for each in parts if isinstance(each, (ast.Name, ast.Attribute, ast.Subscript))}
    kept = {spelled(to) for each in walk(body) for to in stored(each) if isinstance(to, ast.Attribute)}
    return any(
        is_size_of(part, names) or _asks_kept(part, kept)
        for outer in outward(act)
        for each in (walk(outer.frame.body) if outer.frame.body is not None else ())
        if isinstance(each, ast.If) and stands_in(each.body, outer.node)
        for part in walk(each.test)
    )


def _asks_kept(node: ast.AST, kept: set[str]) -> bool:
    """`n > self.longest`, which the same function sets."""
    if not isinstance(node, ast.Compare) or not isinstance(node.ops[0], (ast.Gt, ast.GtE, ast.Lt, ast.LtE)):
        return False
    return any(spelled(each) in kept for each in (node.left, *node.comparators))


def _is_of_other_size(story: Story, captured: Captured, index: int) -> bool:
    """Whether a call may be given more than the region was: not where both are of the same written size."""
    *_, outer = outward(story.acts[index])
    begin = story.acts[captured.begin]
    home = {each.frame for each in outward(begin)}
    calls = (act.call for _, act in story.between(captured.begin, captured.end, Verb.CALL) if act.frame in home)
    inner = next((call for call in calls if call is not None and call.args), None)
    if not isinstance(outer.node, ast.Call) or not outer.node.args or inner is None:
        return False
    there, here = _size(story, outer.node.args[0], index), _size(story, inner.args[0], captured.begin)
    return there != here


def _size(story: Story, node: ast.expr, index: int) -> str:
    """The sizes that a tensor is made with, as they are written; the name itself if it is not seen being made."""
    if isinstance(node, ast.Name):
        acts = (act for _, act in story.between(-1, index, Verb.BIND) if act.slot is not None)
        bound = [act.node for act in acts if act.slot is not None and act.slot.key == node.id]
        value = bound[-1].value if bound and isinstance(bound[-1], ast.Assign) else node
        return node.id if value is node else _size(story, value, -1)
    if isinstance(node, ast.Call) and last_called(node) in FACTORIES:
        return ", ".join(map(ast.unparse, node.args))
    return ast.unparse(node)
