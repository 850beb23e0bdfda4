"""The style of messages: lower case, no full stop, what happens in the message and the cure in the help."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from graphlint.check import check
from graphlint.config import Config
from graphlint.interp import interpret
from graphlint.registry import Registry
from graphlint.types import Confidence, Finding

FIXTURES = Path(__file__).parents[1] / "fixtures"


@pytest.fixture(scope="module")
def findings(rules: Registry) -> Sequence[Finding]:
    config = Config(root=FIXTURES, min_confidence=Confidence.POSSIBLE)
    return check([str(FIXTURES)], config, rules, interpret).findings


def test_messages_are_plain_phrases(findings: tuple[Finding, ...]) -> None:
    for text in sorted({text for each in findings for text in (each.message, each.help) if text}):
        assert not re.match(r"[A-Z][a-z]", text), f"starts with a capital: {text}"
        assert not text.endswith((".", "!")), f"ends in a full stop: {text}"
        assert "\n" not in text, text
        assert text.count("`") % 2 == 0, f"code is not closed: {text}"
        assert len(text) <= 200, text


def test_messages_carry_code_and_faults_a_cure(findings: tuple[Finding, ...]) -> None:
    for each in findings:
        assert "`" in each.message, each.message
        assert each.help, each.message
        assert each.help != each.message
