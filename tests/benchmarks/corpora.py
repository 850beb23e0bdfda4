"""The trees: public wheels of named versions, unpacked without their dependencies."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

WHEELS = {"timm": "timm==1.0.29", "transformers": "transformers==5.17.0"}
MODEL = "models/llama/modeling_llama.py"
"""A file of 20 KB in transformers that uses a dozen others of its library."""


LEAF = "models/falcon/modeling_falcon.py"
"""A file of 60 KB that no other file looks into, as with six of ten models of the library."""


@dataclass(frozen=True, slots=True)
class Tree:
    """A folder of Python files."""

    name: str
    path: Path

    @property
    def files(self) -> list[Path]:
        return sorted(self.path.rglob("*.py"))

    def described(self) -> str:
        files = self.files
        size = sum(each.stat().st_size for each in files) / 1e6
        return f"{self.name} ({len(files):,} files, {size:.1f} MB)"


def store() -> Path:
    """Where what was fetched stays for the next time."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "graphlint-benchmarks"


def tree(name: str, given: str = "") -> Tree:
    """A tree at a given path, or fetched."""
    if given:
        return Tree(name, Path(given).resolve())
    folder = store() / WHEELS[name].replace("==", "-")
    if not folder.is_dir():
        _unpack(WHEELS[name], folder)
    return Tree(WHEELS[name].replace("==", " "), folder / name)


def _unpack(requirement: str, folder: Path) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary=:all:", "-d", scratch]
        subprocess.run([*command, requirement], check=True)
        (wheel,) = Path(scratch).glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(Path(scratch) / "tree")
        os.rename(Path(scratch) / "tree", folder)
