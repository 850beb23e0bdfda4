"""What is said of a region that leads to a fault in a file that was not given."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.test_cli import graphlint

USES = "import torch\nfrom helper import read\n\n"
USES += "class Model(torch.nn.Module):\n    def forward(self, x):\n        return read(x)\n"
READS = "def read(x):\n    return x.sum().item(){}\n"
LEADS = "1 region leads to findings in files that were not given; `--around` shows them"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "uses.py").write_text(USES)
    (tmp_path / "helper.py").write_text(READS.format(""))
    return tmp_path


def region(folder: Path, *options: str) -> dict[str, Any]:
    done = graphlint("check", "--format", "json", *options, cwd=folder)
    (found,) = json.loads(done.stdout)["regions"]
    return {key: found.get(key) for key in ("verdict", "findings", "elsewhere")}


def test_a_region_is_not_called_clean_for_want_of_a_file(folder: Path) -> None:
    for _ in range(3):  # from nothing, from what was kept, and what was printed
        told = graphlint("check", "--cache-dir", "kept", "uses.py", cwd=folder)
        assert "`uses.Model.forward`: clean here, and 1 break in files that were not given" in told.stdout
        assert told.stdout.endswith(f"1 file, 1 region (0 clean)\n{LEADS}\n")
        assert told.returncode == 0
    assert region(folder, "uses.py") == {"verdict": "breaks", "findings": 0, "elsewhere": {"breaks": 1}}
    assert region(folder, "uses.py", "helper.py") == {"verdict": "breaks", "findings": 1, "elsewhere": None}
    assert region(folder, "--around", "uses.py") == {"verdict": "breaks", "findings": 1, "elsewhere": None}


def test_what_a_kept_result_says_of_another_file_follows_that_file(folder: Path) -> None:
    assert region(folder, "--cache-dir", "kept", "uses.py")["verdict"] == "breaks"
    (folder / "helper.py").write_text(READS.format("  # graphlint: ignore[GL101] -- asked for"))
    assert region(folder, "--cache-dir", "kept", "uses.py")["verdict"] == "clean"
    (folder / "helper.py").write_text("def read(x):\n    return x.sum()\n")
    assert region(folder, "--cache-dir", "kept", "uses.py")["verdict"] == "clean"


@pytest.mark.parametrize(
    "options",
    [("--ignore", "GL101"), ("--exclude", "helper.py"), ("--select", "GL4")],
    ids=lambda options: options[0],
)
def test_what_nobody_wants_to_hear_is_not_counted(folder: Path, options: tuple[str, ...]) -> None:
    assert region(folder, *options, "uses.py") == {"verdict": "clean", "findings": 0, "elsewhere": None}


def test_what_a_file_leads_to_is_counted_beside_its_own(folder: Path) -> None:
    (folder / "uses.py").write_text(USES.replace("read(x)", "read(x) + x.max().item()"))
    told = graphlint("check", "uses.py", cwd=folder)
    assert "`uses.Model.forward`: 1 break, and 1 break in files that were not given" in told.stdout
