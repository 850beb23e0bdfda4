"""What tests share: the checkout, the installed rules, and a run over given text."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from graphlint import registry
from graphlint.check import check_sources
from graphlint.config import Config
from graphlint.interp import interpreter
from graphlint.judge import Read
from graphlint.registry import Registry
from graphlint.source import parse
from graphlint.types import Report
from tests.hook import cloned

ROOT = Path(__file__).parents[1]
CheckText = Callable[..., Report]


@pytest.fixture(scope="session", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Keep what tests find apart from what is kept for the user."""
    os.environ["GRAPHLINT_CACHE_DIR"] = str(tmp_path_factory.mktemp("cache"))


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
        config = Config(**settings)  # type: ignore[arg-type]
        return check_sources(Read((source,), ()), config, rules, interpreter(config))

    return run


@pytest.fixture(scope="session")
def clone(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A repository to install the commit hook from, and its commit."""
    return cloned(tmp_path_factory.mktemp("clone"))


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where pre-commit keeps what it installed."""
    return tmp_path_factory.mktemp("home")


def heed_interrupts() -> None:
    """For a child to be interrupted: what runs in the background may be told to ignore that, and a child inherits it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
