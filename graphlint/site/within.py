"""Regions that others will capture, `forward` and marked functions, where what they do inside can be a fault.

Hardly any does: whether one is worth a walk is asked of the text of its file first, then of the text of its class.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from functools import cache
from typing import TYPE_CHECKING

from graphlint.outline import mentions as may_hold
from graphlint.project import FunctionDecl, Module, Project
from graphlint.regions import Forward, Marked, forwards, marked, written
from graphlint.site.mentions import mentions
from graphlint.syntax import nested, stored, walk

if TYPE_CHECKING:
    from graphlint.site.story import Story

FunctionDef = ast.FunctionDef | ast.AsyncFunctionDef

STREAMS = "tream("
STREAM_NAMES = frozenset({"stream", "Stream"})
REMEMBERS = "lru_cache"
COLLECTIVES = ("async_op", "get_rank", "new_group", "_functional_collectives")
"""What the text of a file has in which the walk can find anything about collectives."""
COLLECTIVE_NAMES = frozenset(
    {"all_reduce", "all_gather", "all_gather_into_tensor", "all_to_all_single", "broadcast", "reduce", "reduce_scatter",
     "reduce_scatter_tensor", "all_gather_tensor", "all_to_all", "barrier"}
)  # fmt: skip
GROWS = ("cat(", "stack(")
CAT_WORDS = ("cat", "stack")
CATS = frozenset({"cat", "concat", "hstack", "vstack"})


def regions(project: Project, module: Module) -> Iterator[Story]:
    """The regions that use streams, issue collectives, remember tensors or let state grow."""
    text = module.source.text
    streams, collectives = STREAMS in text, "distributed" in text and any(word in text for word in COLLECTIVES)
    names = (STREAM_NAMES if streams else frozenset()) | (COLLECTIVE_NAMES if collectives else frozenset())
    if REMEMBERS in text:
        names |= _remembered(project, module)
    if names or any(word in text for word in GROWS):
        for forward in forwards(project, module, _signs(project, module, names)):
            yield _forward(project, forward)
    for mark in marked(module) if streams or collectives else ():
        if not isinstance(mark.decl.node, ast.Lambda) and mark.decl.owner is None:
            yield _marked(project, module, mark)


def _signs(project: Project, module: Module, names: frozenset[str]) -> Callable[[ast.ClassDef], bool]:
    """Tells whether a class of a file mentions one of some names, or lets something grow."""

    def has_sign(node: ast.ClassDef) -> bool:
        text = written(module, node)
        return (any(name in text for name in names) and mentions(node, names)) or (
            any(word in text for word in GROWS) and _grows(project, module, node)
        )

    return has_sign


def _remembered(project: Project, module: Module) -> frozenset[str]:
    """The functions and methods of a file of which some results are kept by their arguments."""
    return frozenset(
        node.name
        for node in nested(module.source.tree.body)
        if isinstance(node, FunctionDef) and any(_is_bounded(project, module, mark) for mark in node.decorator_list)
    )


def _is_bounded(project: Project, module: Module, mark: ast.expr) -> bool:
    if REMEMBERS not in ast.unparse(mark):
        return False
    from graphlint.site.walker import outside

    return outside(project, module, mark) == "functools.lru_cache"


def _forward(project: Project, forward: Forward) -> Story:
    """Two calls in a row, of which the second is the region: the first one leaves its state behind."""
    from graphlint.site.story import whole
    from graphlint.site.walk import walk_forward

    owner = forward.owner
    walker, begin = walk_forward(project, owner)
    return whole(owner.module, walker.acts, begin, f"{owner.module.name}.{owner.name}.forward", "forward", owner.node)


def _marked(project: Project, module: Module, mark: Marked) -> Story:
    from graphlint.site.story import whole
    from graphlint.site.walk import walk_function

    function = mark.decl.node
    acts = walk_function(project, module, function).acts
    return whole(module, acts, 0, f"{module.name}.{mark.decl.name}", "marked", function)


def _grows(project: Project, module: Module, node: ast.ClassDef) -> bool:
    """Whether a method of a class concatenates and reads an attribute that grows so outside `__init__`."""
    methods = [each for each in node.body if isinstance(each, FunctionDef) and each.name != "__init__"]
    bound = {attr for method in methods for attr in _bound(method)}
    reading = [each for each in methods if _joins(module, each) and bound & _read(each)] if bound else []
    if not reading:
        return False
    from graphlint.site.growth import JOINS, grown

    @cache
    def joins(name: str) -> bool:
        found = project.lookup(module, name)
        # The text says no before the body of a function in another file is parsed.
        return (
            isinstance(found, FunctionDecl)
            and any(may_hold(found.node, word) for word in CAT_WORDS)
            and mentions(found.node, JOINS)
        )

    own = grown(methods, bound, joins)
    return any(own & _read(each) for each in reading)


def _joins(module: Module, node: FunctionDef) -> bool:
    text = written(module, node)
    return any(word in text for word in CAT_WORDS) and mentions(node, CATS)


def _bound(node: FunctionDef) -> Iterator[str]:
    targets = (each for statement in nested(node.body) for each in stored(statement))
    return (each.attr for each in targets if isinstance(each, ast.Attribute))


def _read(node: FunctionDef) -> set[str]:
    return {each.attr for each in walk(node) if isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Load)}
