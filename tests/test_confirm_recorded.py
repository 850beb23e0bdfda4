"""What an H200 did, as recorded, against what others measured there and against what is predicted today."""

from __future__ import annotations

from typing import Any

import pytest

from tests.gpu.table import DATA, recorded

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
