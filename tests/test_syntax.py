"""Walks over statements see what walks over whole trees see."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from graphlint.syntax import nested, stored

FILES = sorted((Path(__file__).parents[1] / "graphlint").rglob("*.py"))
TEXT = """
class A:
    def f(self):
        self.a, (self.b, *self.c) = 1, (2, 3)
        for self.d in x:
            with y as self.e, z as self.f[0]:
                self.g += 1
        else:
            self.h: int = 1
        try:
            pass
        except E:
            self.i = self.j = 1
        finally:
            self.k = 1
        match x:
            case 1:
                def g():
                    self.l = 1
        async def h():
            async for self.m in x:
                async with y as self.n:
                    del self.o
"""


def test_every_bound_attribute_is_found() -> None:
    tree = ast.parse(TEXT)
    found = [each.attr for node in nested(tree.body) for each in stored(node) if isinstance(each, ast.Attribute)]
    assert sorted(found) == list("abcdeghijklmn")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_statements_are_those_of_a_full_walk(path: Path) -> None:
    tree = ast.parse(path.read_text())
    full = {id(node) for node in ast.walk(tree) if isinstance(node, (ast.stmt, ast.ExceptHandler, ast.match_case))}
    assert {id(node) for node in nested(tree.body)} == full
