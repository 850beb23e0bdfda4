"""What a configuration says of functions and of the version of torch, and what it changes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from graphlint.config import Config
from graphlint.effects import table
from graphlint.effects.table import TORCH
from graphlint.interp.told import assumed
from graphlint.types import Effect, Report
from tests.conftest import CheckText

HEAD = """import torch
from serving.state import has_pool, outside
import serving.state

FLAG = bool(serving.state.count())


"""
READ = "        return x * x.sum().item()\n"
CLASSES = """class Mode:
    active = False

    def recording(self):
        return bool(self.unknown)


class Base(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.mode = Mode()


"""
FORWARD = "class Model(Base):\n    def forward(self, x):\n        if {condition}:\n            return x\n" + READ


@pytest.mark.parametrize(
    ("condition", "flag"),
    [
        ("has_pool()", "has_pool"),
        ("has_pool()", "serving.state.has_pool"),
        ("serving.state.has_pool()", "state.has_pool"),
        ("FLAG", "example.FLAG"),
        ("self.mode.recording()", "Mode.recording"),
        ("self.mode.recording()", "recording"),
        ("self.mode.active", "example.Mode.active"),
        ("torch.is_anomaly_enabled()", "torch.is_anomaly_enabled"),
    ],
)
def test_a_flag_is_what_it_is_said_to_be_during_capture(condition: str, flag: str, check_text: CheckText) -> None:
    text = HEAD + CLASSES + FORWARD.format(condition=condition)
    (read,) = check_text(text).findings
    assert dict(read.effects).keys() == {"graph", "compile"}
    (flagged,) = check_text(text, capture_flags=((flag, True),)).findings
    assert dict(flagged.effects).keys() == {"compile"}
    (other,) = check_text(text, capture_flags=((flag, False),)).findings
    assert dict(other.effects).keys() == {"graph", "compile"}
    inverted = HEAD + CLASSES + FORWARD.format(condition=f"not {condition}")
    assert check_text(inverted, capture_flags=((flag, False),)).findings[0].effects[0][0] == "compile"


@pytest.mark.parametrize("flag", ["other.has_pool", "Other.has_pool", "pool"])
def test_another_name_is_no_flag(flag: str, check_text: CheckText) -> None:
    text = HEAD + CLASSES + FORWARD.format(condition="has_pool()")
    assert check_text(text, capture_flags=((flag, True),)) == check_text(text)


@pytest.mark.parametrize("name", ["outside", "serving.state.outside", "Layer.attend", "attend"])
def test_what_runs_outside_of_the_graph_breaks_nothing(name: str, check_text: CheckText) -> None:
    text = HEAD + "class Layer(torch.nn.Module):\n    @outside\n    def attend(self, x):\n" + READ
    text += "\n    def forward(self, x):\n        y = self.attend(x)\n        return y + x.max().item()\n"
    assert [each.span.line for each in check_text(text).findings] == [11, 15]
    report = check_text(text, eager=(name,))
    assert [each.span.line for each in report.findings] == [15]


def test_what_runs_outside_still_gives_its_result(check_text: CheckText) -> None:
    text = (
        HEAD
        + "@outside\ndef norm(x):\n    return x.norm()\n\n\n"
        + "# graphlint: region\ndef step(x):\n    return x * norm(x).item()\n"
    )
    assert [each.span.line for each in check_text(text, eager=("outside",)).findings] == [15]


def test_the_version_by_default_is_the_one_that_was_measured() -> None:
    assert assumed(Config()).torch == TORCH
    assert assumed(Config(torch_version="2.9.1+cu128")).torch == (2, 9)


STEP = "import torch\n\n\n# graphlint: region\ndef step(x):\n    {body}\n    return x\n"
OPTIMIZER = """import torch

model = torch.nn.Linear(4, 4).cuda()
optimizer = torch.optim.{name}(model.parameters())


# graphlint: region
def step(x):
    optimizer.step()
"""


def test_unpinned_copies_were_captured_with_their_address(check_text: CheckText) -> None:
    text = STEP.format(body="x = x + torch.ones(4).to(x.device, non_blocking=True)")
    (found,) = check_text(text, torch_version="2.10").findings
    assert (found.code, "address is recorded" in found.message) == ("GL406", True)
    assert codes(check_text(text, torch_version="2.11")) == ["GL302"]


def codes(report: Report) -> list[str]:
    return [each.code for each in report.findings]


def test_multinomial_read_its_probabilities(check_text: CheckText) -> None:
    text = STEP.format(body="x = torch.multinomial(x, 1)")
    assert codes(check_text(text, torch_version="2.4")) == ["GL106", "GL801"]
    (compiled,) = check_text(text, torch_version="2.5").findings
    assert compiled.effects == (("compile", Effect.DEFEATS),)
    assert codes(check_text(text)) == []


def test_generators_are_registered_by_use(check_text: CheckText) -> None:
    text = "import torch\n\nsource = torch.Generator(device='cuda')\n\n\n# graphlint: region\ndef step(x):\n"
    text += "    return torch.rand(4, device=x.device, generator=source)\n"
    assert codes(check_text(text, torch_version="2.13")) == ["GL402"]
    assert codes(check_text(text, torch_version="2.14")) == []


@pytest.mark.parametrize(
    ("name", "version", "wanted"),
    [
        ("Adam", "2.0", ["GL309"]),
        ("RMSprop", "2.3", []),
        ("RMSprop", "2.4", ["GL309"]),
        ("RAdam", "2.2", ["GL404"]),
        ("RAdam", "2.3", ["GL309"]),
        ("ASGD", "2.2", ["GL106"]),
        ("SGD", "2.0", []),
    ],
)
def test_optimizers_learned_to_be_captured(name: str, version: str, wanted: list[str], check_text: CheckText) -> None:
    report = check_text(OPTIMIZER.format(name=name), torch_version=version)
    assert [each.code for each in report.findings if dict(each.effects).get("graph")] == wanted


def test_the_newest_version_that_is_known_is_that_of_the_newest_source() -> None:
    rows = (each.read_text() for each in Path(table.__file__).parent.glob("*.rows"))
    known = re.findall(r"source-(\d+)\.(\d+)", "".join(rows))
    assert max((int(major), int(minor)) for major, minor in known) == table.NEWEST
