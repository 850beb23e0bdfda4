"""`graphlint --version`: with the version of torch that is predicted for by default, and the newest that is known."""

from __future__ import annotations

import re
from importlib.resources import files

from graphlint import __version__
from graphlint.config import defaults

SOURCE = re.compile(r"source-(\d+)\.(\d+)")


def version() -> str:
    """`0.1.0 (predicts for torch 2.11 by default, knows torch up to 2.13)`: the newest from whose source a row is."""
    rows = (
        each.read_text(encoding="utf-8") for each in files("graphlint.effects").iterdir() if each.name.endswith(".rows")
    )
    known = [(int(major), int(minor)) for text in rows for major, minor in SOURCE.findall(text)]
    major, minor = max(known, default=(0, 0))
    return f"{__version__} (predicts for torch {defaults()['torch_version']} by default, knows torch up to {major}.{minor})"
