"""The marks of the fixtures about capturing, held against the emulator: the same files are held against a GPU."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from graphlint.confirm.build import from_file
from graphlint.confirm.outcome import Outcome
from graphlint.emulate import emulate, emulate_script
from graphlint.testing import CAPTURE
from tests.gpu.entries import entry_case

ROOT = Path(__file__).parents[1] / "fixtures"
COMPILED = "torch.compile("
CLOCKS = "reads.py"
"""Left out: what a compiler's graphs refuse, and clocks, which two eager runs disagree about as much."""
RESULTS = {"captures": "captures", "breaks": "refused", "stale": "stale"}


def marked() -> Iterator[tuple[str, str, str]]:
    """File, entry and what a capture of it does."""
    for path in sorted(ROOT.rglob("*.py")):
        for line in path.read_text().splitlines():
            found = CAPTURE.match(line)
            if found and COMPILED not in path.read_text() and path.name != CLOCKS:
                yield str(path.relative_to(ROOT)), found["entry"], found["outcome"]


def outcome_of(path: Path, entry: str) -> Outcome:
    if entry == "main":
        return emulate_script(lambda: from_file(path).main("cuda"), target=entry)
    return emulate(partial(entry_case, "cuda", str(path), entry), target=entry)


def result_of(path: Path, entry: str) -> str:
    """A script that raises before any capture breaks too."""
    try:
        return outcome_of(path, entry).result
    except RuntimeError as error:
        return "refused" if "make_graphed_callables" in str(error) else str(error)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("file", "entry", "mark"), list(marked()))
def test_the_emulator_agrees_with_the_mark(file: str, entry: str, mark: str) -> None:
    assert result_of(ROOT / file, entry) == RESULTS[mark]
