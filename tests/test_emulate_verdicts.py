"""The emulator against recorded verdicts of a GPU: the examples of every rule's page, and the marked fixtures.

Compared are the result, the refused lines and the word of each replay.  `EXPLAINED` says why some differ; of the others
97 in 100 must agree, since pages and fixtures change more often than they are recorded.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.emulated import outcome_of
from tests.gpu import record

ROOT = Path(__file__).parents[1]
ENOUGH = 0.97
EXPLAINED = {
    "GL509-fails": "whether freed memory is given to another tensor depends on what else the process freed",
    "GL526-fails": "the emulator copies at once, so that the host never reads too early",
    "unwaited_copy/early.py:main": "the emulator copies at once, so that the host never reads too early",
    "GL610-fails": "the emulator copies at once, so that no replay comes too early",
    "input_raced/streams.py:main": "the emulator copies at once, so that no replay comes too early",
    "missing_warmup/cold.py:main": "recorded in a process that had used the library before",
    "GL805-fails": "compiled code is not emulated",
    "GL808-fails": "compiled code is not emulated",
    "GL808-captures": "compiled code is not emulated",
    "compiled_stale_read/read.py:main": "compiled code is not emulated",
    "compiled_stale_read/chained.py:main": "compiled code is not emulated",
    "compiled_stale_read/gradients.py:main": "compiled code is not emulated",
    "compiled_stale_read/listed.py:main": "compiled code is not emulated",
    "compiled_overwritten/results.py:one_step": "compiled code is not emulated",
    "compiled_overwritten/through_helpers.py:main": "compiled code is not emulated",
    "compiled_overwritten/with_gradients.py:read": "compiled code is not emulated",
    "graphs_skipped/control_flow.py:regions": "compiled code is not emulated",
    "graphs_skipped/pending.py:main": "compiled code is not emulated",
    "graph_misused/dropped.py:deleted": "the emulator holds no graph of the driver, which is what cannot be destroyed",
    "graph_misused/dropped.py:reset": "the emulator holds no graph of the driver, which is what cannot be destroyed",
    "graphed_order/stages.py:other_way_round": "the emulator gives no memory to two graphs",
    "replays_at_once/two_streams.py:at_once": "the emulator replays one graph after the other",
}


def recorded(what: str) -> Iterator[tuple[str, dict[str, Any]]]:
    text = (ROOT / "tests" / "data" / "verdicts" / f"{what}.json").read_text()
    for each in json.loads(text)["targets"]:
        if each["result"] != "not-run" and each["target"] not in EXPLAINED:
            yield each["target"], each


def differences(path: Path, entry: str, verdict: dict[str, Any]) -> list[str]:
    """What the emulator says otherwise."""
    try:
        outcome = outcome_of(path, entry)
    except ModuleNotFoundError:
        return []
    except Exception as error:  # the test names the example and goes on to the next
        return [f"raised {type(error).__name__}: {error}"]
    found = {
        "result": (verdict["result"], outcome.result),
        "lines": (sorted({each["line"] for each in verdict["refusals"]}), sorted({each.line for each in outcome.refusals})),
        "replays": (list(verdict["replays"]), list(outcome.replays)),
    }
    return [f"{key}: {gpu} on the GPU, {here} here" for key, (gpu, here) in found.items() if gpu != here]


def hold(what: str, place: Callable[[str], tuple[Path, str]]) -> None:
    """Compare everything recorded that is still there."""
    found: dict[str, list[str]] = {}
    for name, verdict in recorded(what):
        path, entry = place(name)
        if path.is_file():
            found[name] = differences(path, entry, verdict)
    different = {name: each for name, each in found.items() if each}
    assert len(found) > 90
    assert len(different) <= (1 - ENOUGH) * len(found), different


@pytest.mark.filterwarnings("ignore")
def test_the_examples_of_the_pages_do_what_they_did_on_the_gpu(tmp_path: Path) -> None:
    list(record.page_files(tmp_path))

    def place(name: str) -> tuple[Path, str]:
        path = tmp_path / f"{name}.py"
        return path, record.entry(path) if path.is_file() else ""

    hold("pages", place)


@pytest.mark.filterwarnings("ignore")
def test_the_fixtures_do_what_they_did_on_the_gpu() -> None:
    def place(name: str) -> tuple[Path, str]:
        file, _, entry = name.rpartition(":")
        return ROOT / "fixtures" / file, entry

    hold("fixtures", place)
