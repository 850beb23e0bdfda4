"""The marks of the fixtures about capturing, held against the emulator: the same files are held against a GPU.

`EXPLAINED` says what the emulator cannot know.  Of the other marks 98 in 100 must agree, and the failure lists the rest.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from graphlint.testing import CAPTURE
from tests.emulated import outcome_of

ROOT = Path(__file__).parents[1] / "fixtures"
RESULTS = {"captures": "captures", "breaks": "refused", "stale": "stale"}
ENOUGH = 0.98
COMPILED = "torch.compile("
EXPLAINED = {
    "clock/reads.py": "two eager runs disagree about a clock as much as a replay does",
    "host_to_device/storage.py": "storages have no device of their own here",
    "unwaited_copy/computed.py": "a copy is done at once here, so nothing can be read too early",
    "unwaited_copy/early.py": "a copy is done at once here, so nothing can be read too early",
    "input_raced/streams.py": "a copy is done at once here, so no replay comes too early",
    "programs/catalogue_shapes.py:nested_or_jagged_tensor": "nested tensors are not emulated",
    "graph_misused/dropped.py": "a graph is destroyed here whenever it likes",
    "graphed_order/stages.py": "graphs share no memory here, so none writes over what another has",
}


def marked() -> Iterator[tuple[str, str, str]]:
    """File, entry and what a capture of it does; what only a compiler's graphs refuse is left out."""
    for path in sorted(ROOT.rglob("*.py")):
        text, name = path.read_text(), path.relative_to(ROOT).as_posix()
        for line in text.splitlines():
            found = CAPTURE.match(line)
            if found and COMPILED not in text and not {name, f"{name}:{found['entry']}"} & set(EXPLAINED):
                yield name, found["entry"], found["outcome"]


def result_of(path: Path, entry: str) -> str:
    """A script that raises before any capture breaks too."""
    try:
        return outcome_of(path, entry).result
    except ModuleNotFoundError as error:
        return f"no {error.name}"
    except Exception as error:
        return "refused" if "make_graphed_callables" in str(error) else f"raised {type(error).__name__}: {error}"


@pytest.mark.filterwarnings("ignore")
def test_the_emulator_agrees_with_the_marks() -> None:
    results = {(file, entry): (RESULTS[mark], result_of(ROOT / file, entry)) for file, entry, mark in marked()}
    ran = {place: pair for place, pair in results.items() if not pair[1].startswith("no ")}
    different = {place: pair for place, pair in ran.items() if pair[0] != pair[1]}
    assert len(ran) > 150
    assert len(different) <= (1 - ENOUGH) * len(ran), different
