"""Batches and processes: how files are shared out changes nothing that is found."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from graphlint import spread
from graphlint.check import check
from graphlint.config import Config
from graphlint.discover import Found
from graphlint.errors import Killed
from graphlint.forked import forked
from graphlint.interp import interpret, interpreter
from graphlint.interp.lasting import Lasting
from graphlint.registry import load
from graphlint.types import Report

HELPER = """
import torch

def count(mask):
    return mask.sum().item()

class Cache:
    def __init__(self):
        self.seen = None

    def update(self, x):
        self.seen = x if self.seen is None else torch.cat((self.seen, x))
        return self.seen
"""
MODEL = """
import torch
from torch import nn

from .helper import Cache, count

class Model{number}(nn.Module):
    def __init__(self):
        super().__init__()
        self.cache = Cache()

    def forward(self, x):
        rows = self.cache.update(x)
        return rows[: count(x > {number})]
"""


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package of a dozen models that all use one helper."""
    package = tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "helper.py").write_text(HELPER)
    for number in range(12):
        (package / f"model_{number}.py").write_text(MODEL.format(number=number))
    monkeypatch.chdir(tmp_path)
    return package


def run(batch: int, worthwhile: int, monkeypatch: pytest.MonkeyPatch) -> Report:
    monkeypatch.setattr(spread, "BATCH", batch)
    monkeypatch.setattr(spread, "WORTHWHILE", worthwhile)
    monkeypatch.setattr(spread, "processors", lambda: 3)
    return check(["package"], Config(), load(), interpret)


def test_the_size_of_a_batch_changes_nothing(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    together = run(100, 1000, monkeypatch)
    assert run(1, 1000, monkeypatch) == together
    assert run(5, 1000, monkeypatch) == together


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked only where the platform can")
def test_several_processes_find_what_one_finds(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(2, 1, monkeypatch) == run(100, 1000, monkeypatch)


def test_a_project_that_lasts_over_batches_changes_nothing(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The last file is imported by the first before it is one of those that are checked.
    (tree / "zuletzt.py").write_text(MODEL.format(number=99))
    with (tree / "model_0.py").open("a") as first:
        first.write("\nfrom .zuletzt import Model99\n\nclass Own(Model99):\n    pass\n")
    apart = run(1, 1000, monkeypatch)
    lasting = Lasting()
    assert check(["package"], Config(), load(), interpreter(Config(), standing=lasting)) == apart
    assert check(["package"], Config(), load(), interpreter(Config(), standing=lasting)) == apart


def test_a_fault_in_a_file_of_another_batch_is_told_once_with_all_its_regions(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = run(1, 1000, monkeypatch)
    reads = [each for each in report.findings if each.code == "GL101"]
    assert [(each.span.file, each.span.line) for each in reads] == [("package/helper.py", 5)]
    assert len(report.regions) == 12
    assert all(region.verdict != "clean" for region in report.regions)


def test_a_folder_without_init_is_found_from_the_imports_below_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deep = tmp_path / "library" / "parts" / "deep"
    deep.mkdir(parents=True)
    (deep / "__init__.py").write_text("")
    (tmp_path / "library" / "parts" / "base.py").write_text("class Stage:\n    pass\n")
    (deep / "stage.py").write_text(
        "from library.parts.base import Stage\n\nclass Step(Stage):\n    def forward(self, x):\n        return x.item()\n"
    )
    monkeypatch.chdir(tmp_path)
    assert check(["library/parts/deep/stage.py"], Config(), load(), interpret).findings == ()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked only where the platform can")
def test_what_batches_used_goes_back_on_one_processor_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spread, "processors", lambda: 1)
    monkeypatch.setattr(spread, "WORTHWHILE", 1)
    monkeypatch.setattr(spread, "BATCH", 1)
    files = [Found(Path(name), name) for name in ("a.py", "b.py", "c.py")]
    pids = list(spread.spread(files, lambda group: os.getpid()))
    assert len(set(pids)) == 3 and os.getpid() not in pids


FORKS = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked only where the platform can")
FILES = [Found(Path(name), name) for name in ("a.py", "b.py", "c.py", "d.py")]


def named(group: Sequence[Found]) -> list[str]:
    return [each.name for each in group]


def late(group: Sequence[Found]) -> list[str]:
    time.sleep(0.3 if named(group) == ["a.py"] else 0)
    return named(group)


def failing(group: Sequence[Found]) -> list[str]:
    if named(group) == ["c.py"]:
        raise ValueError("no luck")
    return named(group)


def dying(group: Sequence[Found]) -> list[str]:
    if named(group) == ["c.py"]:
        os.kill(os.getpid(), signal.SIGKILL)
    return named(group)


@FORKS
def test_results_come_in_order_whoever_is_done_first() -> None:
    found = forked([[each] for each in FILES], FILES[1:2], late, 3)
    assert list(found) == [["a.py"], ["b.py"], ["c.py"], ["d.py"]]


@FORKS
def test_what_a_batch_raises_is_raised_here() -> None:
    found = forked([[each] for each in FILES], FILES[:1], failing, 2)
    with pytest.raises(ValueError, match="no luck"):
        list(found)


@FORKS
def test_a_batch_whose_process_is_killed_ends_the_run_with_a_reason() -> None:
    with pytest.raises(Killed, match="ended from outside"):
        list(forked([[each] for each in FILES], FILES[:1], dying, 2))


def large(group: Sequence[Found]) -> list[str]:
    time.sleep(0.5 if named(group) == ["c.py"] else 0)
    return named(group) * 100_000


@FORKS
def test_a_killed_process_ahead_ends_the_run_though_others_have_much_to_tell() -> None:
    found = forked([[each] for each in FILES], FILES[:1], large, 1)
    next(found)
    (ahead,) = multiprocessing.active_children()
    ahead.kill()
    with pytest.raises(Killed):
        list(found)


@FORKS
def test_a_reader_that_leaves_early_ends_all_processes() -> None:
    found = forked([[each] for each in FILES], FILES[:1], late, 2)
    next(found)
    found.close()
    assert multiprocessing.active_children() == []
