"""Names in the configuration that stand for nothing are told, where the whole project was checked."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.test_cli import CLEAN, graphlint

STEP = "import torch\n\n\nclass Runner:\n    def step(self, x: torch.Tensor):\n        return x.sum().item()\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "steps.py").write_text(STEP)
    (tmp_path / "clean.py").write_text(CLEAN)
    return tmp_path


@pytest.mark.parametrize("keep", ["--no-cache", "--cache-dir=kept"])
def test_a_function_that_is_not_there_is_told(folder: Path, keep: str) -> None:
    (folder / "graphlint.toml").write_text('regions = ["steps.Runner.step", "Runner.stop"]\n')
    said = "graphlint: `regions` has `Runner.stop`, and no function of that name was found\n"
    for _ in range(2):
        done = graphlint("check", "--format", "concise", keep, cwd=folder)
        assert (done.returncode, done.stderr) == (1, said)
    assert "steps.py:6:16: GL101" in done.stdout
    assert graphlint("check", "clean.py", cwd=folder).stderr == ""


def test_a_pattern_that_matches_nothing_is_told(folder: Path) -> None:
    (folder / "graphlint.toml").write_text('only-regions = ["*.Runer.*"]\nregions = ["Runner.step"]\n')
    done = graphlint("check", cwd=folder)
    assert done.stderr == "graphlint: `only-regions` has `*.Runer.*`, which no region matches\n"
    (folder / "graphlint.toml").write_text('only-regions = ["*.Runner.*"]\nregions = ["Runner.step"]\n')
    assert graphlint("check", cwd=folder).stderr == ""


def test_what_is_left_out_on_purpose_is_not_missed(folder: Path) -> None:
    (folder / "graphlint.toml").write_text('skip-regions = ["*.Runner.*"]\nregions = ["Runner.step"]\n')
    assert graphlint("check", cwd=folder).stderr == ""
