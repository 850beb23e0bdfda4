"""A repository that holds this checkout, for pre-commit to install the hook from."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
WHO = ("-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false")


def git(folder: Path, *arguments: str, given: str | None = None) -> str:
    clean = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    command = ["git", *WHO, *arguments]
    data = None if given is None else given.encode()
    return subprocess.run(command, cwd=folder, input=data, capture_output=True, check=True, env=clean).stdout.decode()


def cloned(folder: Path) -> tuple[Path, str]:
    """What is checked out here, with what has not been committed yet, as a repository with one commit."""
    if not (ROOT / ".git").exists():
        pytest.skip("this is no git checkout")
    for name in git(ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0"):
        if name and not name.startswith(("tests/", "fixtures/")) and (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes((ROOT / name).read_bytes())
    for arguments in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "x")):
        git(folder, *arguments)
    return folder, git(folder, "rev-parse", "HEAD").strip()
