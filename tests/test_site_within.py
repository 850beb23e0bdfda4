"""Which regions are walked for what they do inside: those that can grow something, or keep tensors by their arguments."""

from __future__ import annotations

import pytest

from graphlint.project import Project
from graphlint.site.answers import site_events
from graphlint.site.within import regions
from graphlint.source import parse

HEAD = """
import functools
import torch
from torch import nn

def joined(old, new):
    return torch.cat([old, new])

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.keys = torch.zeros(1, device="cuda")

"""

AT_ONCE = """
    def forward(self, x):
        self.keys = torch.cat([self.keys, x])
"""
BY_A_NAME = """
    def forward(self, x):
        keys = torch.cat([self.keys, x])
        self.keys = keys
"""
IN_A_PAIR = """
    def forward(self, x):
        self.keys, self.last = torch.cat([self.keys, x]), x
"""
GIVEN_BACK = """
    def _longer(self, x):
        return torch.cat([self.keys, x])

    def forward(self, x):
        self.keys = self._longer(x)
"""
HANDED_ON = """
    def _keep(self, keys):
        self.keys = keys

    def forward(self, x):
        self._keep(torch.cat([self.keys, x]))
"""
WITHIN = """
    def forward(self, x):
        def longer(new):
            return torch.cat([self.keys, new])
        self.keys = longer(x)
"""
BY_A_LAMBDA = """
    def forward(self, x):
        longer = lambda new: torch.cat([self.keys, new])
        self.keys = longer(x)
"""
IN_A_LIST = """
    def forward(self, x):
        parts = []
        parts.append(torch.cat([self.keys, x]))
        self.keys = parts[0]
"""
AS_A_VIEW = """
    def forward(self, x):
        keys = torch.cat([self.keys, x]).view(-1)
        self.keys = keys
"""
ELSEWHERE = """
    def forward(self, x):
        self.keys = joined(self.keys, x)
        return torch.cat([self.keys, x])
"""
ON_THE_WAY = """
    def forward(self, x, flag=False):
        self.keys = torch.cat([self.keys, x]) if flag else torch.cat([self.keys, x])
"""

GROWING = (
    AT_ONCE, BY_A_NAME, IN_A_PAIR, GIVEN_BACK, HANDED_ON, WITHIN, BY_A_LAMBDA, IN_A_LIST, AS_A_VIEW, ELSEWHERE, ON_THE_WAY,
)  # fmt: skip

OTHERS = """
    def forward(self, x):
        both = torch.cat([self.keys, x])
        self.keys = x + 1
        return both
"""
NEVER_KEPT = """
    def _offsets(self, x):
        parts = [torch.arange(3), x]
        places = torch.cat(parts)
        return places, torch.tensor([1])

    def forward(self, x):
        places, self.keys = self._offsets(x)[0] + 1, x * 2
        return torch.cat([places, self.keys])
"""
COMPUTED = """
    def forward(self, x):
        self.keys = torch.cat([self.keys, x]).sum()
"""


def walked(text: str) -> list[str]:
    source = parse(text, "sample.py")
    project = Project([source])
    return [each.captures[0].region.name for each in regions(project, project.given[0]) if each.captures[0].region]


def events(text: str) -> list[str]:
    source = parse(text, "sample.py")
    return [type(event).__name__ for _, event in site_events(source, Project([source]))]


@pytest.mark.parametrize("body", GROWING)
def test_what_grows_is_walked_and_found(body: str) -> None:
    assert events(HEAD + body) == ["GrowingState"]


@pytest.mark.parametrize("body", [OTHERS, NEVER_KEPT, COMPUTED])
def test_what_binds_no_concatenation_is_not_walked(body: str) -> None:
    assert walked(HEAD + body) == []


REMEMBERED = """
@{mark}
def table(size):
    return torch.arange(size, device="cuda")

class Table(nn.Module):
    def forward(self, x):
        return x + table(8)
"""


def test_tensors_that_are_remembered_are_found() -> None:
    assert events(HEAD + REMEMBERED.format(mark="functools.lru_cache(maxsize=4)")) == ["CachedTensor"]


@pytest.mark.parametrize("mark", ["method_lru_cache(maxsize=4)", "functools.cache", "torch.no_grad()"])
def test_where_nothing_is_dropped_nothing_is_walked(mark: str) -> None:
    maker = "def method_lru_cache(maxsize):\n    return lambda function: function\n"
    assert walked("import functools, torch\n" + maker + HEAD + REMEMBERED.format(mark=mark)) == []


def test_a_class_that_uses_streams_is_walked_and_its_neighbour_is_not() -> None:
    body = """
    def forward(self, x):
        side = torch.cuda.Stream()
        with torch.cuda.stream(side):
            y = x * 2
        return y

class Other(nn.Module):
    def forward(self, x):
        return x
"""
    assert walked(HEAD + body) == ["sample.Model.forward"]
    assert events(HEAD + body) == ["StreamNotForked"]
