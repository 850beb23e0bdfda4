"""The page about `confirm`: its first example does what the page says, and its table is the recorded one."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.gpu.table import PAGES, filled, render, rows

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "confirm.md"


def test_the_first_example_is_stale_where_the_page_says(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    example = re.search(r"```python\n# model.py\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert example is not None
    (tmp_path / "model.py").write_text(example[1])
    command = [
        sys.executable,
        "-m",
        "graphlint",
        "confirm",
        "--device",
        "emulated",
        "--format",
        "json",
        "model.py:make_case",
    ]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    (target,) = json.loads(done.stdout)["targets"]
    assert target["replays"] == ["match", "values", "values"]
    assert [(each["what"], each["line"]) for each in target["state_changes"]] == [("Scaled.calls", 11)]
    assert [each["verdict"] for each in target["verdicts"] if each["line"] == 11] == ["confirmed"]


@pytest.mark.parametrize("name", PAGES)
def test_the_regimes_are_those_that_were_recorded(name: str) -> None:
    text = (ROOT / name).read_text()
    assert "decode, batch 1" in text and filled(text) == text, "run `python -m tests.gpu.table`"


def test_the_table_of_rules_is_what_predictions_of_today_make_of_the_records() -> None:
    assert (ROOT / "docs" / "observed.md").read_text() == render(rows()), "run `python -m tests.gpu.table`"
