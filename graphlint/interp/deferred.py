"""Functions that capture when they are called, and that code only makes: whoever calls them gets a graph.

def graphed(f):                    quick = graphed(step)      # `step` is captured at the first call of `quick`
    def run(x): ...
    return run
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from graphlint.captors import captures
from graphlint.interp.frame import Frame
from graphlint.syntax import walk
from graphlint.values import Function, Value, members

MOST = 8


def capturing_later(frame: Frame) -> Iterator[Function]:
    """What code around captures returns or keeps in a variable or an attribute, if it captures and was not called yet."""
    held = (*frame.returns, *frame.env.values())
    found = {each: None for value in held for each in _closures(value) if _captures(each)}
    called = {key[0] for key in frame.machine.summaries if isinstance(key, tuple)}
    yield from [each for each in found if each not in called][:MOST]


def _closures(value: Value) -> Iterator[Function]:
    for each in members(value):
        if isinstance(each, Function) and each.scope is not None and each.decl.name not in each.decl.module.symbols:
            yield each


def _captures(function: Function) -> bool:
    return any(isinstance(each, ast.With) and captures(each) for each in walk(function.decl.node))
