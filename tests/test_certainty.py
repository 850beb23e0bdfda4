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


BASE = """import torch
from abc import abstractmethod
from torch import Tensor, nn


class Base(nn.Module):
{body}
"""
ABSTRACT = """    @abstractmethod
    def score(self, x: Tensor) -> {hint}:
        \"\"\"What derived classes say.\"\"\"

    def forward(self, x: Tensor):
        found = torch.tensor(1.0) if x.ndim > 2 else self.score(x)
        return found.to(x)
"""
DOUBTFUL = """    def forward(self, x: Tensor, scale: float | Tensor = 1.0):
        kept = torch.arange(4, device=scale.device) > 2
        return x[kept]
"""
GIVEN = """    def forward(self, x: Tensor, scale: Tensor):
        kept = torch.arange(4, device=scale.device) > 2
        return x[kept]
"""


@pytest.mark.parametrize(
    ("body", "code", "sure"),
    [
        (ABSTRACT.format(hint="Tensor"), "GL302", Confidence.LIKELY),
        (ABSTRACT.format(hint="object"), "GL302", Confidence.LIKELY),
        (DOUBTFUL, "GL202", Confidence.LIKELY),
        (GIVEN, "GL202", Confidence.CERTAIN),
    ],
)
def test_what_rests_on_a_doubtful_place_is_no_surer_than_that(
    body: str, code: str, sure: Confidence, check_text: CheckText
) -> None:
    (found,) = check_text(BASE.format(body=body)).findings
    assert (found.code, found.confidence) == (code, sure)


SEVERAL = """import torch
from torch import Tensor, nn


class Model(nn.Module):
    def forward(self, x: Tensor, table: dict[str, Tensor] | None = None):
        if table is None:
            table = {{"kept": {made}}}
        return x[table["kept"].to(x.device)]
"""


@pytest.mark.parametrize(("made", "codes"), [("torch.arange(4) > 2", ["GL202", "GL302"]), ("torch.arange(4)", ["GL302"])])
def test_a_copy_of_one_of_several_is_a_mask_only_where_that_one_is(
    made: str, codes: list[str], check_text: CheckText
) -> None:
    found = check_text(SEVERAL.format(made=made)).findings
    assert [each.code for each in found if each.confidence is not Confidence.POSSIBLE] == codes


NUMBER = """import torch
from torch import Tensor, nn


class Model(nn.Module):
    def __init__(self, scale: float | Tensor = 1.0):
        super().__init__()
        self.scale = scale

    def forward(self, x: Tensor):
        given = [each for each in (self.scale,) if isinstance(each, Tensor)]
        device = torch.device("cpu") if not given else given[0].device
        return x.to(device)
"""


def test_most_callers_get_where_the_number_leads(check_text: CheckText) -> None:
    (found,) = check_text(NUMBER).findings
    assert (found.code, found.confidence) == ("GL303", Confidence.LIKELY)


SIZES = """import torch
from torch import Tensor, nn


class Model(nn.Module):
    def forward(self, x: Tensor, sizes: Tensor | tuple[int, ...]):
        return [torch.arange(n, device=x.device) for n in sizes]
"""


def test_most_callers_give_the_numbers_where_a_tensor_is_taken_too(check_text: CheckText) -> None:
    found = [each for each in check_text(SIZES).findings if each.confidence is not Confidence.POSSIBLE]
    assert not found


SWITCHES = """import os

import torch
from torch import nn

FLAG = os.environ.get("SHOWN_FLAG", "0") == "1"
MOVING = os.environ.get("SHOWN_MOVING", "0") == "1"


def move():
    global MOVING
    MOVING = True


class Model(nn.Module):
    def forward(self, x: torch.Tensor):
{body}
        return x
"""
GUARDED = "        if {test}:\n            x.item()"
NESTED = """        def inner():
            if FLAG:
                x.item()
        FLAG = x.shape[0] > 2
        inner()"""


@pytest.mark.parametrize(
    ("body", "opens"),
    [
        (GUARDED.format(test="FLAG"), False),
        (NESTED, True),
        (f'        flag = os.getenv("SHOWN_A") == "1"\n{GUARDED.format(test="flag")}', False),
        (f"        flag = FLAG\n        flag |= x.shape[0] > 2\n{GUARDED.format(test='flag')}", True),
        (f"        flag = FLAG\n        for flag in self.flags:\n            pass\n{GUARDED.format(test='flag')}", True),
        (f"        flag = FLAG\n        (flag := x.shape[0] > 2)\n{GUARDED.format(test='flag')}", True),
        (GUARDED.format(test='os.getenv("SHOWN_B", default="1") == "1"'), True),
        (GUARDED.format(test='os.getenv("SHOWN_B", default="0") == "1"'), False),
        (GUARDED.format(test='int(os.getenv("SHOWN_C", "\u00b2")) == 1'), True),
        (GUARDED.format(test="MOVING"), True),
    ],
)
def test_only_what_nobody_can_open_is_shut(body: str, opens: bool, check_text: CheckText) -> None:
    assert any(each.code == "GL101" for each in check_text(SWITCHES.format(body=body)).findings) is opens


PLANNED = """import flashinfer
import torch


def captured(q, kv, indptr, indices, last):
    wrapper = flashinfer.BatchDecodeWithPagedKVCacheWrapper(torch.empty(1024, device="cuda"), use_cuda_graph=True)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        wrapper.plan(indptr, indices, last, 8, 8, 64, 16)
        out = wrapper.run(q, kv)
    return graph, out
"""


def test_what_only_documentation_says_is_not_certain(check_text: CheckText) -> None:
    (found,) = check_text(PLANNED).findings
    assert (found.code, found.confidence) == ("GL309", Confidence.LIKELY)
