"""Statements and expressions of Pythons that are newer than the one a check runs on, and those that few files have."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from graphlint.events import HostRead
from graphlint.interp import interpret
from graphlint.interp.readout import RegionEvents
from graphlint.source import Source
from tests.conftest import CheckText

TEXT = """
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        STAND_IN
        return Size, x.sum().item()
"""


def kind(name: str, base: type[ast.AST], *fields: str) -> Callable[..., Any]:
    """A kind of node that the Python of the test need not have."""
    return type(name, (base,), {"_fields": fields})


TYPE_ALIAS = kind("TypeAlias", ast.stmt, "name", "type_params", "value")
UNLESS = kind("Unless", ast.stmt, "test")


def region(node: ast.stmt) -> RegionEvents:
    """What is told of a region that has a statement in the place of another."""
    tree = ast.parse(TEXT)
    method = next(each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef))
    method.body[0] = ast.fix_missing_locations(ast.copy_location(node, method.body[0]))
    (found,) = interpret([Source(Path("model.py"), "model.py", TEXT, tree)])
    return found


def expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def test_a_type_alias_does_nothing() -> None:
    node = TYPE_ALIAS(name=ast.Name("Size", ast.Store()), type_params=[], value=expression("x.max().item()"))
    assert [type(each) for each in region(node).events] == [HostRead]


def test_a_statement_that_nobody_knows_is_counted_and_what_stands_in_it_is_evaluated() -> None:
    found = region(UNLESS(test=expression("x.max().item()")))
    assert [type(each) for each in found.events] == [HostRead, HostRead]
    assert found.unknown_calls == 1


@pytest.mark.skipif(sys.version_info < (3, 12), reason="has no `type` statement")
def test_a_type_statement_is_read(check_text: CheckText) -> None:
    text = TEXT.replace("STAND_IN", "type Size = tuple[int, int]")
    assert [each.code for each in check_text(text).findings] == ["GL101"]


@pytest.mark.skipif(sys.version_info < (3, 14), reason="has no template strings")
def test_a_template_string_turns_nothing_into_text(check_text: CheckText) -> None:
    text = TEXT.replace("STAND_IN", 'Size = t"{x} {x.max().item()}"')
    assert [each.code for each in check_text(text).findings] == ["GL101", "GL101"]


@pytest.mark.skipif(sys.version_info < (3, 11), reason="has no `except*`")
def test_a_try_with_groups_binds_what_any_try_binds(check_text: CheckText) -> None:
    one, other = (check_text(GROUPS.replace("except ", word)).findings for word in ("except ", "except* "))
    assert [(each.code, each.span.line) for each in one] == [("GL101", 6)]
    assert [(each.code, each.span.line) for each in other] == [("GL101", 6)]


GROUPS = """
from torch import nn

try:
    def scaled(x):
        return x * x.sum().item()
except ImportError:
    pass


class Model(nn.Module):
    def forward(self, x):
        return scaled(x)
"""
