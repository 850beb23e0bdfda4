"""What is not run to be known is what running it would have given."""

from __future__ import annotations

import pytest

from tests.conftest import CheckText

MODEL = """import torch
from torch import nn


def slow(x):
    return x[x > 0]


class Pick:
    def __init__(self, size):
        self.size = size

    def __call__(self, x):
        return x[x > 0] if self.size > 512 else x


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = {part}
        self.kept = self.made = None

    def set_up(self):
{body}

    def forward(self, x: torch.Tensor):
        {forward}
"""
READ = "return x if self.made.sum() > 0 else x + 1"
UPLOAD = "return x + self.made.to(x.device)"
DEVICE = 'torch.zeros(4, device="cuda")'


@pytest.mark.parametrize(
    ("part", "body", "forward", "codes"),
    [
        ("None", f"self.kept = {DEVICE}\nself.made = self.kept.view(2, 2)", READ, {"GL103"}),
        ("None", 'with torch.device("cuda"):\n    self.made = torch.zeros(4)', UPLOAD, set()),
        ("None", f"self.made = {DEVICE}\nreturn\nself.made = torch.zeros(4)", UPLOAD, set()),
        ("None", f"def put(slow):\n    self.made = slow\nput({DEVICE})", UPLOAD, set()),
        ("nn.ReLU()", "self.part = slow", "return self.part(x)", {"GL202"}),
        ("nn.ReLU()", "self.part = None", "return self.part(x) if self.part is not None else x.nonzero()", {"GL201"}),
        ("nn.ModuleList([nn.ReLU()])", "self.part = self.part[:1]", "return self.part[0](x)", set()),
        ("Pick(16)", "pass", "return self.part(x)", set()),
        ("Pick(1024)", "pass", "return self.part(x)", {"GL202"}),
    ],
)
def test_what_is_not_run_is_known(part: str, body: str, forward: str, codes: set[str], check_text: CheckText) -> None:
    indented = "\n".join(f"        {line}" for line in body.splitlines())
    findings = check_text(MODEL.format(part=part, body=indented, forward=forward)).findings
    assert {each.code for each in findings} == codes
