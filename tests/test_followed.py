"""Forms that are followed to the read behind them: methods of objects, texts, and functions made of functions."""

from __future__ import annotations

import pytest

from tests.conftest import CheckText

TEXT = """import dataclasses
import torch
from torch import nn


@dataclasses.dataclass
class Node:
    x: torch.Tensor
    next: "Node" = None


class Same:
    def __init__(self, x):
        self.x = x

    def __eq__(self, other):
        return bool((self.x == other.x).all())

    def __lt__(self, other):
        return self.x.sum().item() < 1


class Plain:
    pass


class Model(nn.Module):
    def forward(self, x: torch.Tensor, n: int = 0, wait: bool = False):
{body}
"""
CHAIN = "if n == 1:\n    b = 4\nelse:\n    b = x.argmax()\nif n == 0:\n    return x\nreturn x[:b]"
KEPT = "wait = wait and x.is_cuda\nif wait:\n    return x + 1\nreturn x.nonzero()"


@pytest.mark.parametrize(
    ("body", "codes"),
    [
        ("print(Node(x, Node(x)))\nreturn x", {"GL104", "GL801"}),
        ("return f'{Node(x)}'", {"GL104"}),
        ("return Node(x) == Node(x)", {"GL107"}),
        ("return x if Same(x) == Same(x) else -x", {"GL102"}),
        ("return x if Same(x) < Same(x) else -x", {"GL101"}),
        ("return x if x == Plain() else -x", set()),
        ("return torch.func.grad(lambda y: y.sum() * y.sum().item())(x)", {"GL101"}),
        ("g, v = torch.func.grad_and_value(torch.sum)(x)\nreturn g if v > 0 else -g", {"GL103"}),
        ("return torch.func.jacrev(torch.sum)(x).sum().item()", {"GL101"}),
        (CHAIN, {"GL204"}),
        (KEPT, {"GL201"}),
    ],
)
def test_what_is_called_is_followed(body: str, codes: set[str], check_text: CheckText) -> None:
    indented = "\n".join(f"        {line}" for line in body.splitlines())
    found = {each.code for each in check_text(TEXT.format(body=indented)).findings}
    assert found >= codes and not found & {"GL904", "GL905"}
    assert bool(found) == bool(codes)
