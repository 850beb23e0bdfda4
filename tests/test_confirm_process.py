"""Whatever user code does to its process becomes one clear line, and the other targets finish."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from graphlint.confirm import process
from graphlint.confirm.plan import Options, Plan, parse_target
from graphlint.confirm.process import Result
from graphlint.errors import UsageError
from tests.conftest import heed_interrupts

pytest.importorskip("torch")
LIMIT = 8.0

HOSTILE = '''
"""Targets that misbehave."""
import ctypes, os, sys, time
import torch

def fine(device):
    return (lambda x: x * 2), (torch.ones(4, device=device),)

def hangs(device):
    while True:
        time.sleep(0.01)

def crashes(device):
    ctypes.string_at(0)

def exits(device):
    sys.exit(3)

def leaves(device):
    os._exit(7)

def chatters(device):
    for _ in range(1_000_000):
        print("a line of output that nobody asked for")
    return (lambda x: x * 2), (torch.ones(4, device=device),)

def starves(device):
    raise torch.cuda.OutOfMemoryError("CUDA out of memory. Tried to allocate 400.00 GiB")

def swells(device):
    held = []
    while True:
        held.append(bytearray(1 << 24))
        time.sleep(0.005)

def fails(device):
    def step(x):
        return x @ x[:1]
    return step, (torch.ones(4, 3, device=device),)

def gives_nonsense(device):
    return 42
'''

MODEL = """
class Model(torch.nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.layer = torch.nn.Linear(dim, dim)

    def forward(self, x, mask=None):
        return self.layer(x).masked_fill(mask, 0.0)
"""

CONFIGURATION = """
[tool.graphlint.confirm]
targets = [
  "hostile.py:fine",
  {target = "hostile.py:Model", init = {dim = 8}, input = ["x=float32[2,8]", "mask=bool[2,8]"], timeout = 60},
]
"""

EXPECTED = {
    "hangs": "still building the case after 8 s, which is the time limit, at {file}:10 in `hangs`",
    "crashes": "crashed with a segmentation fault (SIGSEGV) while building the case, at {file}:13 in `crashes`",
    "exits": "the target called `sys.exit(3)` while building the case ({file}:16)",
    "leaves": "the process ended with status 7 and no result while building the case",
    "starves": "ran out of GPU memory while building the case ({file}:27)",
    "swells": "used more than 2 GiB of memory while building the case",
    "gives_nonsense": "the factory returned `int`, which is not a case; return",
}
DEADLY = ("hangs", "crashes", "leaves", "swells")
"""What takes its process with it."""


def plans(folder: Path, names: list[str]) -> list[Plan]:
    def one(name: str) -> Plan:
        limit = LIMIT if name.endswith("hangs") else 120.0
        return parse_target(name, Options(device="emulated", timeout=limit, memory=2.0), folder)

    return [one(name) for name in names]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Result]]:
    folder = tmp_path_factory.mktemp("hostile")
    (folder / "hostile.py").write_text(HOSTILE.lstrip())
    (folder / "broken.py").write_text("import a_module_that_is_not_there\n\ndef case(device):\n    return None\n")
    (folder / "syntax.py").write_text("def case(device)\n")
    alone = plans(folder, [f"hostile.py:{name}" for name in (*DEADLY, "fine")])
    mild = [f"hostile.py:{name}" for name in (*EXPECTED, "chatters", "fails", "nothing") if name not in DEADLY]
    together = plans(folder, [*mild, "broken.py:case", "syntax.py:case"])
    found = [*process.run(alone, gpus=("", "", "")), *process.run(together, shared=True)]
    assert [each.plan.target for each in found] == [each.target for each in (*alone, *together)]
    return folder, {each.plan.target: each for each in found}


@pytest.mark.parametrize("name", EXPECTED)
def test_each_end_of_a_process_is_one_clear_line(name: str, results: tuple[Path, dict[str, Result]]) -> None:
    folder, found = results
    outcome = found[f"hostile.py:{name}"].outcome
    assert outcome.result == "not-run"
    assert outcome.reason.startswith(EXPECTED[name].format(file=folder / "hostile.py"))
    assert "\n" not in outcome.reason


def test_a_million_lines_of_output_are_read_and_dropped(results: tuple[Path, dict[str, Result]]) -> None:
    found = results[1]["hostile.py:chatters"]
    assert found.outcome.result == "captures"
    assert len(found.printed) <= process.TAIL


def test_the_targets_beside_them_finish(results: tuple[Path, dict[str, Result]]) -> None:
    assert results[1]["hostile.py:fine"].outcome.result == "captures"


def test_an_import_that_fails_is_named_with_its_line(results: tuple[Path, dict[str, Result]]) -> None:
    folder, found = results
    assert found["broken.py:case"].outcome.reason == (
        f"cannot be imported: ModuleNotFoundError: No module named 'a_module_that_is_not_there' ({folder / 'broken.py'}:1)"
    )
    assert found["syntax.py:case"].outcome.reason.startswith("SyntaxError while importing the target")
    assert "has no `nothing`" in found["hostile.py:nothing"].outcome.reason


def test_an_error_in_the_step_names_the_stage_and_the_line(results: tuple[Path, dict[str, Result]]) -> None:
    folder, found = results
    reason = found["hostile.py:fails"].outcome.reason
    assert reason.startswith("RuntimeError while warming up: ") and reason.endswith(f"({folder / 'hostile.py'}:37)")


def test_in_one_process_a_crash_takes_only_its_own_target(tmp_path: Path) -> None:
    (tmp_path / "hostile.py").write_text(HOSTILE.lstrip())
    names = [f"hostile.py:{name}" for name in ("fine", "crashes", "exits", "fine")]
    found = process.run(plans(tmp_path, names), shared=True)
    assert [each.outcome.result for each in found] == ["captures", "not-run", "not-run", "captures"]
    assert "SIGSEGV" in found[1].outcome.reason


def test_targets_of_the_configuration_are_run_and_summed_up(tmp_path: Path) -> None:
    (tmp_path / "hostile.py").write_text(HOSTILE.lstrip() + MODEL)
    (tmp_path / "pyproject.toml").write_text(CONFIGURATION)
    command = [sys.executable, "-m", "graphlint", "confirm", "--device", "emulated", "--one-process"]
    environ = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=environ, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == "", "progress is shown on a terminal only"
    rows = [line.split()[:2] for line in done.stdout.splitlines()[-2:]]
    assert rows == [["hostile.py:fine", "captures"], ["hostile.py:Model", "captures"]]


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks for children in /proc")
def test_an_interrupt_leaves_no_child_behind(tmp_path: Path) -> None:
    (tmp_path / "hostile.py").write_text(HOSTILE.lstrip())
    command = [sys.executable, "-m", "graphlint", "confirm", "--device", "emulated", "--no-check", "hostile.py:hangs"]
    environ = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    run = subprocess.Popen(
        command,
        cwd=tmp_path,
        env=environ,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        preexec_fn=heed_interrupts,
    )
    children = _children(run.pid)
    run.send_signal(signal.SIGINT)
    _, said = run.communicate(timeout=20)
    assert run.returncode == 130 and b"interrupted" in said
    assert children and not any(Path(f"/proc/{child}").exists() for child in children)


def _children(pid: int) -> list[int]:
    """The children of a process, once it has one."""
    for _ in range(200):
        time.sleep(0.05)
        lists = Path(f"/proc/{pid}/task").glob("*/children")
        found = [int(each) for listed in lists for each in listed.read_text().split()]
        if found:
            return found
    return []


def test_a_folder_for_temporary_files_that_is_not_there_is_an_error_that_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    with pytest.raises(UsageError, match=r"(?s)a target cannot be started: .*missing.*TMPDIR"):
        process.run([Plan("a.py:b", "b", path="a.py")])
