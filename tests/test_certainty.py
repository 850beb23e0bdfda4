"""How sure a finding is, where that depends on what the callers of a region hand in."""

from __future__ import annotations

import pytest

from graphlint.types import Confidence
from tests.conftest import CheckText

MODEL = """import torch
from collections.abc import Sequence


class Model(torch.nn.Module):
    def forward(self, x: torch.Tensor, codes: {hint}):
{body}
"""
MADE = "        return x + torch.tensor(codes).to(x.device)"
DEFAULT = "        if codes is None:\n            codes = [0] * len(x)\n" + MADE


@pytest.mark.parametrize(
    ("hint", "body", "sure"),
    [
        ("Sequence[int]", MADE, Confidence.CERTAIN),
        ("Sequence[int] | None = None", DEFAULT, Confidence.CERTAIN),
        ("Sequence[torch.Tensor | int]", MADE, Confidence.LIKELY),
        ("Sequence[torch.Tensor | int] | None = None", DEFAULT, Confidence.LIKELY),
    ],
)
def test_several_that_may_be_tensors_may_as_well_be_one(
    hint: str, body: str, sure: Confidence, check_text: CheckText
) -> None:
    (found,) = check_text(MODEL.format(hint=hint, body=body)).findings
    assert (found.code, found.confidence) == ("GL302", sure)
