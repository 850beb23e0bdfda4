"""What `torch.cuda` answers while the emulation is entered, and that everything is as before afterwards."""

from __future__ import annotations

import copy
import threading
from typing import Any

import pytest
import torch
from torch import nn

from graphlint.emulate import emulated_cuda
from graphlint.emulate.graphs import CaptureRefused


def test_tensors_live_on_the_device_and_leave_it() -> None:
    with emulated_cuda():
        x = torch.arange(4.0, device="cuda")
        assert x.is_cuda and not x.is_cpu and x.device == torch.device("cuda", 0) and x.get_device() == 0
        assert x.to("cuda") is x and x.cuda() is x and x.to(x.device) is x
        host = x.cpu()
        assert type(host) is torch.Tensor and host.device.type == "cpu" and host.tolist() == [0, 1, 2, 3]
        assert x.type() == "torch.cuda.FloatTensor" and repr(x).endswith("device='cuda:0')")
        with pytest.raises(TypeError, match="numpy"):
            x.numpy()


def test_modules_keep_their_parameters_when_they_move() -> None:
    with emulated_cuda():
        net = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4))
        net[1].weight = net[0].weight
        weight = net[0].weight
        net.to("cuda")
        assert net[0].weight is weight is net[1].weight and weight.is_cuda and isinstance(weight, nn.Parameter)
        net(torch.ones(1, 4, device="cuda")).sum().backward()
        assert weight.grad is not None and weight.grad.is_cuda
        twin: Any = copy.deepcopy(net)
        assert twin[0].weight is twin[1].weight and torch.equal(twin[0].weight, weight) and twin[0].weight.is_leaf
        twin.half()
        assert twin[0].weight.dtype == torch.float16 and weight.dtype == torch.float32


def test_lazy_modules_find_their_sizes() -> None:
    with emulated_cuda():
        layer = nn.LazyLinear(3).to("cuda")
        assert layer(torch.ones(2, 5, device="cuda")).shape == (2, 3) and layer.weight.shape == (3, 5)


def test_autocast_casts_as_for_cuda() -> None:
    with emulated_cuda():
        layer, x = nn.Linear(4, 4, device="cuda"), torch.ones(2, 4, device="cuda")
        with torch.autocast("cuda", dtype=torch.float16):
            y = layer(x)
            assert y.dtype == torch.float16 and y.softmax(-1).dtype == torch.float32


def test_everything_is_put_back() -> None:
    names = ("is_available", "Stream", "CUDAGraph", "current_device", "is_current_stream_capturing")
    before = {name: getattr(torch.cuda, name) for name in names} | {"generator": torch.Generator, "compile": torch.compile}
    with pytest.raises(ZeroDivisionError), emulated_cuda():
        assert torch.cuda.is_available() and torch.cuda.device_count() == 1
        raise ZeroDivisionError
    after = {name: getattr(torch.cuda, name) for name in names} | {"generator": torch.Generator, "compile": torch.compile}
    assert before == after and torch.ones(2).add(1).tolist() == [2.0, 2.0]


def captured(body: Any) -> list[str]:
    """Messages of what a capture of `body` refused."""
    with emulated_cuda() as session:
        x, graph = torch.ones(4, device="cuda"), torch.cuda.CUDAGraph()
        try:
            with torch.cuda.graph(graph):
                body(x)
        except CaptureRefused:
            pass
        return [each.message for each in session.refusals.values()]


def fork_and_join(x: torch.Tensor) -> None:
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        x * 2
    torch.cuda.current_stream().wait_stream(side)


def fork_by_events(x: torch.Tensor) -> None:
    side, fork, join = torch.cuda.Stream(), torch.cuda.Event(), torch.cuda.Event()
    fork.record()
    with torch.cuda.stream(side):
        fork.wait()
        x * 2
        join.record()
    join.wait()


def fork_only(x: torch.Tensor) -> None:
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        x * 2


def stray(x: torch.Tensor) -> None:
    with torch.cuda.stream(torch.cuda.Stream()):
        x * 2


def asks_an_event(x: torch.Tensor) -> None:
    event = torch.cuda.Event()
    event.record()
    event.query()


