"""The other tools, in an environment of their own: TorchFix asks for a libcst that is older than the current one."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.benchmarks.corpora import store

REQUIREMENTS = ("torchfix==0.7.0", "ruff==0.17.6", "pyflakes==4.1.0", "setuptools<81")
"""setuptools for TorchFix, which imports `pkg_resources` on some versions of Python."""


def environment() -> Path:
    """The folder of the peers' commands, made when it is not there."""
    folder = store() / f"peers-{sys.version_info.major}.{sys.version_info.minor}"
    done = folder / "done"
    if not done.exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        subprocess.run([str(folder / "bin" / "pip"), "install", "-q", *REQUIREMENTS], check=True)
        done.write_text("\n".join(REQUIREMENTS))
    return folder / "bin"


def torchfix(bin: Path, paths: Sequence[str]) -> list[str]:
    """TorchFix by itself, all of its codes."""
    return [str(bin / "torchfix"), "--select", "ALL", *paths]


def pyflakes(bin: Path, paths: Sequence[str]) -> list[str]:
    return [str(bin / "python"), "-m", "pyflakes", *paths]


def ruff(bin: Path, paths: Sequence[str], cache: str = "") -> list[str]:
    """Ruff with its default rules; without a cache unless a folder for it is given."""
    kept = ["--cache-dir", cache] if cache else ["--no-cache"]
    return [str(bin / "ruff"), "check", "--isolated", "--quiet", *kept, *paths]
