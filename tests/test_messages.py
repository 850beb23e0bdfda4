"""The style of messages: lower case, no full stop, what happens in the message and the cure in the help."""

from __future__ import annotations

import ast
import keyword
import re
from collections.abc import Sequence
from importlib import import_module
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


def test_what_stands_in_backticks_is_code(findings: tuple[Finding, ...]) -> None:
    texts = {text for each in findings for text in (each.message, each.help)}
    pieces = {piece for text in texts for piece in re.findall(r"`([^`]*)`", text)}
    assert [each for each in sorted(pieces) if not is_code(each)] == []


def is_code(piece: str) -> bool:
    """Whether a text is an expression, a statement, or a part of one: `.data`, `with a:`, `class A`, `lr=`, `@`."""
    piece = piece.replace("…", "...")
    if piece.endswith("...") and "(" in piece:
        return True  # cut to a bearable length
    forms = ("{}", "x{}", "{}: pass", "{} x: pass", "f({})", "f({}0)", "x {} y", "{} x", "def f():\n {}")
    return keyword.iskeyword(piece) or any(map(_parses, (form.format(piece) for form in forms)))


def _parses(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


@pytest.mark.parametrize("name", ["library_read", "library_refused"])
def test_a_cure_for_one_reason_has_that_reason_somewhere(name: str) -> None:
    cures = import_module(f"graphlint_rules.{name}").CURES
    folder = Path(check.__code__.co_filename).parent
    sources = [each for part in ("effects/*.rows", "interp/*.py", "site/*.py") for each in folder.glob(part)]
    text = "".join(each.read_text(encoding="utf-8") for each in sources)
    assert [each for each in cures if each not in text] == []
