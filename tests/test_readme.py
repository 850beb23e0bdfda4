"""What the README and the commit hook say is run here, and generated texts are up to date."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from tests.regenerate import stale
from tests.test_own_rules import RULE

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
COMMANDS = [block.strip() for block in re.findall(r"```sh\n(.*?)```", README, re.DOTALL)]


def graphlint(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "graphlint", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_generated_texts_are_up_to_date() -> None:
    assert stale() == [], "run `python -m tests.regenerate`"


def test_the_first_command_installs_and_checks_a_file_that_ships() -> None:
    install, check = COMMANDS[0].split(" && ")
    assert install == "pip install ."
    words = check.split()
    done = graphlint(*words[1:])
    assert (words[0], done.returncode) == ("graphlint", 0)
    assert done.stdout in README


def test_the_last_command_is_what_is_run_everywhere() -> None:
    script = (ROOT / ".ci" / "run").read_text()
    for part in COMMANDS[-1].split(" && "):
        assert part.replace("install", "install --quiet") in script or part in script


def test_the_configuration_shown_is_understood(tmp_path: Path) -> None:
    (block,) = re.findall(r"```toml\n(.*?)```", README, re.DOTALL)
    (tmp_path / "pyproject.toml").write_text(block)
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "our_rules.py").write_text(RULE)
    (tmp_path / "graphlint-baseline.json").write_text('{"version": 1, "findings": {}}')
    (tmp_path / "steps.py").write_text("def decode_step(): ...\n")
    command = [sys.executable, "-m", "graphlint", "check"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_hooks_name_commands_and_options_that_exist() -> None:
    hooks = (ROOT / ".pre-commit-hooks.yaml").read_text()
    entries = re.findall(r"entry: graphlint (.*)", hooks)
    assert len(entries) == 2
    for entry in entries:
        assert graphlint(*entry.split(), "examples/decode.py").returncode == 1
