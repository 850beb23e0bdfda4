"""What tests share: the checkout, the installed rules, and a run over given text."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from graphlint import registry
from graphlint.check import Read, check_sources
from graphlint.config import Config
from graphlint.interp import interpret
from graphlint.registry import Registry
from graphlint.source import parse
from graphlint.types import Report

ROOT = Path(__file__).parents[1]
CheckText = Callable[..., Report]


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def rules() -> Registry:
    return registry.load()


@pytest.fixture(scope="session")
def check_text(rules: Registry) -> CheckText:
    """Check text as a file, with the settings given as keywords."""

    def run(text: str, name: str = "example.py", **settings: object) -> Report:
        source = parse(text, name)
        return check_sources(Read((source,), ()), Config(**settings), rules, interpret)  # type: ignore[arg-type]

    return run
