"""Rules of projects and packs: what is wrong with them is told as theirs, and what is said of them is true."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from graphlint import packs, registry
from graphlint.errors import InstallError
from tests.test_cli import FAULTY, graphlint

RULE = '''"""Reads are allowed nowhere."""
from graphlint.events import HostRead
from graphlint.rule import finding, rule
from graphlint.types import Finding


@rule("ACME101", on=HostRead, predicts="breaks")
def no_read(event: HostRead) -> Finding | None:
    return finding(event, f"`{event.text}` reads", help="do not")
'''


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "model.py").write_text(FAULTY)
    (tmp_path / "ours.py").write_text(RULE)
    (tmp_path / "graphlint.toml").write_text('rules = ["ours.py"]\n')
    return tmp_path


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (RULE.replace("@rule", "# "), "`ours.py`, which `rules` names, holds no rule\n"),
        (RULE + "raise SystemExit(3)\n", "cannot be imported: `SystemExit: 3`\n  mend it at line 10"),
        (RULE.replace("ACME101", "acme-1"), "`acme-1` of rule `no-read` is no code\n  a code is two to four capital"),
    ],
)
def test_a_file_that_declares_no_rule_is_refused(folder: Path, text: str, told: str) -> None:
    (folder / "ours.py").write_text(text)
    done = graphlint("check", cwd=folder)
    assert (done.returncode, done.stdout, told in done.stderr) == (2, "", True), done.stderr


def test_a_rule_without_a_page_says_that_there_is_none(folder: Path) -> None:
    (folder / "ours.py").write_text(RULE.partition("\n")[2])
    assert "`no-read` has no page: its module has no docstring\n" in graphlint("explain", "ACME101", cwd=folder).stderr


def test_a_rule_of_others_that_raises_is_not_called_a_fault_of_graphlint(folder: Path) -> None:
    (folder / "ours.py").write_text(RULE.replace("event.text", "event.nothing"))
    done = graphlint("check", cwd=folder)
    assert "GL905 note: rule `no-read` failed here: `AttributeError: " in done.stdout
    assert "help: mend the rule" in done.stdout
    assert (done.stdout.count("GL101"), done.returncode) == (1, 1)


def test_a_finding_of_others_has_no_page_of_ours(folder: Path) -> None:
    for format in ("json", "jsonl", "sarif", "rdjson", "markdown"):
        text = graphlint("check", "--select", "ACME", "--format", format, cwd=folder).stdout
        assert "ACME101" in text
        assert "#acme101" not in text
    (found,) = json.loads(graphlint("check", "--select", "ACME", "--format", "json", cwd=folder).stdout)["diagnostics"]
    assert "codeDescription" not in found
    assert "\033]8;;" not in graphlint("check", "--select", "ACME", "--hyperlinks", "always", cwd=folder).stdout


def test_a_pack_that_raises_is_named_with_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "acme_broken_pack"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "reads.py").write_text("1 / 0\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    both = (*packs.declared(), packs.Pack("acme", package.name))
    monkeypatch.setattr(packs, "declared", lambda: both)
    with pytest.raises(InstallError, match="the rule pack `acme` cannot be imported: `ZeroDivisionError") as caught:
        registry.load()
    assert caught.value.hint.startswith("mend or uninstall it")
    assert registry.load(chosen=["builtin"]).rules
