"""What a configuration says of functions and of the version of torch, and what it changes."""

from __future__ import annotations

import pytest

from graphlint.config import Config
from graphlint.effects.table import TORCH
from graphlint.interp.told import assumed
from tests.conftest import CheckText

HEAD = "import torch\nfrom serving.state import is_capturing, outside\nimport serving.state\n\nFLAG = bool(serving.state.count())\n\n\n"
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
        ("is_capturing()", "is_capturing"),
        ("is_capturing()", "serving.state.is_capturing"),
        ("serving.state.is_capturing()", "state.is_capturing"),
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


@pytest.mark.parametrize("flag", ["other.is_capturing", "Other.is_capturing", "capturing"])
def test_another_name_is_no_flag(flag: str, check_text: CheckText) -> None:
    text = HEAD + CLASSES + FORWARD.format(condition="is_capturing()")
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
        + "@outside\ndef norm(x):\n    return x.norm()\n\n\n# graphlint: region\ndef step(x):\n    return x * norm(x).item()\n"
    )
    assert [each.span.line for each in check_text(text, eager=("outside",)).findings] == [15]


def test_the_version_by_default_is_the_one_that_was_measured() -> None:
    assert assumed(Config()).torch == TORCH
    assert assumed(Config(torch_version="2.9.1+cu128")).torch == (2, 9)
