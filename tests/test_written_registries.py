"""Classes that a file knows by their names alone: looked up in tables of words, imported by name, and made."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphlint.check import check
from graphlint.config import Config
from graphlint.interp import interpret
from graphlint.registry import Registry

REGISTRY = """
import importlib
from collections import OrderedDict

SETTINGS = OrderedDict([{settings}])
MODELS = OrderedDict([{models}])
SPECIAL = OrderedDict([("part-one", "one")])


def home(kind):
    if kind in SPECIAL:
        return SPECIAL[kind]
    return kind.replace("-", "_")


class Lazy(OrderedDict):
    def __init__(self, settings, models):
        self._kinds = {{value: key for key, value in settings.items()}}
        self._models = models

    def __getitem__(self, key):
        kind = self._kinds[key.__name__]
        if kind in self._models:
            return getattr(importlib.import_module(f".{{home(kind)}}", "models"), self._models[kind])
        raise KeyError(key)


class Auto:
    _models = Lazy(SETTINGS, MODELS)

    @classmethod
    def of(cls, settings):
        return cls._models[type(settings)](settings)
"""
PART = """
from torch import nn


class {name}Settings:
    pass


class {name}(nn.Module):
    def __init__(self, settings):
        super().__init__()

    def forward(self, x):
        return x * x.max().item()
"""
WHOLE = """
import torch
from torch import nn
from models.registry import Auto
from models.{file} import {name}Settings


class Settings:
    def __init__(self):
        self.part = {name}Settings()


class Whole(nn.Module):
    def __init__(self, settings: Settings):
        super().__init__()
        self.part = Auto.of(settings.part)

    def forward(self, x: torch.Tensor):
        return self.part(x)
"""


def words(suffix: str, others: int) -> str:
    known = [("part-one", "One"), ("part-two", "Two"), *((f"other-{n}", f"Other{n}") for n in range(others))]
    return ", ".join(f'("{kind}", "{name}{suffix}")' for kind, name in known)


@pytest.mark.parametrize("others", [0, 100], ids=["few", "many"])
@pytest.mark.parametrize(("file", "name"), [("one", "One"), ("part_two", "Two")])
def test_a_whole_knows_what_its_part_does(tmp_path: Path, rules: Registry, file: str, name: str, others: int) -> None:
    folder = tmp_path / "models"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "registry.py").write_text(REGISTRY.format(settings=words("Settings", others), models=words("", others)))
    (folder / "one.py").write_text(PART.format(name="One"))
    (folder / "part_two.py").write_text(PART.format(name="Two"))
    (tmp_path / "whole.py").write_text(WHOLE.format(file=file, name=name))
    report = check([str(tmp_path)], Config(root=tmp_path), rules, interpret)
    regions = {each.region.name: each.verdict for each in report.regions}
    assert regions["whole.Whole.forward"] == "breaks"
    (found,) = (each for each in report.findings if "whole.Whole.forward" in each.regions)
    assert (found.code, Path(found.span.file).name) == ("GL101", f"{file}.py")
