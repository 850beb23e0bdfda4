"""What is said of a file does not depend on the files that are checked beside it."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import pytest

from graphlint.check import check
from graphlint.config import Config
from graphlint.interp import interpreter
from graphlint.registry import Registry
from tests.conftest import CheckText

HEAD = "import torch\nfrom torch import nn\n"
ADDS = "class {name}(nn.Module):\n    def forward(self, x: torch.Tensor):\n        return x.copy_(torch.ones(4))\n"
HOOKED = """
net = nn.Linear(4, 4)


def note(module, given, result):
    return result + result.sum().item()


net.register_forward_hook(note)


def run(x):
    return net(x)


class Inner(nn.Module):
    def forward(self, x: torch.Tensor):
        return run(x)
"""
OUTER = (
    "from hooked import run\n\n\nclass Outer(nn.Module):\n    def forward(self, x: torch.Tensor):\n        return run(x)\n"
)
RESERVES = """
class Reserves(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = torch.empty(4)

    def forward(self, x: torch.Tensor):
        {made}
        return x.copy_(self.table)
"""
SETS = {
    "default device": {
        "first.py": f'{HEAD}torch.set_default_device("cuda")\n\n\n{ADDS.format(name="First")}',
        "second.py": HEAD + ADDS.format(name="Second"),
    },
    "hooks": {"hooked.py": HEAD + HOOKED, "outer.py": HEAD + OUTER, "xtra.py": HEAD + OUTER.replace("Outer", "Extra")},
}


@pytest.mark.parametrize("name", SETS)
def test_other_files_change_nothing(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rules: Registry) -> None:
    monkeypatch.chdir(tmp_path)
    for file, text in SETS[name].items():
        Path(file).write_text(text)

    def told(*files: str) -> set[tuple[str, int, str]]:
        report = check(files, Config(), rules, interpreter(Config()))
        return {(each.span.file, each.span.line, each.code) for each in report.findings}

    alone = [told(file) for file in SETS[name]]
    together = told(*SETS[name])
    assert together and together == set().union(*alone)
    for number, order in enumerate(permutations(SETS[name])):
        folder = tmp_path / f"as_{number}"
        folder.mkdir()
        monkeypatch.chdir(folder)
        # Files are read in the order of their names.
        named = {file: f"{place}_{file}" if file != "hooked.py" else file for place, file in enumerate(order)}
        for file, text in SETS[name].items():
            Path(named[file]).write_text(text)
        other = {old for old, new in named.items() for found, _, _ in told(*named.values()) if found == new}
        assert other == {file for file, _, _ in together}


@pytest.mark.parametrize(
    ("given", "codes"),
    [
        ('"cuda"', set()),
        ('device="cuda"', set()),
        ('torch.device("cuda", 0)', set()),
        ('torch.device("cpu")', {"GL302"}),
        ("None", {"GL302"}),
    ],
)
def test_a_default_device_is_one_where_it_is_no_host(given: str, codes: set[str], check_text: CheckText) -> None:
    text = f"{HEAD}torch.set_default_device({given})\n\n\n{ADDS.format(name='Adds')}"
    assert {each.code for each in check_text(text).findings} == codes


def test_what_a_constructor_reserves_is_as_sure_whatever_a_region_makes(check_text: CheckText) -> None:
    both = [check_text(HEAD + RESERVES.format(made=made)).findings for made in ("pass", "torch.empty(4)")]
    assert [each.code for each in both[0]] == [each.code for each in both[1]]
