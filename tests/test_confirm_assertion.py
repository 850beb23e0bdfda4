"""A project's own tests can hold a step to capturing, without a GPU on the emulator."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")

import torch  # after the check that it is there

from graphlint.testing import assert_capturable

TESTS = """
import pytest
import torch

class Step(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 0

    def forward(self, x):
        return x * 2

class Counting(Step):
    def forward(self, x):
        self.calls += 1
        return x * self.calls

@pytest.mark.capturable(device="emulated")
def test_good():
    return Step(), (torch.ones(4, device="cuda"),)

@pytest.mark.capturable(device="emulated")
def test_counts():
    return Counting(), (torch.ones(4, device="cuda"),)

@pytest.mark.capturable(device="emulated")
def test_forgets():
    Step(), (torch.ones(4, device="cuda"),)

@pytest.mark.capturable(device="emulated")
def test_on_the_host():
    return Step(), (torch.ones(4),)

@pytest.mark.capturable(device="cuda")
def test_on_a_gpu():
    return Step(), (torch.ones(4, device="cuda"),)

def test_plain():
    assert True
"""


def test_a_training_step_is_copied_with_its_optimizer() -> None:
    model = torch.nn.Linear(4, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    before = model.weight.detach().clone()

    def step(x: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad(set_to_none=False)
        loss: torch.Tensor = model(x).square().sum()
        loss.backward()
        optimizer.step()
        return loss.detach()

    x = torch.randn(2, 4)
    if not torch.cuda.is_available():
        pytest.skip("a function's closure stays on the host, so its inputs must be on the GPU already")
    assert_capturable(step, x)
    assert torch.equal(model.weight, before)


def test_a_refused_step_is_shown_with_its_line() -> None:
    class Reads(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x * x.sum().item()

    with pytest.raises(AssertionError, match="item"):
        assert_capturable(Reads(), torch.randn(4), device="emulated")


def test_a_step_that_captures_passes_with_new_inputs() -> None:
    assert_capturable(torch.nn.Linear(4, 4), torch.randn(2, 4), vary=lambda: (torch.randn(2, 4),), device="emulated")


def test_the_marker_confirms_what_a_test_returns(tmp_path: Path) -> None:
    (tmp_path / "test_models.py").write_text(TESTS)
    command = [sys.executable, "-m", "pytest", "-p", "graphlint.pytest_plugin", "-q", "-rs", "test_models.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=_environment(), check=False)
    expected = "3 failed, 2 passed, 1 skipped" if not torch.cuda.is_available() else "3 failed, 3 passed"
    assert expected in done.stdout, done.stdout + done.stderr
    assert "captures, but replays are wrong" in done.stdout
    assert "the factory returned `NoneType`, which is not a case\n  return `(fn, args)`" in done.stdout
    assert "all results are on the host" in done.stdout
    for word in ("assertion.py", "During handling", "hidden"):
        assert word not in done.stdout, f"{word} tells of graphlint, not of the test"


def test_a_failure_shows_the_line_of_the_test_and_nothing_of_graphlint(tmp_path: Path) -> None:
    body = "    assert_capturable(lambda x: x * x.sum().item(), torch.ones(4), device='emulated')\n"
    text = f"import torch\nfrom graphlint.testing import assert_capturable\n\ndef test_step():\n{body}"
    (tmp_path / "test_models.py").write_text(text)
    command = [sys.executable, "-m", "pytest", "-q", "test_models.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=_environment(), check=False)
    assert "1 failed" in done.stdout
    assert "test_models.py:5: NotCapturable" in done.stdout
    assert "assertion.py" not in done.stdout


def _environment() -> dict[str, str]:
    import os

    return {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1]), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
