"""A replay repeats what was recorded: what Python would have done differently shows against the eager twin."""

from __future__ import annotations

import random
from typing import Any

import pytest
import torch
from torch import nn

from graphlint.case import Case
from graphlint.confirm.outcome import Outcome
from graphlint.emulate import emulate, emulated_cuda


class Counter(nn.Module):
    """Counts its calls in Python."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        return x * self.calls


class Buffer(nn.Module):
    """Counts its calls on the device."""

    calls: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("calls", torch.zeros(1))
        self.norm = nn.BatchNorm1d(4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls.add_(1)
        scaled: torch.Tensor = self.norm(x) * self.calls
        return scaled


class Rebound(nn.Module):
    """Binds its state anew instead of writing it."""

    def __init__(self) -> None:
        super().__init__()
        self.state = torch.zeros(4, device="cuda")

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.state = self.state * 0.5 + x.mean(0)
        return self.state + x


class HostRandom(nn.Module):
    """Draws on the host."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * random.random()


class Dropout(nn.Module):
    """Draws on the device, with a view and an in-place change of sizes on the way."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = nn.functional.dropout(x.t().contiguous(), 0.5).unsqueeze_(0)
        return y.squeeze_(0) + torch.rand_like(y)


class Trainer(nn.Module):
    """A whole training step with a capturable optimizer."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Linear(4, 4).cuda()
        self.optimizer = torch.optim.Adam(self.inner.parameters(), lr=0.1, capturable=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.optimizer.zero_grad(set_to_none=False)
        loss: torch.Tensor = self.inner(x).square().mean()
        loss.backward()
        self.optimizer.step()
        return loss.detach()


def outcome_of(kind: type[nn.Module], **options: Any) -> Outcome:
    def make() -> Case:
        def inputs() -> tuple[torch.Tensor]:
            return (torch.randn(3, 4, device="cuda"),)

        return Case(kind().to("cuda"), inputs(), vary=lambda: (inputs(), {}))

    return emulate(make, target=kind.__name__, **options)


@pytest.mark.parametrize("kind", [Buffer, Dropout, Trainer])
def test_state_and_chance_on_the_device_replay_as_eager(kind: type[nn.Module]) -> None:
    outcome = outcome_of(kind)
    assert outcome.result == "captures" and outcome.replays == ("match",) * 3, outcome


@pytest.mark.parametrize("kind", [Counter, Rebound])
def test_state_on_the_host_is_right_once_and_then_stale(kind: type[nn.Module]) -> None:
    outcome = outcome_of(kind)
    assert outcome.result == "stale" and outcome.replays == ("match", "values", "values"), outcome


def test_a_counter_is_named_with_the_line_that_writes_it() -> None:
    changes = outcome_of(Counter).state_changes
    assert [(each.what, each.file) for each in changes] == [("Counter.calls", __file__)]


def test_a_number_drawn_on_the_host_is_frozen() -> None:
    assert outcome_of(HostRandom).replays[1:] == ("values", "values")


def test_a_capture_changes_neither_memory_nor_the_device_generator() -> None:
    with emulated_cuda() as session:
        x, graph = torch.zeros(4, device="cuda"), torch.cuda.CUDAGraph()
        before = session.random.state
        with torch.cuda.graph(graph):
            x.add_(torch.rand(4, device="cuda"))
        assert x.sum().item() == 0.0
        session.random.state = before
        graph.replay()
        first = x.clone()
        graph.replay()
        assert 0 < first.sum().item() < x.sum().item()


def test_two_replays_write_the_same_output() -> None:
    with emulated_cuda():
        x, graph = torch.ones(4, device="cuda"), torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            y = x.t() * 2
        graph.replay()
        kept = y
        x.fill_(5)
        graph.replay()
        assert kept.tolist() == [10.0] * 4


def test_memory_that_a_graph_reads_may_belong_to_another_tensor_by_now() -> None:
    with emulated_cuda():
        table, graph = torch.arange(1024.0, device="cuda"), torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            y = table + 1
        graph.replay()
        assert y.sum().item() == pytest.approx(1024 * 1025 / 2)
        del table
        graph.replay()
        assert y.sum().item() == pytest.approx(1024 * 1025 / 2), "freed, but not reused"
        other = torch.ones(1024, device="cuda")
        graph.replay()
        assert other.sum().item() == 1024 and y.isnan().all()
