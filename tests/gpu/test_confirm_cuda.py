"""`graphlint confirm` on a real GPU."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device: nothing is captured here"),
]
ROOT = Path(__file__).parents[2]
LONGEST = 15.0

CASES = '''
"""Cases for the command line."""
import ctypes, sys, time
import torch
from graphlint import Case

class Model(torch.nn.Module):
    def __init__(self, dim=8):
        super().__init__()
        self.layer = torch.nn.Linear(dim, dim)

    def forward(self, x, mask):
        return self.layer(x).masked_fill(mask, 0.0)

class Reads(Model):
    def forward(self, x, mask):
        return super().forward(x, mask) * x.sum().item()

def good(device):
    return Model().to(device), (torch.randn(2, 8, device=device), torch.zeros(2, 8, dtype=torch.bool, device=device))

def bad(device):
    return Case(Reads().to(device), *good(device)[1:])

def too_large(device):
    return Model(), (torch.empty(1 << 45, device=device),)

def crashes(device):
    ctypes.string_at(0)

def hangs(device):
    time.sleep(1000)

def synchronizes(device):
    def step(x):
        torch.cuda.synchronize()
        torch.cuda.current_stream().query()
        return x * x.sum().item()
    return step, (torch.ones(2, device=device),)

def solves(device):
    def step(x):
        return torch.linalg.eigh(x).eigenvalues * x.sum().item()
    return step, (torch.eye(4, device=device),)

def lists(device):
    def step(x):
        return x[:, :-1], x[:, [-2]], x[:, [-1]]
    return step, (torch.ones(2, 4, device=device),)

def drops(device):
    model = torch.nn.Dropout(0.5)
    return model, (torch.ones(64, 64, device=device),)
'''


def confirm(folder: Path, *arguments: str) -> tuple[int, dict[str, Any]]:
    (folder / "cases.py").write_text(CASES.lstrip())
    command = [sys.executable, "-m", "graphlint", "confirm", "--format", "json", "--no-check", *arguments]
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environ, check=False)
    assert done.stdout, done.stderr
    return done.returncode, {each["target"].rpartition(":")[2]: each for each in json.loads(done.stdout)["targets"]}


def test_one_small_case_takes_less_than_fifteen_seconds(tmp_path: Path) -> None:
    begun = time.monotonic()
    status, found = confirm(tmp_path, "cases.py:good")
    assert (status, found["good"]["result"], found["good"]["replays"]) == (0, "captures", ["match"] * 3)
    assert time.monotonic() - begun < LONGEST
    assert found["good"]["figures"]["kernels"] >= 2


def test_hostile_targets_leave_the_others_alone(tmp_path: Path) -> None:
    names = ("too_large", "crashes", "hangs", "bad")
    status, found = confirm(tmp_path, "--no-worth", "--timeout", "12", *(f"cases.py:{name}" for name in names))
    assert status == 2
    assert found["too_large"]["reason"].startswith("ran out of GPU memory while building the case")
    assert "SIGSEGV" in found["crashes"]["reason"] and "cases.py:28" in found["crashes"]["reason"]
    assert found["hangs"]["reason"].startswith("still building the case after 12 s")
    assert [each["line"] for each in found["bad"]["refusals"]] == [16]


def test_calls_without_an_operator_are_found_and_answered(tmp_path: Path) -> None:
    _, found = confirm(
        tmp_path, "--no-worth", "--one-process", *(f"cases.py:{each}" for each in ("synchronizes", "solves", "lists"))
    )
    assert {each["line"] for each in found["synchronizes"]["refusals"]} >= {35, 37}
    assert found["synchronizes"]["complete"]
    assert {each["line"] for each in found["solves"]["refusals"]} == {42}
    assert {each["line"] for each in found["lists"]["refusals"]} == {47} and found["lists"]["complete"]


def test_random_numbers_of_the_device_replay_like_eager(tmp_path: Path) -> None:
    _, found = confirm(tmp_path, "--no-worth", "cases.py:drops")
    assert found["drops"]["replays"] == ["match"] * 3


def test_a_module_is_built_from_the_command_line(tmp_path: Path) -> None:
    inputs = ("--init", "dim=16", "--input", "x=float32[4,16]", "--input", "mask=bool[4,16]")
    status, found = confirm(tmp_path, "--no-worth", "cases.py:Model", *inputs)
    assert (status, found["Model"]["result"]) == (0, "captures")
