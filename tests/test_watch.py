"""`--watch` checks again when a file changes, and completion and `--version` say what they should."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from graphlint.commands import watch
from graphlint.config import Config
from tests.conftest import heed_interrupts
from tests.test_cli import CLEAN, ENVIRONMENT, FAULTY, graphlint


def test_changes_of_any_file_are_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "PAUSE", 0.001)
    (tmp_path / "a.py").write_text("x = 1\n")
    config = Config(root=tmp_path)
    seen = watch.changes(lambda: watch.times([str(tmp_path)], config))
    assert len(next(seen)) == 1
    (tmp_path / "b.py").write_text("x = 1\n")
    assert len(next(seen)) == 2
    (tmp_path / "a.py").write_text("x = 12\n")
    assert len(next(seen)) == 2
    (tmp_path / "a.py").unlink()
    assert len(next(seen)) == 1
    assert watch.times([str(tmp_path / "gone.py")], config) == {}


@pytest.mark.skipif(sys.platform == "win32", reason="interrupts are sent otherwise there")
def test_a_watch_reports_until_it_is_interrupted(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(FAULTY)
    command = [sys.executable, "-m", "graphlint", "check", "--watch", "--format", "concise"]
    process = subprocess.Popen(
        command,
        cwd=tmp_path,
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        preexec_fn=heed_interrupts,
    )
    assert process.stdout is not None

    def report() -> str:
        lines = iter(process.stdout.readline, "")  # type: ignore[union-attr]  # it is a pipe
        text = ""
        for line in lines:
            text += line
            if "watching" in line:
                break
        return text

    try:
        assert "model.py:6:20: GL101" in report()
        (tmp_path / "model.py").write_text(CLEAN)
        assert "no findings" in report()
        (tmp_path / "graphlint.toml").write_text("selekt = 1\n")
        (tmp_path / "model.py").write_text(CLEAN + "\n")
        assert "unknown key `selekt`" in report()
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 130
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_complete_commands_and_options(tmp_path: Path, shell: str) -> None:
    wanted = {"COMP_WORDS": "graphlint ch", "COMP_CWORD": "1" if shell != "fish" else "ch"}
    shown = complete(shell, **wanted)
    assert "check" in shown
    assert "confirm" not in shown
    options = complete(shell, COMP_WORDS="graphlint check --add", COMP_CWORD="2" if shell != "fish" else "--add")
    assert "--add-ignores" in options


def complete(shell: str, **environment: str) -> str:
    command = [sys.executable, "-c", "import sys; sys.argv[0] = 'graphlint'; from graphlint.cli import main; main()"]
    settings = ENVIRONMENT | {"_GRAPHLINT_COMPLETE": f"{shell}_complete"} | environment
    return subprocess.run(command, capture_output=True, text=True, env=settings, check=True).stdout


def test_the_version_says_which_torch_is_predicted_for_and_which_is_known(tmp_path: Path) -> None:
    said = r"graphlint \d+\.\d+\.\d+ \(predicts for torch 2\.\d+ by default, knows torch up to 2\.\d+\)\n"
    assert re.fullmatch(said, graphlint("--version", cwd=tmp_path).stdout)


def test_stubs_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "model.pyi").write_text(FAULTY)
    (tmp_path / "other.py").write_text(CLEAN)
    done = graphlint("check", "model.pyi", "other.py", cwd=tmp_path)
    assert (done.returncode, "in 1 file" in done.stdout) == (0, True)


def test_places_in_notebooks_are_told_by_cell(tmp_path: Path) -> None:
    source = FAULTY.splitlines(keepends=True)
    cells = [{"cell_type": "markdown", "source": ["# x"]}, {"cell_type": "code", "source": source}]
    (tmp_path / "book.ipynb").write_text(json.dumps({"cells": cells, "nbformat": 4}))
    assert "book.ipynb:cell 2:6:20: GL101" in graphlint("check", "--format", "concise", cwd=tmp_path).stdout
    before = (tmp_path / "book.ipynb").read_bytes()
    assert graphlint("check", "--fix", cwd=tmp_path).returncode == 0
    assert (tmp_path / "book.ipynb").read_bytes() == before.replace(b".item()", b".detach()")
