"""Whatever the documentation shows is run: commands, configurations, programs; and what it names exists."""

from __future__ import annotations

import ast
import importlib
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import jsonschema
import pytest

from graphlint import __version__, config, options
from graphlint.cli import COMMANDS
from tests.hook import git
from tests.test_cli import ENVIRONMENT, FAULTY, graphlint

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.DOTALL | re.MULTILINE)
INLINE = re.compile(rf"`(graphlint (?:{'|'.join(COMMANDS)})(?: [^`]*)?)`")
if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def blocks(path: Path, language: str) -> list[str]:
    return [text for kind, text in BLOCK.findall(path.read_text()) if kind == language]


def commands(path: Path) -> Iterator[str]:
    """Every command line that a page shows, in a block or in a sentence."""
    for block in blocks(path, "sh"):
        for line in block.splitlines():
            yield from (each.strip() for each in re.split(r"&&|\|", line) if each.strip().startswith("graphlint "))
    yield from (each for each in INLINE.findall(path.read_text()))


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_commands_and_options_that_are_named_exist(path: Path) -> None:
    for line in commands(path):
        words = shlex.split(line)
        module, _, name = COMMANDS[words[1]][0].partition(":")
        command: click.Command = getattr(importlib.import_module(module), name)
        known = {option for each in command.params for option in (*each.opts, *each.secondary_opts)}
        for word in words[2:]:
            if word.startswith("--"):
                assert word.partition("=")[0] in known, f"{path.name}: `{line}`"


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_what_is_shown_parses(path: Path) -> None:
    for block in blocks(path, "python"):
        ast.parse(block)
    for block in blocks(path, "json"):
        json.loads(block)
    for block in blocks(path, "toml"):
        tool = tomllib.loads(block).get("tool", {})
        if "graphlint" in tool:
            jsonschema.validate(tool["graphlint"], options.schema(config.defaults()))


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_links_between_pages_lead_somewhere(path: Path) -> None:
    prose = re.sub(r"^```.*?^```", "", path.read_text(), flags=re.MULTILINE | re.DOTALL)
    for target in re.findall(r"\]\((?!https?:)([^)#]+)[^)]*\)", prose):
        assert (path.parent / target).exists(), f"{path.name}: {target}"


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_files_that_are_named_exist(path: Path) -> None:
    named = re.findall(r"`((?:graphlint|tests|fixtures|examples)/[\w/.-]+\.\w+)`", path.read_text())
    assert [each for each in named if not (ROOT / each).exists()] == []


def test_the_commands_of_the_readme_run(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "model.py").write_text(FAULTY)
    shown = [line for line in commands(ROOT / "README.md") if "REASON" not in line and "examples/" not in line]
    ran = [
        line
        for line in shown
        if line.split()[1] in ("check", "explain", "rules", "config") and "confirmed.json" not in line
    ]
    assert len(ran) >= 6
    for line in ran:
        if "--watch" not in line:
            assert graphlint(*shlex.split(line)[1:], cwd=tmp_path).returncode in (0, 1), line
    assert {"graphlint.sarif", "graphlint.xml", "graphlint-baseline.json"} <= set(os.listdir(tmp_path))


def test_the_first_steps_lead_where_they_say(tmp_path: Path, clone: tuple[Path, str], home: Path) -> None:
    page = ROOT / "docs" / "first-steps.md"
    (model,), (hook,), (finding,) = blocks(page, "python"), blocks(page, "yaml"), blocks(page, "text")
    (tmp_path / "model.py").write_text(model)
    hook = re.sub(r"repo: .+", f"repo: {clone[0]}", hook).replace("v0.1.0", clone[1])
    (tmp_path / ".pre-commit-config.yaml").write_text(hook)
    said = [step for block in blocks(page, "sh") for step in block.splitlines()]
    played = [(step, play(step, tmp_path, home)) for step in said if not step.startswith(("python -m venv", ". ", "pip "))]
    first, second = (each for step, each in played if step.startswith("git commit"))
    assert (first.returncode, "GL101 breaks" in first.stdout + first.stderr, second.returncode) == (1, True, 0)
    done = dict(played)
    assert finding.strip() in done["graphlint check"].stdout
    assert done["graphlint explain GL101"].stdout.startswith("GL101 host-read")
    assert '"line": 5' in done["graphlint check --format json"].stdout
    assert "+        return x / x.abs().max().detach()" in done["graphlint check --diff"].stdout
    assert git(tmp_path, "log", "--format=%s").split() == ["Scale"]
    assert ".detach()" in git(tmp_path, "show", "HEAD:model.py")
    assert graphlint("check", cwd=tmp_path).returncode == 0


