"""What an H200 did, as recorded, against what others measured there and against what is predicted today."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from graphlint import source
from graphlint.testing import captures
from tests.gpu.record import ROOT
from tests.gpu.table import DATA, recorded, rows

FIXTURES = ROOT / "fixtures"

RESULTS = {
    "ok": {"captures", "stale"}, "fail": {"refused"}, "captured": {"captures", "stale"}, "refused": {"refused"},
    "raises": {"refused"}, "wrong": {"stale"}, "fine": {"captures", "not-run"},
}  # fmt: skip
"""What `confirm` may call a result of the measurement it is compared with."""

OTHER_LINES = {
    "015_clip_error_if_nonfinite": "the measurement has no lines: its recording failed; ours is where it raised",
    "045_adam_not_capturable": "a script's lines were not measured; ours is where it raised",
    "053_gradscaler_inside_capture": "a script's lines were not measured; ours is the cause, not the follow-up",
}
"""Targets whose refused lines differ, each with the reason; one that agrees again must go."""


def places(plain: dict[str, Any]) -> set[tuple[str, int]]:
    return {(each["file"], each["line"]) for each in plain["refusals"]}


@pytest.mark.parametrize("name", ["cases", "models"])
def test_results_are_those_that_were_measured(name: str) -> None:
    targets = recorded(name)["targets"]
    assert len(targets) >= {"cases": 38, "models": 40}[name]
    wrong = [each["target"] for each in targets if each["result"] not in RESULTS[each["expected"]["result"]]]
    assert wrong == []


@pytest.mark.parametrize("name", ["cases", "models"])
def test_refused_lines_are_those_that_were_measured(name: str) -> None:
    for each in recorded(name)["targets"]:
        expected = {(file, line) for file, line in each["expected"]["lines"]}
        agrees = places(each) == expected
        assert agrees != (each["target"] in OTHER_LINES), f"{each['target']}: {sorted(places(each) ^ expected)}"


def test_replays_are_wrong_where_they_were_measured_to_be() -> None:
    for each in recorded("cases")["targets"]:
        measured = [word.strip() for word in each["expected"]["replay"] or ()]
        assert not measured or each["replays"] == measured, each["target"]


def test_both_regimes_are_recorded_with_both_sides_of_the_inequality() -> None:
    found = {each["target"]: each["figures"] for each in recorded("regimes")["targets"]}
    decode, batch = found["decode_step"], found["large_batch"]
    assert decode["kernels"] * decode["launch_us"] > 1000 * decode["gpu_ms"]
    assert batch["kernels"] * batch["launch_us"] < 1000 * batch["gpu_ms"]
    assert decode["eager_ms"] / decode["replay_ms"] > 2
    assert 0.9 < batch["eager_ms"] / batch["replay_ms"] < 1.1


def test_breaks_cost_launches() -> None:
    found = {each["target"]: each["sections"].get("compile", {}) for each in recorded("regimes")["targets"]}
    assert [found[name]["launches"] for name in ("whole", "broken", "looped")] == [1, 2, 0]
    assert found["looped"]["breaks"][0]["falls_back"]


def test_buckets_were_captured_with_and_without_a_shared_pool() -> None:
    (section,) = [each["sections"]["shapes"] for each in recorded("regimes")["targets"] if each["target"] == "buckets"]
    assert section["shared_pool"]["reserved_mib"] < section["pool_each"]["reserved_mib"]
    assert not any(each["wrong"] for each in section["gaps"])


@pytest.mark.parametrize("name", sorted(path.stem for path in DATA.glob("*.json")))
def test_every_record_says_where_it_was_made(name: str) -> None:
    record = recorded(name)
    assert record["machine"]["kind"] == "cuda" and record["machine"]["torch"] and record["date"]
    assert not any("/tmp/" in str(each) for target in record["targets"] for each in target["executed"])


OTHER_OUTCOMES = {
    "missing_warmup/cold.py:main": "recorded in a process where targets before it had made the library handles",
    "programs/catalogue_more.py:nested_capture": "a capture inside a capture aborts the process",
}
"""Fixtures whose `# capture:` mark says something else than what was recorded, each with the reason."""
OBSERVED = {"breaks": "refused", "stale": "stale", "captures": "captures"}


def test_every_page_does_on_a_gpu_what_its_rule_predicts() -> None:
    told = [each for each in rows() if each.rule.predicts and each.rule.predicts.value in ("breaks", "stale")]
    shown = [each for each in told if each.fails != "-"]
    assert len(shown) > 30
    assert [each.rule.code for each in shown if each.fails != OBSERVED[each.rule.predicts.value]] == []  # type: ignore[union-attr]
    assert [each.rule.code for each in shown if each.captures not in ("captures", "-")] == []


def test_every_fixture_does_on_a_gpu_what_its_mark_says() -> None:
    marked = {
        f"{path.relative_to(FIXTURES).as_posix()}:{mark.entry}": mark.outcome
        for path in sorted(FIXTURES.rglob("*.py"))
        for mark in captures(source.read(path, path.name))
    }
    seen = {each["target"]: each["result"] for each in recorded("fixtures")["targets"]}
    both = set(marked) & set(seen)
    assert len(both) > 150
    other = {name for name in both if OBSERVED[marked[name]] != seen[name]}
    assert other == set(OTHER_OUTCOMES) & both


def test_few_predictions_are_refuted_or_missed() -> None:
    table = rows()
    confirmed, refuted = (sum(each.count(word) for each in table) for word in ("confirmed", "refuted"))
    missed = sum(len(each.missed) for each in table)
    assert confirmed > 100 and refuted + missed < 0.1 * confirmed


@pytest.mark.parametrize("command", [("record", "regimes"), ("ranks",)])
def test_nothing_is_recorded_without_a_gpu(command: tuple[str, ...], tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", f"tests.gpu.{command[0]}", *command[1:], "--out", str(tmp_path)],
        cwd=ROOT,
        env={**os.environ, "CUDA_VISIBLE_DEVICES": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, list(tmp_path.iterdir())) == (2, [])
    assert "0 found; nothing was written" in done.stderr
