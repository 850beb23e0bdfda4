"""What regions are called: as a reader finds the function, with the class of a method."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from graphlint import registry
from graphlint.check import check
from graphlint.config import Config
from graphlint.interp import interpret
from graphlint.types import Report

CAPTURES = """
import torch

class Net(torch.nn.Module):
    def forward(self, x):
        return x + 1

class Runner:
    def __init__(self):
        self.net = Net().cuda()
        self.fast = torch.compile(self.step, mode="reduce-overhead")

    def step(self, x: torch.Tensor):
        return x * 2

    def capture(self):
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.y = self.net(torch.ones(4, device="cuda"))

    def graphed(self, x):
        made = torch.cuda.make_graphed_callables(self.net, (x,))
        return made(x), made(x)

    def compiled(self, x):
        return self.fast(x) + self.fast(x)

class Other:
    def capture(self):
        def inner(x: torch.Tensor):
            with torch.cuda.graph(torch.cuda.CUDAGraph()):
                return x.item()
        return inner

def capture():
    with torch.cuda.graph(torch.cuda.CUDAGraph()):
        torch.ones(4, device="cuda").item()

with torch.cuda.graph(torch.cuda.CUDAGraph()):
    torch.ones(4, device="cuda").item()
"""
NAMES = {"Net.forward", "Runner.capture", "Runner.graphed", "Runner.step", "capture", "inner"}


def test_a_method_is_named_with_its_class_and_the_top_of_a_file_by_the_file(check_text: Callable[..., Report]) -> None:
    names = [each.region.name for each in check_text(CAPTURES, "sample.py").regions]
    assert set(names) == {"sample", *(f"sample.{each}" for each in NAMES)}
    assert len(names) == len(set(names))


COMPILED = """
import torch
import elsewhere
from torch import nn

fast = torch.compile(nn.Linear(3, 4), mode="reduce-overhead")
theirs = torch.compile(elsewhere.load("a").cuda(), mode="reduce-overhead")
own = torch.compile(lambda x: x + 1, mode="reduce-overhead")

class Net(nn.Module):
    def forward(self, x):
        return x + 1

class Runner:
    def __init__(self, net):
        self.fast = torch.compile(net, mode="reduce-overhead")

    def twice(self, x):
        y = self.fast(x)
        return self.fast(x), y

def step(x: torch.Tensor):
    return x + 1

def main(x, given):
    a = fast(x), fast(x), theirs(x), theirs(x), own(x), own(x)
    local = torch.compile(given, mode="reduce-overhead")
    b = local(x), local(x)
    net = torch.compile(Net(), mode="reduce-overhead")
    c = net(x), net(x)
    known = torch.compile(step, mode="reduce-overhead")
    d = known(x), known(x)
    return a, b, c, d
"""
BOUND = {"fast", "theirs", "<lambda>", "Net", "Net.forward", "Runner.fast", "step", "main"}


def test_what_is_compiled_is_named_by_its_definition_here_or_by_what_it_is_bound_to(
    check_text: Callable[..., Report],
) -> None:
    names = {each.region.name for each in check_text(COMPILED, "sample.py").regions}
    assert names == {f"sample.{each}" for each in BOUND}


def test_a_function_of_another_file_keeps_the_name_of_that_file(tmp_path: Path) -> None:
    (tmp_path / "steps.py").write_text("def step(x):\n    return x.item()\n")
    (tmp_path / "use.py").write_text(
        "import torch\nfrom steps import step\n"
        'one = torch.compile(step, mode="reduce-overhead")\n'
        "two = torch.cuda.make_graphed_callables(step, (torch.ones(3, device='cuda'),))\n"
        "def main(x):\n    a = one(x), one(x)\n    return a\n"
    )
    report = check([str(tmp_path)], Config(), registry.load([], tmp_path), interpret)
    names = {each.region.name.removeprefix(f"{tmp_path.name}.") for each in report.regions}
    assert names == {"steps.step"}
