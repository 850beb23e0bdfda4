"""What regions are called: as a reader finds the function, with the class of a method."""

from __future__ import annotations

from collections.abc import Callable

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
