"""`graphlint --version`: with the versions of torch that the effects table knows."""

from __future__ import annotations

import re
from importlib.resources import files

from graphlint import __version__

SOURCE = re.compile(r"source-(\d+)\.(\d+)")


def version() -> str:
    """`0.1.0 (torch table 2.13)`: the newest torch whose source a row was written from."""
    rows = (
        each.read_text(encoding="utf-8") for each in files("graphlint.effects").iterdir() if each.name.endswith(".rows")
    )
    known = [(int(major), int(minor)) for text in rows for major, minor in SOURCE.findall(text)]
    major, minor = max(known, default=(0, 0))
    return f"{__version__} (torch table {major}.{minor})"
