"""A folder in which nothing can be kept: it is told, and the report is the same."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from graphlint.commands import cache, quick
from graphlint.config import Config

FAULTY = "import torch\n\n\n# graphlint: region\ndef step(x):\n    return x * x.sum().item()\n"


def run(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "graphlint", "check", "--format", "concise", "model.py", *arguments]
    settings = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1]), **environment}
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, env=settings)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "model.py").write_text(FAULTY)
    (tmp_path / "taken").write_text("no folder")
    return tmp_path


def test_a_folder_that_is_of_no_use_is_told_and_changes_no_report(folder: Path) -> None:
    plain = run(folder, "--no-cache")
    said = f"graphlint: results are not kept: `{folder / 'taken'}` cannot be written: file exists\n"
    for done in (run(folder, "--cache-dir", "taken"), run(folder, **{quick.FOLDER: "taken"})):
        assert (done.returncode, done.stdout, done.stderr) == (1, plain.stdout, said)
    assert run(folder, "--no-cache", "--cache-dir", "taken").stderr == ""


def test_a_process_that_checks_again_tells_it_once(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cache, "_told", set())
    for shown in (1, 0):
        assert cache.opened(Config(root=folder), {"cache_dir": str(folder / "taken")}, 0, ()) is None
        assert capsys.readouterr().err.count("results are not kept") == shown
