"""The commit hook as pre-commit itself installs and runs it, from a clone of this checkout."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.hook import git
from tests.test_cli import CLEAN, FAULTY

HELPER = "def read(x):\n    return x.sum().item()\n"
USES = FAULTY.replace("import torch\n", "import torch\n\nfrom helper import read\n").replace("x.sum().item()", "read(x)")
CONFIG = "repos:\n  - repo: {clone}\n    rev: {rev}\n    hooks:\n      - id: {hook}\n"

pytestmark = pytest.mark.skipif(importlib.util.find_spec("pre_commit") is None, reason="pre-commit is not installed")


def committed(folder: Path, clone: tuple[Path, str], home: Path, hook: str, files: dict[str, str]) -> tuple[int, str]:
    """Try to commit some files where the hook is installed; only they are staged."""
    if not (folder / ".git").exists():
        git(folder, "init", "-q")
    (folder / ".pre-commit-config.yaml").write_text(CONFIG.format(clone=clone[0], rev=clone[1], hook=hook))
    for name, text in files.items():
        (folder / name).write_text(text)
    git(folder, "add", ".pre-commit-config.yaml", *files)
    environment = {**os.environ, "PRE_COMMIT_HOME": str(home)}
    command = [sys.executable, "-m", "pre_commit", "run", "--color", "never"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=environment, timeout=400)
    if "An unexpected error has occurred" in done.stdout:
        pytest.skip(f"pre-commit could not install the hook: {done.stdout[-400:]}")
    return done.returncode, done.stdout


def test_a_bad_commit_is_blocked_and_a_good_one_is_not(tmp_path: Path, clone: tuple[Path, str], home: Path) -> None:
    status, said = committed(tmp_path, clone, home, "graphlint", {"model.py": FAULTY, "notes.txt": "x.item()\n"})
    assert (status, "model.py:6:20: GL101 breaks" in said) == (1, True)
    status, said = committed(tmp_path, clone, home, "graphlint", {"model.py": CLEAN})
    assert (status, "Passed" in said) == (0, True)


def test_other_files_of_the_project_are_seen_when_one_is_staged(
    tmp_path: Path, clone: tuple[Path, str], home: Path
) -> None:
    committed(tmp_path, clone, home, "graphlint", {"helper.py": HELPER})
    git(tmp_path, "commit", "-qm", "x", "--no-verify")
    (tmp_path / "uses.py").write_text(USES)
    status, said = committed(tmp_path, clone, home, "graphlint-all", {"uses.py": USES})
    assert (status, "helper.py:2:12: GL101" in said) == (1, True)


def test_faults_are_found_whichever_side_of_a_call_is_staged(tmp_path: Path, clone: tuple[Path, str], home: Path) -> None:
    committed(tmp_path, clone, home, "graphlint", {"helper.py": HELPER})
    git(tmp_path, "commit", "-qm", "x", "--no-verify")
    status, said = committed(tmp_path, clone, home, "graphlint", {"uses.py": USES})
    assert (status, "helper.py:2:12: GL101" in said) == (1, True)
    git(tmp_path, "commit", "-qm", "x", "--no-verify")
    status, said = committed(tmp_path, clone, home, "graphlint", {"helper.py": HELPER + "\n"})
    assert (status, "helper.py:2:12: GL101" in said) == (1, True)
    assert committed(tmp_path, clone, home, "graphlint", {"helper.py": HELPER, "other.py": CLEAN})[0] == 0


def test_what_a_staged_file_calls_in_others_decides(tmp_path: Path, clone: tuple[Path, str], home: Path) -> None:
    branch = USES.replace("return x * read(x)", "return x if read(x) > 0 else -x")
    committed(tmp_path, clone, home, "graphlint", {"helper.py": "def read(x):\n    return x.shape[0]\n"})
    git(tmp_path, "commit", "-qm", "x", "--no-verify")
    assert committed(tmp_path, clone, home, "graphlint", {"uses.py": branch})[0] == 0
    (tmp_path / "helper.py").write_text("def read(x):\n    return x.sum()\n")
    git(tmp_path, "commit", "-qam", "x", "--no-verify")
    status, said = committed(tmp_path, clone, home, "graphlint", {"uses.py": branch + "\n"})
    assert (status, "uses.py:8:" in said, "GL103" in said) == (1, True, True)
