"""Every documented constraint is accounted for, and by what the table says."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from graphlint.registry import Registry
from tests import coverage
from tests.coverage import Row

ROWS = coverage.rows()


def named(row: Row) -> str:
    return row.name


def test_every_constraint_has_one_line() -> None:
    assert len(ROWS) == 300
    assert max(Counter(row.name for row in ROWS).values()) == 1


@pytest.mark.parametrize("row", [row for row in ROWS if row.how == "rule"], ids=named)
def test_a_rule_finds_it(row: Row, rules: Registry) -> None:
    known = {rule.code for rule in rules.rules}
    assert coverage.codes(row)
    assert set(coverage.codes(row)) <= known


@pytest.mark.parametrize("row", [row for row in ROWS if row.how == "fine"], ids=named)
def test_it_is_shown_to_be_no_fault(row: Row) -> None:
    shown = coverage.excerpt(row)
    assert coverage.codes(row, "ok") or re.search(r"^# capture: \w+ captures", shown, re.MULTILINE)


@pytest.mark.parametrize("row", [row for row in ROWS if row.how == "miss"], ids=named)
def test_a_miss_is_marked_as_one(row: Row) -> None:
    assert coverage.codes(row, "todo")


@pytest.mark.parametrize("row", [row for row in ROWS if row.how == "open"], ids=named)
def test_what_cannot_be_read_says_why_and_what_confirm_shows(row: Row) -> None:
    why, _, shown = row.what.partition("; ")
    assert len(why) > 15
    assert "`confirm" in shown


def test_misses_only_get_fewer() -> None:
    assert sum(row.how == "miss" for row in ROWS) <= 4
