"""Codes that a configuration leaves out in some files: `per-file-ignores`."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import lru_cache, partial
from pathlib import Path

from graphlint.config import Config
from graphlint.discover import Found, excludes

Ignored = Callable[[str], tuple[str, ...]]
Ignores = tuple[tuple[str, tuple[str, ...]], ...]


def ignored(config: Config) -> Ignored:
    """What is left out in a file, by the file's path."""
    return partial(_ignored, config.per_file_ignores, config.root)


@lru_cache(maxsize=4096)
def _ignored(ignores: Ignores, root: Path, path: str) -> tuple[str, ...]:
    found = Found(Path(os.path.abspath(path)), path)
    matching = (codes for pattern, codes in ignores if excludes(found, (pattern,), root))
    return tuple(code for codes in matching for code in codes)
