"""Whether new data go somewhere from where they can reach an input of a graph, also where nobody sees them written.

fill(static, batch)       # of another library: it is given an input as well
stager.stage(batch)       # the object holds an input
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable

from graphlint.site.acts import Act, Verb
from graphlint.site.derived import sources
from graphlint.site.story import Captured
from graphlint.site.things import Thing

KNOWN = sys.stdlib_module_names | {"torch", "builtins", "numpy"}
"""Libraries whose functions keep to what they are given, and write into it only where that is seen."""


TRANSFERS = frozenset({"copy_", "="})
"""Writes of what something else held: what is only counted with data (`total += (y - batch).sum()`) takes none of them."""


def is_taken(captured: Captured, data: set[int], inside: Iterable[Act]) -> bool:
    """Whether any of these acts writes some data somewhere, or hands them to what may."""
    holders = {id(slot.holder) for slot in captured.inputs}
    given: set[ast.AST] = set()
    near: set[ast.AST] = set()
    for act in inside:
        if act.verb is Verb.WRITE and act.other is not None:
            if id(act.other) in data or (act.name in TRANSFERS and _is_of(act.other, data)):
                return True
        if act.verb is Verb.METHOD and id(act.thing) in holders:
            near.add(act.node)
        elif act.verb is Verb.READ and act.name:
            if _is_of(act.thing, data):
                if _is_foreign(act.name):
                    return True
                given.add(act.node)
            elif id(act.thing.owner) in captured.reads and act.name == "argument":
                near.add(act.node)
    return not given.isdisjoint(near)


def _is_of(thing: Thing, data: set[int]) -> bool:
    return id(thing) in data or any(id(each) in data for each in sources(thing))


def _is_foreign(name: str) -> bool:
    """Whether a dotted name is a function of a library of which nothing is known."""
    library, dot, _ = name.partition(".")
    return bool(dot) and library not in KNOWN
