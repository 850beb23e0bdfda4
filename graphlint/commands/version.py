"""`graphlint --version`: with the version of torch that is predicted for by default, and the newest that is known."""

from __future__ import annotations

from graphlint import __version__
from graphlint.config import defaults
from graphlint.effects.table import NEWEST


def version() -> str:
    """`0.1.0 (predicts for torch 2.11 by default, knows torch up to 2.13)`."""
    newest = ".".join(map(str, NEWEST))
    return f"{__version__} (predicts for torch {defaults()['torch_version']} by default, knows torch up to {newest})"
