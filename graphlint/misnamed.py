"""Names of a configuration that no region has: one that is misspelt would otherwise mean that nothing is checked.

Only a run over the whole project can tell; what is in a part of it says nothing of the rest.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from fnmatch import fnmatchcase

from graphlint.config import Config
from graphlint.types import Report


def misnamed(report: Report, config: Config, paths: Sequence[str]) -> tuple[str, ...]:
    """A remark for every name in `regions`, or pattern in `only-regions`, that stands for no region of a run."""
    if not _is_whole(config, paths):
        return ()
    names = [each.region.name for each in report.regions]
    if config.only_regions:
        lost = [each for each in config.only_regions if not any(fnmatchcase(name, each) for name in names)]
        return tuple(f"`only-regions` has `{each}`, which no region matches" for each in lost)
    lost = [each for each in config.regions if not any(f".{name}".endswith(f".{each}") for name in names)]
    # What is left out on purpose has no region either.
    lost = [] if config.skip_regions else lost
    return tuple(f"`regions` has `{each}`, and no function of that name was found" for each in lost)


def _is_whole(config: Config, paths: Sequence[str]) -> bool:
    root = os.path.join(os.path.abspath(config.root), "")
    return any(os.path.isdir(each) and root.startswith(os.path.join(os.path.abspath(each), "")) for each in paths)
