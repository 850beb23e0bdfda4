"""Numbers that a graph does not compute with: what it is kept under, and what its capture has only counted.

Where the key of a graph changes, another graph is replayed.

self.graphs[self.width] = graph
key = (self.width, x.dtype); self.graphs[key] = graph, out
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from graphlint.site.acts import Act, Verb
from graphlint.site.story import Captured, Story
from graphlint.syntax import stored, walk


def is_key(story: Story, captured: Captured, act: Act) -> bool:
    """Whether an act binds an attribute that is part of the key of a graph, or that the region does no more than count."""
    if act.slot is None or act.slot.key.startswith("["):
        return False
    return _is_counted(story, captured, act) or any(
        act.slot.key in _attributes(key, put) for put, key in _keys(story, captured)
    )


def _is_counted(story: Story, captured: Captured, act: Act) -> bool:
    """`self.chunks += 1`: whether a region looks at a number only to move it on."""
    loads = (each.node for _, each in story.between(captured.begin, captured.end, Verb.LOAD) if each.slot == act.slot)
    return all(isinstance(getattr(node, "ctx", None), ast.Store) for node in loads)


def _keys(story: Story, captured: Captured) -> Iterator[tuple[Act, ast.expr]]:
    """The keys under which a graph is put away, alone or with its results."""
    for _, put in story.between(captured.begin - 1, len(story.acts), Verb.BIND, Verb.KEEP):
        if isinstance(put.node, ast.Assign) and captured.graph in put.thing.family():
            yield from ((put, each.slice) for each in stored(put.node) if isinstance(each, ast.Subscript))


def _attributes(key: ast.expr, put: Act) -> set[str]:
    """The attributes that a key is made from, also where a variable of the same function holds it."""
    found = {each.attr for each in walk(key) if isinstance(each, ast.Attribute)}
    names = {each.id for each in walk(key) if isinstance(each, ast.Name)}
    for each in walk(put.frame.body) if put.frame.body is not None and names else ():
        if isinstance(each, ast.Assign) and any(isinstance(to, ast.Name) and to.id in names for to in each.targets):
            found |= {part.attr for part in walk(each.value) if isinstance(part, ast.Attribute)}
    return found
