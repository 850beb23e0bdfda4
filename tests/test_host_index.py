"""What a host tensor as an index does under `reduce-overhead`, as an H200 with torch 2.11 had it: see the rule's page."""

from __future__ import annotations

import pytest

from graphlint.types import Confidence
from tests.conftest import CheckText

TEXT = """import torch
from torch import nn

ROWS = torch.tensor([0, 1])


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.rows = torch.tensor([0, 1])

    def forward(self, x: torch.Tensor):
        return x[{index}]


def serve(x):
    return torch.compile(Model().cuda(), mode="reduce-overhead")(x)
"""


@pytest.mark.parametrize(
    ("index", "raises"),
    [
        ("torch.tensor([0, 1])", True),
        ("ROWS", True),
        ("self.rows", True),
        ("torch.arange(2)", False),
        ("torch.tensor([True, False])", False),
        ("torch.tensor(1)", False),
        ("[0, 1]", False),
    ],
)
def test_a_host_tensor_of_whole_numbers_raises(index: str, raises: bool, check_text: CheckText) -> None:
    found = [each for each in check_text(TEXT.format(index=index)).findings if each.code == "GL304"]
    told = {dict(each.effects).get("compile") for each in found if each.confidence is not Confidence.POSSIBLE}
    assert any(effect is not None and effect.value == "breaks" for effect in told) == raises
