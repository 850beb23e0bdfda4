"""What `graphlint check` predicts for the files that a target ran, read from its JSON."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graphlint.errors import GraphlintError


class NoPredictions(GraphlintError):
    """`check` could not be run on these files."""


@dataclass(frozen=True, slots=True)
class Predicted:
    """One diagnostic; lines are 1-based, `effects` maps a capture target to its effect."""

    code: str
    rule: str
    file: str
    line: int
    end_line: int
    effect: str
    message: str
    confidence: str = ""
    fingerprint: str = ""
    effects: tuple[tuple[str, str], ...] = ()

    def covers(self, file: str, lines: Iterable[int]) -> bool:
        """Whether one of the lines of a file is a line of this diagnostic."""
        return same(self.file, file) and any(self.line <= line <= self.end_line for line in lines)

    def has(self, effect: str) -> bool:
        return effect in (self.effect, *(each for _, each in self.effects))


def same(one: str, other: str) -> bool:
    """Whether two paths mean one file."""
    return os.path.realpath(one) == os.path.realpath(other)


def predicted(files: Sequence[str], root: Path, torch: str = "") -> tuple[Predicted, ...]:
    """The findings of `check` on these files for a version of torch, run from `root`; raises `NoPredictions`."""
    if not files:
        return ()
    version = re.match(r"[2-9]\.\d+", torch)
    options = ["--format", "json", *(["--torch-version", version[0]] if version else [])]
    command = [sys.executable, "-m", "graphlint", "check", *options, *files]
    done = subprocess.run(command, capture_output=True, text=True, cwd=root, check=False)
    try:
        return parsed(json.loads(done.stdout), root)
    except (ValueError, KeyError):
        said = (done.stderr or done.stdout).strip().splitlines()
        raise NoPredictions(f"`check` said nothing that can be compared: {said[0] if said else 'no output'}") from None


def parsed(report: Mapping[str, Any], root: Path) -> tuple[Predicted, ...]:
    """The diagnostics of a report, but for those about graphlint itself."""
    found = (_one(each, root) for each in report["diagnostics"])
    return tuple(each for each in found if not each.code.startswith("GL9"))


def _one(row: Mapping[str, Any], root: Path) -> Predicted:
    data, span = row["data"], row["range"]
    return Predicted(
        row["code"], data["rule"], str(root / row["file"]), span["start"]["line"] + 1, span["end"]["line"] + 1,
        data["effect"], row["message"], data["confidence"], data.get("fingerprint") or "",
        tuple(sorted((data.get("targets") or {}).items())),
    )  # fmt: skip
