"""The engine on a device that captures on the host: which lines are refused, and when a replay is stale."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import nn

from graphlint.case import Case
from graphlint.confirm import engine
from graphlint.confirm.outcome import Outcome
from graphlint.confirm.plan import Options
from graphlint.confirm.trial import Setting
from tests.fake_device import MESSAGE, FakeDevice

HERE = __file__


@pytest.fixture(autouse=True)
def not_capturing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A CPU build of torch cannot be asked whether it is capturing."""
    monkeypatch.setattr("torch.cuda.graphs._cuda_isCurrentStreamCapturing", lambda: False)


def confirm(build: Callable[[], Case]) -> Outcome:
    outcome, _, _ = engine.confirm(Setting("case", build, FakeDevice(), Options()))
    return outcome


def lines(outcome: Outcome) -> list[str]:
    source = Path(HERE).read_text().splitlines()
    return [source[each.line - 1].strip() for each in outcome.refusals]


class Reads(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        n = int(x.sum().abs().item()) + 1
        for _ in range(3):
            x = x * float(x.mean())
        rows = torch.nonzero(x)
        return x * n + self.count(x) + rows.sum()

    def count(self, x: torch.Tensor) -> int:
        return len(x[x > 0])


def test_every_refused_line_is_found_with_its_cause_and_trail() -> None:
    outcome = confirm(lambda: Case(Reads(), (torch.randn(4),)))
    assert outcome.result == "refused" and outcome.complete
    assert lines(outcome) == [
        "n = int(x.sum().abs().item()) + 1",
        "x = x * float(x.mean())",
        "rows = torch.nonzero(x)",
        "return len(x[x > 0])",
    ]
    last = outcome.refusals[-1]
    assert [step.function for step in last.trail] == ["forward", "count"]
    assert (last.op, last.message, last.error) == ("aten.index.Tensor", MESSAGE, "RuntimeError")
    assert set(range(last.line - 8, last.line)) & set(outcome.executed[HERE])


class Counts(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.step = 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.step += 1
        return x * self.step


def test_a_host_counter_replays_wrong_from_the_second_replay_on() -> None:
    outcome = confirm(lambda: Case(Counts(), (torch.randn(4),)))
    assert outcome.result == "stale"
    assert outcome.replays == ("match", "values", "values")
    (change,) = outcome.state_changes
    assert change.what == "Counts.step" and "self.step += 1" in Path(HERE).read_text().splitlines()[change.line - 1]


class Rolls(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * random.random()


def test_the_twin_rolls_the_same_dice_up_to_the_capture() -> None:
    assert confirm(lambda: Case(Rolls(), (torch.ones(4),))).replays == ("match", "values", "values")


class Buffered(nn.Module):
    seen: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("seen", torch.zeros(()))
        self.drop = nn.Dropout(0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.seen.add_(1)
        dropped: torch.Tensor = self.drop(x)
        return dropped + self.seen


def test_buffers_written_in_place_and_device_random_numbers_replay_right() -> None:
    outcome = confirm(lambda: Case(Buffered(), (torch.randn(64),)))
    assert (outcome.result, outcome.replays) == ("captures", ("match",) * 3)


def test_a_training_step_is_compared_by_its_parameters() -> None:
    def build() -> Case:
        torch.manual_seed(0)
        model = nn.Linear(4, 4)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

        def step(x: torch.Tensor) -> torch.Tensor:
            optimizer.zero_grad(set_to_none=False)
            loss: torch.Tensor = model(x).square().sum()
            loss.backward()
            optimizer.step()
            return loss.detach()

        return Case(step, (torch.randn(2, 4),))

    outcome = confirm(build)
    assert outcome.replays == ("match",) * 3


def test_an_argument_that_is_no_tensor_cannot_reach_a_graph() -> None:
    def step(x: torch.Tensor, scale: float) -> torch.Tensor:
        return x * scale

    outcome = confirm(lambda: Case(step, (torch.ones(2), 1.0), vary=lambda: (torch.ones(2), 3.0)))
    assert outcome.replays == ("values",) * 3
    assert outcome.differences[0].size == 2.0


def test_a_python_error_under_capture_is_refused_and_said_to_be_incomplete() -> None:
    def step(x: torch.Tensor) -> torch.Tensor:
        if torch.cuda.is_current_stream_capturing():
            raise RuntimeError("not while capturing")
        return x

    outcome = confirm(lambda: Case(step, (torch.ones(2),)))
    assert (outcome.result, outcome.complete) == ("refused", False)
    assert lines(outcome) == ['raise RuntimeError("not while capturing")']
    assert "not while capturing" in outcome.reason


def test_what_vmap_wraps_is_not_looked_into() -> None:
    def step(x: torch.Tensor) -> torch.Tensor:
        rows: torch.Tensor = torch.vmap(lambda row: row.new_ones(()) + row.sum())(x)
        return rows * float(rows.sum())

    outcome = confirm(lambda: Case(step, (torch.ones(2, 3),)))
    assert (outcome.result, outcome.complete) == ("refused", True)
    assert lines(outcome) == ["return rows * float(rows.sum())"]


def test_a_clock_is_no_noise() -> None:
    def step(x: torch.Tensor) -> torch.Tensor:
        return x * (time.perf_counter_ns() % 1009)

    outcome = confirm(lambda: Case(step, (torch.ones(4),)))
    assert outcome.result == "stale"
