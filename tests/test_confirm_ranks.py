"""`graphlint confirm --ranks 2` without GPUs: two processes on the emulator, over gloo, started by the elastic agent."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from graphlint import config
from graphlint.confirm import command, plan
from graphlint.confirm.ranks import journal, sequences, shown
from graphlint.confirm.ranks.journal import Call, Journal
from graphlint.confirm.ranks.merged import Run, outcome
from graphlint.confirm.ranks.sequences import sentence
from graphlint.errors import UsageError
from tests.conftest import heed_interrupts

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.skipif(
    not torch.distributed.is_available() or not torch.distributed.is_gloo_available(), reason="torch has no gloo here"
)
ROOT = Path(__file__).parents[1]
FIXTURES = ROOT / "fixtures"
LIMIT = 25.0
HANGING = 18.0
TARGETS = {
    "all_reduce": "ranks/reductions.py", "barrier": "ranks/objects.py", "skips_in_capture": "rank_branch/branches.py",
    "other_size": "rank_branch/branches.py", "differs_after_replay": "ranks/hangs.py", "crashes": "", "fails": "",
    "leaves": "", "same_ranks": "", "crossed": "",
}  # fmt: skip
HOSTILE = '''
"""Ranks that end too early, or do something else."""
import os
import subprocess
import torch
import torch.distributed as dist

def crashes(device, rank):
    def step(x):
        if rank == 1:
            os._exit(7)
        dist.all_reduce(x)
        return x
    return step, (torch.ones(4, device=device),)

def fails(device, rank):
    if rank == 1:
        raise ValueError("this rank cannot be built")
    return (lambda x: x + 1), (torch.ones(4, device=device),)

def leaves(device, rank):
    subprocess.Popen(["sleep", "4321"], env={**os.environ, "LEFT": "left"})
    def step(x):
        if rank == 1:
            os._exit(0)
        dist.all_reduce(x)
        return x
    return step, (torch.ones(4, device=device),)

def same_ranks(device, rank):
    groups = [dist.new_group([0, 1]), dist.new_group([0, 1])]
    for each in groups:
        dist.all_reduce(torch.ones(1, device=device), group=each)
    def step(x):
        y = x * 2
        dist.all_reduce(y, group=groups[rank if torch.cuda.is_current_stream_capturing() else 0])
        return y
    return step, (torch.ones(4, device=device),)

def crossed(device, rank):
    def step(x):
        y = x * 2
        for issue in (dist.all_reduce, lambda each: dist.broadcast(each, 0))[:: 1 - 2 * rank]:
            issue(y)
        return y
    return step, (torch.ones(4, device=device),)
'''


def confirmed(folder: Path, targets: list[str], *options: str) -> tuple[int, dict[str, Any]]:
    command = [sys.executable, "-m", "graphlint", "confirm", "--ranks", "2", "--device", "emulated", "--format", "json"]
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run(
        [*command, *options, *targets], cwd=folder, capture_output=True, text=True, env=environ, check=False
    )
    assert done.stdout, done.stderr
    return done.returncode, {each["target"].rpartition(":")[2]: each for each in json.loads(done.stdout)["targets"]}


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> tuple[int, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("ranks")
    (folder / "hostile.py").write_text(HOSTILE.lstrip())
    targets = [f"{FIXTURES / file if file else folder / 'hostile.py'}:{name}" for name, file in TARGETS.items()]
    return confirmed(folder, targets, "--no-check")


def line_of(file: str, text: str, nth: int = 0) -> int:
    lines = (FIXTURES / file).read_text().splitlines()
    return [place for place, line in enumerate(lines, 1) if text in line][nth]


def test_ranks_that_fit_capture_and_replay_equal_to_eager(found: tuple[int, dict[str, Any]]) -> None:
    each = found[1]["all_reduce"]
    assert (each["result"], each["replays"]) == ("captures", ["match"] * 3)
    section = each["sections"]["ranks"]
    assert [row["rank"] for row in section["by_rank"]] == [0, 1] and section["backend"] == "gloo"
    assert all([call["call"] for call in row["captured"]] == ["all_reduce(float32[64])"] for row in section["by_rank"])


def test_refused_lines_are_told_for_each_rank(found: tuple[int, dict[str, Any]]) -> None:
    each, line = found[1]["barrier"], line_of("ranks/objects.py", "dist.barrier()")
    assert (each["result"], [one["line"] for one in each["refusals"]]) == ("refused", [line])
    rows = each["sections"]["ranks"]["by_rank"]
    assert [[one["line"] for one in row["refusals"]] for row in rows] == [[line], [line]]


def test_a_collective_that_one_rank_skips_is_named_with_its_line_and_the_missing_partner(
    found: tuple[int, dict[str, Any]],
) -> None:
    each, line = found[1]["skips_in_capture"], line_of("rank_branch/branches.py", "dist.all_reduce(y)", 2)
    assert each["result"] == "stale" and found[0] == 2
    (mismatch,) = each["sections"]["ranks"]["mismatches"]
    assert (mismatch["missing"], mismatch["index"], mismatch["calls"][0]["line"]) == (1, 2, line)
    assert re.search(rf"rank 1 is missing from `all_reduce\(float32\[64\]\)` .*branches.py:{line}\)", each["reason"])


def test_a_size_that_differs_is_named_with_both_calls(found: tuple[int, dict[str, Any]]) -> None:
    each = found[1]["other_size"]
    (mismatch,) = each["sections"]["ranks"]["mismatches"]
    assert each["result"] == "stale" and mismatch["why"] == "size"
    assert [call["call"] for call in mismatch["calls"]] == ["all_reduce(float32[64])", "all_reduce(float32[32])"]


def test_results_that_should_agree_across_ranks_are_compared(found: tuple[int, dict[str, Any]]) -> None:
    each = found[1]["differs_after_replay"]
    gaps = each["sections"]["ranks"]["disagreements"]
    assert each["result"] == "stale"
    assert [(gap["output"], gap["replay"], gap["size"], gap["ranks"]) for gap in gaps] == [
        ("output", 1, 1.0, [0, 1]), ("output", 2, 2.0, [0, 1]), ("output", 3, 3.0, [0, 1])
    ]  # fmt: skip


def test_a_rank_that_dies_or_cannot_be_built_ends_the_others(found: tuple[int, dict[str, Any]]) -> None:
    assert re.match(r"rank 1: the process ended with status 7 while warming up", found[1]["crashes"]["reason"])
    assert "rank 1: ValueError while building the case: this rank cannot be built" in found[1]["fails"]["reason"]
    assert found[1]["crashes"]["seconds"] < LIMIT and found[1]["fails"]["seconds"] < LIMIT


def test_a_rank_that_leaves_with_status_0_is_missed_at_once_and_nothing_it_started_is_left(
    found: tuple[int, dict[str, Any]],
) -> None:
    each = found[1]["leaves"]
    assert each["reason"].startswith("rank 1: the process ended with no result while warming up")
    assert each["seconds"] < LIMIT and not [one for one in Path("/proc").glob("[0-9]*/environ") if _is_left(one)]


def _is_left(path: Path) -> bool:
    try:
        return b"LEFT=left" in path.read_bytes()
    except OSError:
        return False


def test_groups_of_the_same_ranks_are_told_apart(found: tuple[int, dict[str, Any]]) -> None:
    each = found[1]["same_ranks"]
    (mismatch,) = each["sections"]["ranks"]["mismatches"]
    assert (each["result"], mismatch["why"], mismatch["index"]) == ("stale", "group", 1)
    assert re.search(r"in group `1` of ranks 0, 1 on rank 0 .* in group `2` of ranks 0, 1 on rank 1", each["reason"])


def test_collectives_that_cross_in_a_warm_up_are_told_once(found: tuple[int, dict[str, Any]]) -> None:
    each = found[1]["crossed"]
    (mismatch,) = each["sections"]["ranks"]["mismatches"]
    assert (each["result"], mismatch["why"]) == ("not-run", "operation")
    assert each["reason"] == f"while warming up, {mismatch['sentence']}"


def test_a_hang_ends_within_its_limit_and_names_every_line_and_the_missing_partner() -> None:
    begun = time.monotonic()
    status, targets = confirmed(FIXTURES / "ranks", ["hangs.py:loops"], "--timeout", str(HANGING))
    each, stuck, waits = (
        targets["loops"], line_of("ranks/hangs.py", "time.sleep"), line_of("ranks/hangs.py", "dist.all_reduce"),
    )  # fmt: skip
    assert time.monotonic() - begun < HANGING + 10
    assert (status, each["result"]) == (2, "not-run")
    hang = each["sections"]["ranks"]["hang"]
    assert [(one["rank"], one["line"]) for one in hang["stands"]] == [(0, waits), (1, stuck)]
    assert hang["missing"] == 1 and "rank 1 is missing from `all_reduce(float32[64])`" in each["reason"]


def test_text_has_a_line_for_each_rank(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "graphlint",
        "confirm",
        "--ranks",
        "2",
        "--device",
        "emulated",
        "hangs.py:differs_after_replay",
    ]
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=FIXTURES / "ranks", capture_output=True, text=True, env=environ, check=False)
    assert done.returncode == 1, done.stdout + done.stderr
    assert re.search(r"2 ranks over gloo:\n    rank 0: captures; captured 0 collectives\n    rank 1: stale", done.stdout)
    assert "replay 1: `output` of ranks 0 and 1 differs by 1 and agrees in eager" in done.stdout


THREE = '''
"""Two groups that overlap, and the world."""
import torch
import torch.distributed as dist

def overlap(device, rank):
    first, second = dist.new_group([0, 1]), dist.new_group([1, 2])
    for group in (first, second):
        dist.all_reduce(torch.zeros(1, device=device), group=group)

    def step(x):
        y = x * 2
        if rank in (0, 1):
            dist.all_reduce(y, group=first)
        if rank in (1, 2):
            dist.all_reduce(y, group=second)
        return y

    return step, (torch.randn(8, device=device),)
'''
CONFIGURATION = """
[tool.graphlint.confirm]
targets = [{target = "three.py:overlap", ranks = 3, timeout = 60}]
"""


@pytest.mark.parametrize(
    "setting", ["ranks = 0", "ranks = true", "ranks = 2.5", 'ranks = "two"', "ranks = 65", "timeout = 0"]
)
def test_a_setting_that_is_no_number_of_ranks_or_seconds_is_an_error_that_says_so(tmp_path: Path, setting: str) -> None:
    (tmp_path / "three.py").write_text(THREE.lstrip())
    (tmp_path / "pyproject.toml").write_text(CONFIGURATION.replace("ranks = 3, timeout = 60", setting))
    settings = config.load(tmp_path)
    (table,) = plan.configured(settings.confirm)
    with pytest.raises(UsageError, match=rf"`{setting.split()[0]} = .*` of `three.py:overlap` is not a number"):
        command._configured(table, plan.Options(), tmp_path)


def test_a_factory_that_takes_a_rank_is_told_where_it_comes_from(tmp_path: Path) -> None:
    from graphlint.confirm import build

    (tmp_path / "hostile.py").write_text(HOSTILE.lstrip())
    one = plan.parse_target("hostile.py:fails", plan.Options(), tmp_path)
    with pytest.raises(UsageError, match=r"(?s)`fails` takes `rank`.*`--ranks 2` gives it"):
        build.make(one, build.load(one), "cpu")


def test_ranks_that_fare_alike_share_a_line() -> None:
    row = {"result": "captures", "stage": "", "captured": [], "refusals": []}
    rows = [{**row, "rank": rank} for rank in (0, 1, 2)] + [{**row, "rank": 3, "result": "stale"}, {**row, "rank": 5}]
    found = {"ranks": 5, "library": "gloo", "by_rank": rows, "mismatches": [], "disagreements": []}
    assert shown.section(found, ROOT)[1:] == [
        "    ranks 0-2, 5: captures; captured 0 collectives", "    rank 3: stale; captured 0 collectives"
    ]  # fmt: skip


def test_three_ranks_in_overlapping_groups_come_from_the_configuration(tmp_path: Path) -> None:
    (tmp_path / "three.py").write_text(THREE.lstrip())
    (tmp_path / "pyproject.toml").write_text(CONFIGURATION)
    command = [sys.executable, "-m", "graphlint", "confirm", "--device", "emulated", "--no-check"]
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=environ, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    one, other = (f"all_reduce(float32[8]) of ranks {pair}" for pair in ("0, 1", "1, 2"))
    assert f"rank 1: captures; captured 2 collectives: {one}, {other}\n" in done.stdout
    assert f"rank 2: captures; captured 1 collective: {other}" in done.stdout


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="ranks follow their parent on Linux")
@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -9)])
def test_an_interrupt_leaves_no_rank_behind(tmp_path: Path, number: int, status: int) -> None:
    target = f"{FIXTURES / 'ranks' / 'hangs.py'}:loops"
    command = [sys.executable, "-m", "graphlint", "confirm", "--ranks", "2", "--device", "emulated", "--no-check", target]
    environ = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path)}
    run = subprocess.Popen(
        command, env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, preexec_fn=heed_interrupts
    )
    ranks = _started(str(tmp_path))
    run.send_signal(number)
    run.communicate(timeout=30)
    assert (run.returncode, len(ranks)) == (status, 2)
    deadline = time.monotonic() + 10
    while any(Path(f"/proc/{each}").exists() for each in ranks) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not any(Path(f"/proc/{each}").exists() for each in ranks)
    assert number == signal.SIGKILL or not list(tmp_path.glob("graphlint-*"))


def _started(mark: str) -> list[int]:
    """The processes of two ranks that have the mark in their environment, once they are there."""
    for _ in range(300):
        time.sleep(0.1)
        found = [int(path.parent.name) for path in Path("/proc").glob("[0-9]*/environ") if _is_rank(path, mark)]
        if len(found) == 2:
            return found
    return []


def _is_rank(path: Path, mark: str) -> bool:
    try:
        return b"ranks.worker" in path.with_name("cmdline").read_bytes() and mark.encode() in path.read_bytes()
    except OSError:
        return False


def test_more_ranks_than_gpus_is_an_error_that_says_so(tmp_path: Path) -> None:
    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    from graphlint.confirm.ranks import launch

    one = plan.Plan("a.py:b", "b", path="a.py", options=plan.Options(ranks=2))
    with pytest.raises(UsageError, match="2 ranks need a GPU each and 0 are visible"):
        launch.confirm(one, "cuda", lambda word: None, time.monotonic(), tmp_path / "groups")


def call(op: str, count: int = 4, **more: Any) -> Call:
    return Call(op, more.pop("group", (0, 1)), count, "float32", **more)


@pytest.mark.parametrize(
    ("one", "other", "why"),
    [
        ([call("all_reduce")], [call("all_reduce")], ""),
        ([call("all_reduce")], [], "missing"),
        ([call("all_reduce")], [call("broadcast")], "operation"),
        ([call("all_reduce"), call("broadcast")], [call("broadcast"), call("all_reduce")], "operation"),
        ([call("all_reduce", 4)], [call("all_reduce", 8)], "size"),
        ([call("all_reduce")], [Call("all_reduce", (0, 1), 4, "float16")], "dtype"),
        ([call("all_reduce", group=(0, 1, 2))], [call("all_reduce", group=(0, 1))], "group"),
        ([call("broadcast", detail="root 0")], [call("broadcast", detail="root 1")], "operation"),
        ([call("send", peer=1), call("recv", peer=1)], [call("send", peer=0), call("recv", peer=0)], ""),
        ([call("send", peer=1)], [], "missing"),
        ([call("send", 4, peer=1)], [call("recv", 8, peer=0)], "size"),
        ([call("all_reduce", group=(0, 2))], [call("all_reduce", group=(1, 3))], ""),
        ([call("all_to_all_single", 0, splits=(1, 3), wants=(1, 2))],
         [call("all_to_all_single", 0, splits=(2, 2), wants=(3, 2))], ""),
        ([call("all_to_all_single", 0, splits=(1, 3), wants=(1, 2))],
         [call("all_to_all_single", 0, splits=(2, 2), wants=(4, 2))], "splits"),
    ],
)  # fmt: skip
def test_sequences_are_compared_call_by_call(one: list[Call], other: list[Call], why: str) -> None:
    found = sequences.mismatches({0: one, 1: other})
    assert [each.why for each in found] == ([why] if why else [])


def test_a_journal_tells_what_was_told_even_when_it_is_cut_short(tmp_path: Path) -> None:
    path = tmp_path / "rank-0.jsonl"
    with path.open("w") as file:
        told = Journal(file)
        told.say(pid=7)
        told.say(stage="capturing")
        told.say(phase="capture")
        told.before(call("all_reduce", file="a.py", line=3))
        file.write('{"outcome": {"targ')
    account = journal.read(path)
    assert (account.pid, account.stage, account.waits, account.outcome) == (7, "capturing", True, None)
    assert account.captured == [call("all_reduce", file="a.py", line=3)] and account.last == account.captured[0]


def test_a_rank_that_hangs_in_a_replay_stands_at_the_collective_that_does_not_fit(tmp_path: Path) -> None:
    captured = {0: [call("all_reduce", 4, file="a.py", line=3)], 1: [call("all_reduce", 8, file="a.py", line=5)]}
    accounts = {
        rank: journal.Account(rank, "replaying", {"capture": calls, "replay 1": []}, "replay 1")
        for rank, calls in captured.items()
    }
    found = outcome("t", Run("nccl", accounts, {}, {}, 15.0, "its graphs do not fit"), tmp_path)
    assert found.result == "stale"
    assert [each["line"] for each in found.sections["ranks"]["hang"]["stands"]] == [3, 5]
    assert sentence(sequences.mismatches(captured)[0]) in found.reason
