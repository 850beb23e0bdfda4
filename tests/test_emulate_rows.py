"""The table of refused operators: well formed, about operators that exist, and judged on arguments alone."""

from __future__ import annotations

import re

import pytest
import torch

from graphlint.emulate.rows import WORDS, Row, RowError, compiled, known, parsed, table

ROWS = [row for rows in table().values() for row in rows]


@pytest.mark.parametrize("name", sorted(table()))
def test_a_row_names_an_operator_of_torch(name: str) -> None:
    space, _, rest = name.partition("::")
    packet = getattr(getattr(torch.ops, space), rest.split(".")[0])
    assert "." not in rest or rest.split(".")[1] in packet.overloads()


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.name} {row.effect}")
def test_a_condition_speaks_of_the_operator_s_own_arguments(row: Row) -> None:
    space, _, rest = row.name.partition("::")
    packet = getattr(getattr(torch.ops, space), rest.split(".")[0])
    names = set(row.condition.co_names)
    arguments = {each.name for overload in packet.overloads() for each in getattr(packet, overload)._schema.arguments}
    assert names <= arguments | set(WORDS)


def test_every_row_says_how_it_is_known() -> None:
    assert all(re.fullmatch(r"h200-2\.11:\S+", row.how) for row in ROWS)


def test_known_operators_are_operators() -> None:
    assert len(known()) > 300
    for name in known():
        space, packet, *overload = name.split(".")
        assert hasattr(getattr(torch.ops, space), packet), name
        assert len(overload) == 1


@pytest.mark.parametrize("line", ["aten::nonzero", "aten::nonzero ! wrong @ x", "aten::nonzero ! shape when 1 +"])
def test_a_malformed_row_is_an_error(line: str) -> None:
    with pytest.raises((RowError, SyntaxError)):
        parsed([line])


@pytest.mark.parametrize("condition", ["__import__('os')", "self.device", "[x for x in y]", "numel(self)(1)"])
def test_a_condition_can_only_ask(condition: str) -> None:
    with pytest.raises(RowError):
        compiled(condition)


def test_conditions_see_places_kinds_and_counts() -> None:
    (row,) = parsed(["aten::x ! shape when host(p) and hostmask(p) and count(p) == 1 and not given(q) @ h200-2.11:x"])[
        "aten::x"
    ]
    assert row.holds({"p": [torch.tensor([True]), None], "q": None})
    assert not row.holds({"p": [torch.tensor([1])], "q": None})