def play(step: str, folder: Path, home: Path) -> subprocess.CompletedProcess[str]:
    """Run one step as it is written; commands are those of this environment."""
    tools = {"graphlint": [sys.executable, "-m", "graphlint"], "pre-commit": [sys.executable, "-m", "pre_commit"]}
    words = shlex.split(step)
    command = [*tools.get(words[0], [words[0]]), *words[1:]]
    who = {f"GIT_{role}_{what}": "a@b.c" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    settings = ENVIRONMENT | who | {"PRE_COMMIT_HOME": str(home)}
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=settings)


def test_a_rule_of_ones_own_works_as_shown(tmp_path: Path) -> None:
    page = ROOT / "docs" / "rule-packs.md"
    rule, fixture, test = blocks(page, "python")
    (tmp_path / "tools").mkdir()
    (tmp_path / "fixtures").mkdir()
    (tmp_path / "tools" / "our_rules.py").write_text(rule)
    (tmp_path / "fixtures" / "loss.py").write_text(fixture)
    (tmp_path / "pyproject.toml").write_text(blocks(page, "toml")[0])
    (tmp_path / "test_rules.py").write_text(test)
    explain, check = [line for block in blocks(page, "sh") for line in block.splitlines()]
    assert graphlint(*explain.split()[1:], cwd=tmp_path).stdout.startswith("ACME101 loss-read")
    done = graphlint(*check.split()[1:], cwd=tmp_path)
    assert (done.returncode, done.stdout.count("ACME101 breaks")) == (1, 1)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_rules.py"]
    assert subprocess.run(command, cwd=tmp_path, capture_output=True, check=False).returncode == 0


def test_a_pack_is_used_once_it_is_installed(tmp_path: Path) -> None:
    page = ROOT / "docs" / "rule-packs.md"
    project = tomllib.loads(blocks(page, "toml")[1])["project"]
    package = tmp_path / "site" / "acme_graphlint_rules"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "loss_read.py").write_text(blocks(page, "python")[0])
    info = tmp_path / "site" / "acme_graphlint_rules-1.0.dist-info"
    info.mkdir()
    ((name, module),) = project["entry-points"]["graphlint.rules"].items()
    (info / "entry_points.txt").write_text(f"[graphlint.rules]\n{name} = {module}\n")
    (tmp_path / "model.py").write_text(blocks(page, "python")[1])
    site = str(tmp_path / "site")
    assert "ACME101 breaks" in graphlint("check", "model.py", cwd=tmp_path, PYTHONPATH=site).stdout
    (tmp_path / "graphlint.toml").write_text('packs = ["builtin"]\n')
    assert "ACME101 breaks" not in graphlint("check", "model.py", cwd=tmp_path, PYTHONPATH=site).stdout


def test_the_problem_matcher_reads_what_is_printed(tmp_path: Path) -> None:
    tasks = json.loads(blocks(ROOT / "docs" / "editors.md", "json")[0])
    matcher = tasks["tasks"][0]["problemMatcher"]
    (tmp_path / "model.py").write_text(FAULTY + "        self.n += 1\n")
    lines = graphlint("check", "--format", "concise", cwd=tmp_path).stdout.splitlines()
    found = re.match(matcher["pattern"]["regexp"], lines[0])
    assert found is not None
    assert found.groups()[:4] == ("model.py", "6", "20", "GL101")
    assert found[5].startswith("`x.sum().item()` reads")
    assert not re.match(matcher["pattern"]["regexp"], lines[-1])


def test_a_buffer_is_checked_as_shown(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(FAULTY)
    (line,) = [each for each in commands(ROOT / "docs" / "editors.md") if "--stdin-filename" in each]
    done = graphlint(*shlex.split(line)[1:], cwd=tmp_path, stdin=FAULTY.encode())
    assert json.loads(done.stdout)["diagnostics"][0]["file"] == "model.py"


@pytest.mark.parametrize("page", ["README.md", "docs/first-steps.md"])
def test_the_hook_is_shown_with_the_present_version(page: str) -> None:
    assert re.findall(r"^ *rev: (.*)$", (ROOT / page).read_text(), re.MULTILINE) == [f"v{__version__}"]
