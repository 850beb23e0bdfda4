"""Functions that a decorator runs in a block of its own: `@torch.autocast("cuda", dtype=torch.float16)`."""

from __future__ import annotations

import ast

from graphlint.site.acts import Verb
from graphlint.site.names import CONSTRUCTORS
from graphlint.site.things import FunctionNode, Kind
from graphlint.site.walker import Walker, outside


def run_body(walker: Walker, function: FunctionNode) -> None:
    """Walk what a function does, in the blocks that its decorators put around it."""
    if isinstance(function, ast.Lambda):
        walker.evaluate(function.body)
        return
    marks = [each for each in function.decorator_list if isinstance(each, ast.Call) and _is_block(walker, each)]
    for mark in reversed(marks):
        thing = walker.evaluate(mark)
        walker.enter(mark, thing)
        walker.act(Verb.ENTER, mark, thing)
    walker.run(function.body)
    for mark in marks:
        assert walker.layer is not None and walker.layer.thing is not None
        walker.act(Verb.LEAVE, mark, walker.layer.thing)
        walker.leave(mark)


def _is_block(walker: Walker, mark: ast.Call) -> bool:
    return CONSTRUCTORS.get(outside(walker.project, walker.module, mark)) is Kind.AUTOCAST
