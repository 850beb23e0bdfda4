"""What two H200s did with collectives, as recorded, against the marks of the fixtures and the predictions of today."""

from __future__ import annotations

import re

import pytest

from graphlint import registry
from tests.gpu.ranks import cases
from tests.gpu.ranks_table import EXPLAINED, PAGE, changed, is_odd, lines, odd_examples, render
from tests.gpu.table import recorded

TARGETS = {each["target"]: each for each in recorded("ranks")["targets"]}
HANGS = [name for name, each in TARGETS.items() if each["sections"]["ranks"]["hang"]]


def test_the_record_says_where_and_when_it_was_made() -> None:
    record = recorded("ranks")
    assert record["machine"]["name"] == "NVIDIA H200" and record["date"] and record["machine"]["torch"]
    sections = [each["sections"]["ranks"] for each in TARGETS.values()]
    assert {each["ranks"] for each in sections} == {2}
    assert all(each["library"].startswith("NCCL 2.") for each in sections)


def test_every_case_did_what_its_mark_says() -> None:
    marked = {each.target: each.outcome for each in cases()}
    assert marked == {name: each["result"] for name, each in TARGETS.items()}
    assert len(marked) > 60


def test_the_fixtures_are_those_that_were_recorded() -> None:
    assert changed() == [], "record them anew on two GPUs: `python -m tests.gpu.ranks`"


def test_each_case_that_went_otherwise_than_predicted_has_its_reason() -> None:
    odd = {each.target for each in lines() if is_odd(each)}
    assert odd | set(odd_examples()) == set(EXPLAINED)


def test_every_rule_that_needs_ranks_has_its_examples_recorded() -> None:
    told = {each.code for each in registry.load().rules if "tests.gpu.ranks" in each.gpu}
    recorded_too = {each["target"].partition("-")[0] for each in recorded("rank_pages")["targets"]}
    assert told == recorded_too and len(told) >= 6


def test_the_page_is_what_predictions_of_today_make_of_the_record() -> None:
    assert PAGE.read_text(encoding="utf-8") == render(lines()), "run `python -m tests.gpu.ranks_table`"


@pytest.mark.parametrize("name", HANGS)
def test_a_hang_ended_within_its_limit_and_named_a_line_and_the_partner(name: str) -> None:
    each, limit = TARGETS[name], {one.target: one.timeout for one in cases()}[name]
    hang = each["sections"]["ranks"]["hang"]
    assert each["seconds"] < limit + 5
    assert any(stand["line"] for stand in hang["stands"])
    assert re.search(r"rank \d is missing from|call \d+ differs in", hang["message"])
    assert len(HANGS) >= 6


def test_replays_that_hang_stand_at_collectives_that_do_not_fit() -> None:
    for name in ("other_size", "other_order"):
        stands = TARGETS[f"rank_branch/branches.py:{name}"]["sections"]["ranks"]["hang"]["stands"]
        assert [stand["stage"].startswith("replay") and stand["line"] > 0 for stand in stands] == [True, True]
