"""The emulator refuses what a GPU refuses, at the user's line, and goes on to find the rest."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest
import torch

from graphlint.confirm.outcome import Outcome
from graphlint.emulate import emulate

REFUSED = (
    "x.sum().item()",
    "bool(x.sum() > 0)",
    "x.tolist()",
    "f'{x.sum()}'",
    "str(x)",
    "x.cpu()",
    "x.nonzero()",
    "x[x > 0]",
    "x[[0, 1]]",
    "x[torch.tensor([0, 1])]",
    "x[n]",
    "x[[n, n]]",
    "x[(n, n), (n, n)]",
    "x.clone().__setitem__((0, 1), 0.0)",
    "x.clone().index_put_((i,), torch.tensor(0.0))",
    "torch.tensor([1.0], device='cuda')",
    "torch.tensor(1.0).to(x.device)",
    "torch.as_tensor([1.0], device=x.device)",
    "torch.tensor([n, n], device='cuda')",
    "torch.full((2,), n, device='cuda')",
    "torch.cuda.FloatTensor([1.0])",
    "torch.arange(n, device='cuda')",
    "i.repeat_interleave(i)",
    "torch.nn.functional.one_hot(i)",
    "torch.where(x > 0, x, torch.tensor(0.0))",
    "x.masked_fill(x > 0, x.sum())",
    "torch.unique(x)",
    "torch.allclose(x, x)",
    "torch.linalg.inv(x)",
    "torch.randn(2, device='cuda', generator=torch.Generator(device='cuda'))",
    "torch.cuda.synchronize()",
    "torch.cuda.current_stream().synchronize()",
    "torch.seed()",
    "x.to('cuda', non_blocking=True) + torch.ones(4).to('cuda', non_blocking=True)",
    "torch.ones(4).pin_memory().to('cuda')",
)
CAPTURED = (
    "x + 1",
    "x * torch.tensor(2.0)",
    "x.masked_fill(x > 0, torch.tensor(2.0))",
    "x.clone().__setitem__((slice(None), 0), 0.0)",
    "x.clone().__setitem__(x > 0, 0.0)",
    "x[i]",
    "x[:, ::2]",
    "torch.tensor([], device='cuda')",
    "torch.zeros(3, device='cuda')",
    "torch.scalar_tensor(2.0, device='cuda')",
    "x.to('cuda')",
    "x.to('cpu', non_blocking=True)",
    "torch.ones(4).pin_memory().to('cuda', non_blocking=True)",
    "x.repeat_interleave(2)",
    "torch.nn.functional.one_hot(i, 8)",
    "torch.nn.functional.dropout(x, 0.5)",
    "torch.multinomial(x.abs(), 1)",
    "torch.linalg.inv_ex(x)",
    "torch.nn.functional.scaled_dot_product_attention(q, q, q)",
    "torch.cuda.empty_cache()",
    "torch.cuda.memory_allocated()",
    "x.sum().item() if not torch.cuda.is_current_stream_capturing() else x",
    "torch.ones(3).sum().item()",
    "torch.compiler.is_compiling() and x.item()",
)


def outcome_of(statement: str) -> Outcome:
    def make() -> Any:
        x, i, n = torch.randn(4, 4, device="cuda"), torch.tensor([0, 2], device="cuda"), torch.tensor(2, device="cuda")
        names = {"torch": torch, "x": x, "i": i, "n": n, "q": torch.randn(1, 2, 4, 4, device="cuda")}
        code = compile(statement, "/user/model.py", "eval")
        return (lambda x: (eval(code, names), x + 1)[1], (x,))

    return emulate(make, replays=1, warmup=1)


@pytest.mark.parametrize("statement", REFUSED)
def test_a_refused_statement_is_refused_at_its_line(statement: str) -> None:
    outcome = outcome_of(statement)
    assert outcome.result == "refused", outcome
    assert {(each.file, each.line) for each in outcome.refusals} == {("/user/model.py", 1)}


@pytest.mark.parametrize("statement", CAPTURED)
def test_a_harmless_statement_is_captured(statement: str) -> None:
    outcome = outcome_of(statement)
    assert outcome.refusals == () and outcome.result == "captures", outcome


def step_with_three_faults(x: torch.Tensor) -> torch.Tensor:
    count = int(x.sum().item())
    scale = helper(x)
    return x * scale + count + torch.tensor([1.0], device=x.device)


def helper(x: torch.Tensor) -> float:
    return float(x.max())


def line_of(function: Callable[..., object], offset: int) -> int:
    return inspect.getsourcelines(function)[1] + offset


def test_one_pass_finds_every_refusal_with_its_trail() -> None:
    outcome = emulate(lambda: (step_with_three_faults, (torch.ones(4, device="cuda"),)), target="t", warmup=1)
    lines = [each.line for each in outcome.refusals]
    assert lines == [line_of(step_with_three_faults, 1), line_of(helper, 1), line_of(step_with_three_faults, 3)]
    assert [each.op for each in outcome.refusals] == ["torch.Tensor.item", "torch.Tensor.__float__", "torch.tensor"]
    assert [each.function for each in outcome.refusals[1].trail][-2:] == ["step_with_three_faults", "helper"]
    assert outcome.complete and outcome.machine.kind == "emulated"
    assert line_of(helper, 1) in outcome.executed[__file__]


def test_an_error_that_only_capture_brings_is_a_refusal() -> None:
    def make() -> Any:
        weight = torch.nn.Parameter(torch.ones(4, device="cuda"))
        optimizer = torch.optim.Adam([weight], foreach=False)

        def step(x: torch.Tensor) -> None:
            optimizer.zero_grad()
            (weight * x).sum().backward()
            optimizer.step()

        return step, (torch.ones(4, device="cuda"),)

    outcome = emulate(make, warmup=1)
    assert outcome.result == "refused" and "capturable" in outcome.refusals[-1].message


def test_host_operands_of_device_operators_fail_as_on_a_gpu() -> None:
    with pytest.raises(RuntimeError, match="same device"):
        emulate(lambda: (lambda x: x + torch.ones(4), (torch.ones(4, device="cuda"),)))


def test_an_operator_nobody_measured_is_reported_as_unknown() -> None:
    library = torch.library.Library("emulated_test", "DEF")
    library.define("twice(Tensor x) -> Tensor")
    library.impl("twice", lambda x: x * 2, "CPU")
    twice = torch.ops.emulated_test.twice
    outcome = emulate(lambda: (lambda x: twice(x), (torch.ones(4, device="cuda"),)), warmup=1)
    assert outcome.result == "captures" and outcome.unknown_ops == ("emulated_test.twice.default",)
    assert any("not known" in note for note in outcome.notes)


def test_an_operator_whose_tag_says_that_its_size_depends_on_values_is_refused() -> None:
    library = torch.library.Library("emulated_test_tags", "DEF")
    library.define("positive(Tensor x) -> Tensor", tags=(torch.Tag.dynamic_output_shape,))
    library.impl("positive", lambda x: x[x > 0], "CPU")
    positive = torch.ops.emulated_test_tags.positive
    outcome = emulate(lambda: (lambda x: positive(x), (torch.ones(4, device="cuda"),)), warmup=1)
    assert outcome.result == "refused" and outcome.unknown_ops == ("emulated_test_tags.positive.default",)
