"""Marked files under fixtures/ are checked, and every mark holds."""

from __future__ import annotations

import hashlib
from collections import Counter
from pathlib import Path

import pytest

from graphlint.check import check
from graphlint.config import Config
from graphlint.discover import reported
from graphlint.interp import interpret
from graphlint.registry import Registry
from graphlint.source import read
from graphlint.testing import captures, faults, marks
from graphlint.types import Report

ROOT = Path(__file__).parents[1]
FIXTURES = ROOT / "fixtures"
FILES = sorted(FIXTURES.rglob("*.py"))
NO_RULE = {"programs", "ranks", "wild"}


@pytest.fixture(scope="module")
def report(rules: Registry) -> Report:
    return check([str(FIXTURES)], Config(root=FIXTURES), rules, interpret)


def named(path: Path) -> str:
    return path.relative_to(FIXTURES).as_posix()


@pytest.mark.parametrize("path", FILES, ids=named)
def test_marks_hold(path: Path, report: Report) -> None:
    name = reported(str(path))
    wrong = faults(read(path, name), report.findings)
    assert not wrong, f"\n{path}\n" + "\n".join(wrong)


def test_every_rule_has_a_folder_and_every_folder_a_rule(rules: Registry) -> None:
    folders = {path.name for path in FIXTURES.iterdir() if path.is_dir()} - NO_RULE
    assert folders == {rule.name.replace("-", "_") for rule in rules.rules}


def test_every_rule_has_something_to_find_something_to_leave_and_a_capture(rules: Registry) -> None:
    for rule in rules.rules:
        sources = [read(path, str(path)) for path in sorted((FIXTURES / rule.name.replace("-", "_")).rglob("*.py"))]
        words = {mark.word for source in sources for mark in marks(source) if mark.code == rule.code}
        assert {"expect", "ok"} <= words, f"{rule.code} {rule.name}: add a fixture with `expect` and `ok` marks"
        assert rule.gpu or any(captures(source) for source in sources), f"{rule.code}: add a `# capture:` line"


def test_marks_name_rules_that_exist(rules: Registry) -> None:
    known = {each.code for each in rules.pages}
    unknown = {
        (named(path), mark.code) for path in FILES for mark in marks(read(path, str(path))) if mark.code not in known
    }
    assert not unknown


def test_no_two_fixtures_are_equal() -> None:
    counted = Counter(hashlib.sha256(path.read_bytes()).hexdigest() for path in FILES if path.read_text().strip())
    assert max(counted.values()) == 1