@pytest.mark.parametrize("body", [fork_and_join, fork_by_events])
def test_streams_that_fork_and_join_are_captured(body: Any) -> None:
    assert captured(body) == []


@pytest.mark.parametrize(("body", "word"), [(fork_only, "joined"), (stray, "capturing"), (asks_an_event, "event")])
def test_streams_that_do_not_are_refused(body: Any, word: str) -> None:
    (message,) = captured(body)
    assert word in message


def test_a_registered_generator_may_be_drawn_from() -> None:
    with emulated_cuda() as session:
        generator, graph = torch.Generator(device="cuda").manual_seed(1), torch.cuda.CUDAGraph()
        graph.register_generator_state(generator)
        with torch.cuda.graph(graph):
            y = torch.rand(4, device="cuda", generator=generator)
        graph.replay()
        first = y.clone()
        graph.replay()
        assert not session.refusals and not torch.equal(first, y)


def test_graphed_callables_train() -> None:
    with emulated_cuda():
        layer, x = nn.Linear(4, 4, device="cuda"), torch.randn(2, 4, device="cuda")
        expected = layer(x).detach().clone()
        graphed: Any = torch.cuda.make_graphed_callables(layer, (torch.randn(2, 4, device="cuda"),))
        y = graphed(x)
        assert torch.allclose(y, expected, atol=1e-6)
        y.sum().backward()
        assert layer.weight.grad is not None and torch.allclose(layer.weight.grad, x.sum(0).expand(4, 4), atol=1e-5)


class Doubled(torch.autograd.Function):
    """Reads its gradient on the host."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        return x * 2

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:
        assert gradient.tolist() == [1.0]
        return gradient * 2


def test_what_a_backward_pass_reads_is_refused_at_its_line() -> None:
    with emulated_cuda() as session:
        x = torch.ones(1, device="cuda", requires_grad=True)
        session.begin()
        Doubled.apply(x).sum().backward()
        session.end()
        (refusal,) = session.refusals.values()
        assert refusal.op == "torch.Tensor.tolist" and refusal.function == "backward"


def test_threads_know_the_device() -> None:
    made: list[torch.Tensor] = []
    with emulated_cuda():
        thread = threading.Thread(target=lambda: made.append(torch.ones(2, device="cuda") * 2))
        thread.start()
        thread.join()
        assert made[0].is_cuda and made[0].tolist() == [2.0, 2.0]
    with pytest.raises(RuntimeError, match="gone"):
        made[0] + 1


def test_a_host_generator_cannot_draw_on_the_device() -> None:
    with emulated_cuda(), pytest.raises(RuntimeError, match="'cuda' device type for generator"):
        torch.rand(2, device="cuda", generator=torch.Generator())


@pytest.mark.parametrize("is_causal", [False, True])
def test_long_attention_is_fused_and_equal(is_causal: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    query, key, value = torch.randn(2, 4, 6, 8), torch.randn(2, 2, 6, 8), torch.randn(2, 2, 6, 8)
    attend: Any = nn.functional.scaled_dot_product_attention
    expected = attend(query, key, value, is_causal=is_causal, enable_gqa=True)
    monkeypatch.setattr("graphlint.emulate.attention.LONG", 1)
    with emulated_cuda() as session:
        inputs = [each.cuda().requires_grad_() for each in (query, key, value)]
        tape = session.begin()
        attend(*inputs, is_causal=is_causal, enable_gqa=True)
        session.end()
        assert any("flash" in step.plan.name for step in tape.steps) and not session.unknown and not session.refusals
        y = attend(*inputs, is_causal=is_causal, enable_gqa=True)
        y.sum().backward()
        assert torch.allclose(y.detach().cpu(), expected, atol=1e-5) and inputs[0].grad is not None


def test_the_end_of_a_capture_names_what_was_refused_first() -> None:
    with emulated_cuda():
        x = torch.ones(4, device="cuda")
        for _ in range(2):
            with pytest.raises(CaptureRefused) as raised, torch.cuda.graph(torch.cuda.CUDAGraph()):
                x.sum().item()
                torch.cuda.synchronize()
            assert "`torch.Tensor.item` at " in str(raised.value) and "synchronize" not in str(raised.value)
