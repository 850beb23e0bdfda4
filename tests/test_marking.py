"""Which `if` of a method passes over what was done once, from its syntax alone."""

from __future__ import annotations

import ast

import pytest

from graphlint.interp.memo import memos
from graphlint.project import Project
from graphlint.source import parse

DONE_ONCE = [
    "if self.t is None:\n    self.t = x\nreturn x",
    "if self.t is None:\n    self.t = x\ntry:\n    y = x\nfinally:\n    lock.release()\nreturn y",
    "if self.t is None:\n    self.t, self.u = x, x\nreturn x",
    "if not self.ready:\n    self.ready: bool = True\nreturn x",
]
DONE_AGAIN = [
    "if self.t is None:\n    self.t = x\nself.t = None\nreturn x",
    "if self.t is None:\n    self.t = x\nself.t, self.u = None, None\nreturn x",
    "if key not in self.t:\n    self.t[key] = x\nself.t.clear()\nreturn x",
    "if not self.ready:\n    self.ready: bool\nreturn x",
]
LEFT_IN_FINALLY = "if self.t is None:\n    self.t = x\ntry:\n    return x\nfinally:\n    return y"


def known(body: str) -> int:
    """How many `if` of a method with this body are passed over later."""
    lines = "".join(f"        {line}\n" for line in body.split("\n"))
    project = Project([parse(f"class A:\n    def forward(self, x, key):\n{lines}", "a.py")])
    (module,) = project.given
    (node,) = module.source.tree.body
    assert isinstance(node, ast.ClassDef) and isinstance(node.body[0], ast.FunctionDef)
    return len(memos(module.function(node.body[0], module.class_(node, "A"), "forward"), project))


@pytest.mark.parametrize("body", DONE_ONCE)
def test_what_is_set_and_stays_is_done_once(body: str) -> None:
    assert known(body) == 1


@pytest.mark.parametrize("body", DONE_AGAIN)
def test_what_is_taken_back_or_never_set_is_done_again(body: str) -> None:
    assert known(body) == 0


def test_a_method_that_leaves_in_finally_is_read_to_its_end() -> None:
    assert known(LEFT_IN_FINALLY) == 1
