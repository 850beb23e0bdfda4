"""An edit that moves the lines of a file makes anew only what is told of that file, and what it leads to first."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from graphlint import rerun
from graphlint.registry import Registry
from graphlint.types import Report
from tests.test_cache import cold
from tests.test_cache import kept as kept  # a fixture
from tests.test_cache import package as package  # a fixture


@pytest.mark.parametrize(("file", "anew"), [("model_3.py", set()), ("below/last.py", {"helper"})])
def test_moved_lines_make_only_those_pages_anew_to_which_the_file_leads_first(
    package: Path, kept: Callable[[], Report], monkeypatch: pytest.MonkeyPatch, rules: Registry, file: str, anew: set[str]
) -> None:
    before = kept()
    made: set[str] = set()
    page = rerun.Run._page

    def noted(run: rerun.Run, file: str, *rest: Any) -> Any:
        made.add(Path(file).stem)
        return page(run, file, *rest)

    monkeypatch.setattr(rerun.Run, "_page", noted)
    path = package / file
    path.write_text("\n\n" + path.read_text())
    assert kept() == cold(rules) != before
    assert made == anew
