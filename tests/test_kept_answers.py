"""What was computed of a call or an attribute before changes nothing of what is said later."""

from __future__ import annotations

import gc
from pathlib import Path
from weakref import ref

from graphlint.check import check_sources
from graphlint.config import Config
from graphlint.interp import interpret
from graphlint.judge import Read
from graphlint.modules import Module, once_a_module
from graphlint.registry import Registry
from graphlint.source import parse

HEAD = "import torch\nimport torch.distributions as D\nfrom torch import nn\n"
MOVED = ".to(x.device, non_blocking=True)\n"
LITERAL = (
    f"class Literal(nn.Module):\n    def forward(self, x):\n        return x + torch.zeros(4, pin_memory=False){MOVED}"
)
BY_NAME = (
    "class ByName(nn.Module):\n    def forward(self, x):\n        pin = False\n"
    f"        return x + torch.zeros(4, pin_memory=pin){MOVED}"
)
DRAWS = "class Draws(nn.Module):\n    def forward(self, x):\n        return D.Normal(x, x.abs()).mean\n"
PROPERTY = """class Part(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.ones(4))

    @property
    def level(self):
        return self.w.sum().item()


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = Part()
        self.low = self.part.level * 2

    def forward(self, x):
        return x * self.part.level
"""


def found(rules: Registry, *texts: str) -> list[set[tuple[str, int]]]:
    """Code and line of the findings in each of some files that are checked together."""
    sources = tuple(parse(HEAD + text, f"file{number}.py") for number, text in enumerate(texts))
    report = check_sources(Read(sources, ()), Config(), rules, interpret)
    return [
        {(each.code, each.span.line) for each in report.findings if each.span.file == source.name} for source in sources
    ]


def test_a_call_that_means_something_else_by_how_it_is_written(rules: Registry) -> None:
    alone = [found(rules, LITERAL)[0], found(rules, BY_NAME)[0]]
    assert alone[0] != alone[1]
    assert found(rules, LITERAL, BY_NAME) == alone
    assert found(rules, BY_NAME, LITERAL) == alone[::-1]


def test_a_call_that_goes_by_a_default_that_another_file_changes(rules: Registry) -> None:
    changed = f"D.Distribution.set_default_validate_args(False)\n{DRAWS}"
    alone = [found(rules, changed)[0], found(rules, DRAWS)[0]]
    assert not alone[0] and alone[1]
    assert found(rules, changed, DRAWS) == alone


def test_a_property_is_run_again_where_a_region_reads_it(rules: Registry) -> None:
    assert ("GL101", 11) in found(rules, PROPERTY)[0]


def test_what_was_asked_of_a_module_goes_with_it() -> None:
    asked: list[str] = []

    @once_a_module
    def length(module: Module) -> int:
        asked.append(module.name)
        return len(module.source.text)

    module = Module("kept", "", parse("x = 1\n", "kept.py"), Path())
    assert (length(module), length(module), asked) == (6, 6, ["kept"])
    gone = ref(module)
    del module
    gc.collect()
    assert gone() is None
