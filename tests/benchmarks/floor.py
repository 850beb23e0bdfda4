"""Parse files and do nothing with them, one after another: `python floor.py PATH...`.

What no linter that reads through `ast` can do without.
"""

from __future__ import annotations

import ast
import sys
import warnings
from pathlib import Path


def parse(paths: list[str]) -> int:
    """Parse every Python file of some files and folders; the number of those that could be."""
    warnings.simplefilter("ignore")
    parsed = 0
    for given in map(Path, paths):
        for path in sorted(given.rglob("*.py")) if given.is_dir() else [given]:
            try:
                ast.parse(path.read_bytes())
            except (SyntaxError, ValueError):
                continue
            parsed += 1
    return parsed


if __name__ == "__main__":
    parse(sys.argv[1:])
