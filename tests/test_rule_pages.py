"""Every rule's page is a test: the example that fails is found and nothing else, the one that captures is left alone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from graphlint import page, registry
from graphlint.rule import Rule
from tests.conftest import CheckText

RULES = registry.load().rules
ROOT = Path(__file__).parents[1]


def named(rule: Rule) -> str:
    return rule.name


@pytest.mark.parametrize("rule", RULES, ids=named)
def test_the_failing_example_yields_this_code_and_no_other(rule: Rule, check_text: CheckText) -> None:
    report = check_text(page.program(page.parsed(rule.page).fails))
    assert {each.code for each in report.findings} == {rule.code}


@pytest.mark.parametrize("rule", RULES, ids=named)
def test_the_capturing_example_yields_nothing(rule: Rule, check_text: CheckText) -> None:
    report = check_text(page.program(page.parsed(rule.page).captures))
    assert report.findings == ()
    assert report.regions, "the example has no region, so nothing was tested"


@pytest.mark.parametrize("rule", RULES, ids=named)
def test_the_page_has_its_parts(rule: Rule) -> None:
    parts = page.parsed(rule.page)
    assert re.fullmatch(r"[A-Z].{9,94}\.", parts.summary), "the first line is one sentence"
    assert parts.fails != parts.captures
    assert len(rule.page.splitlines()) <= 60


@pytest.mark.parametrize("rule", RULES, ids=named)
def test_a_rule_predicts_something_and_its_name_reads_well_after_allow(rule: Rule) -> None:
    assert rule.predicts or rule.compile
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", rule.name)
    assert re.fullmatch(r"GL[1-8]\d\d", rule.code), "GL9xx is the engine's own family"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("One.\n\nWhy.\n\nFails:\n\n    x\n\nCaptures:\n\n    y\n", "has the headings"),
        ("One.\n\nWhy.\n\nCaptures:\n\n    x\n\nFails:\n\n    y\n\nHow to fix: z.\n", "in this order"),
        ("One.\n\nFails:\n\n    x\n\nCaptures:\n\n    y\n\nHow to fix: z.\n", "says why"),
    ],
)
def test_a_page_out_of_form_is_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        page.parsed(text)


def test_an_example_becomes_a_program() -> None:
    assert page.program("def step(x):\n    return x") == "import torch\n\n# graphlint: region\ndef step(x):\n    return x\n"
    assert page.program("import torch\n\nclass M: ...") == "import torch\n\nclass M: ...\n"
