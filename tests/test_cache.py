"""What is kept from run to run: it changes how long a run takes and nothing else."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from graphlint import cli, rerun
from graphlint.cache import printed, shelf, store, tree, witness
from graphlint.check import check
from graphlint.commands import quick
from graphlint.config import Config
from graphlint.interp import interpreter
from graphlint.registry import Registry
from graphlint.report import text
from graphlint.rerun import Kept, recheck
from graphlint.types import Report
from tests.benchmarks.edits import Editor
from tests.test_spread import HELPER, MODEL

CONFIG = Config()
RUNS = """
import torch

from .model_0 import Model0

def serve(x):
    run = torch.compile(Model0().cuda(), mode="reduce-overhead")
    return run(x)
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package of models with a helper, a layer between them and a package below."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "package"
    (folder / "below").mkdir(parents=True)
    (folder / "__init__.py").write_text("from .helper import *\n")
    (folder / "below" / "__init__.py").write_text("from .last import Last\n")
    (folder / "below" / "last.py").write_text(MODEL.format(number="Last").replace("from .helper", "from ..helper"))
    (folder / "helper.py").write_text(HELPER)
    (folder / "layer.py").write_text("from .helper import count as counted\n\n\ndef rows(x):\n    return counted(x)\n")
    for number in range(5):
        text = MODEL.format(number=number)
        (folder / f"model_{number}.py").write_text(text.replace("count\n", "Cache\nfrom .layer import rows as count\n"))
    return folder


@pytest.fixture
def kept(tmp_path: Path, rules: Registry) -> Callable[[], Report]:
    """Check the package from what is kept."""
    place = Kept(str(tmp_path / "cache"), "a.tree", "basis", "choices")
    return lambda: recheck(["package"], CONFIG, rules, interpreter(CONFIG), place).report


def cold(rules: Registry) -> Report:
    return check(["package"], CONFIG, rules, interpreter(CONFIG))


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that are judged, by name."""
    names: list[str] = []
    plain = rerun.analysed

    def noted(files, *more, **words):  # type: ignore[no-untyped-def]  # takes what the function takes
        names.extend(Path(each.name).stem for each in files)
        return plain(files, *more, **words)

    monkeypatch.setattr(rerun, "analysed", noted)
    return names


def test_the_second_run_judges_nothing_and_says_the_same(
    package: Path, kept: Callable[[], Report], judged: list[str], rules: Registry
) -> None:
    first = kept()
    assert len(judged) == len(list(package.rglob("*.py")))
    judged.clear()
    assert kept() == first == cold(rules)
    assert judged == []


def test_exactly_the_files_that_rest_on_a_change_are_judged_anew(
    package: Path, kept: Callable[[], Report], judged: list[str], rules: Registry
) -> None:
    kept()
    for path, expected in (
        (package / "model_1.py", {"model_1"}),
        (package / "layer.py", {"layer", *(f"model_{number}" for number in range(5))}),
        (package / "below" / "__init__.py", {"__init__"}),
    ):
        judged.clear()
        path.write_text(path.read_text() + "\nchanged = True\n")
        assert kept() == cold(rules)
        assert set(judged) == expected


def test_a_file_that_is_written_anew_with_the_same_text_is_not_judged(
    package: Path, kept: Callable[[], Report], judged: list[str]
) -> None:
    kept()
    judged.clear()
    (package / "helper.py").write_text(HELPER)
    os.utime(package / "layer.py")
    kept()
    assert judged == []


def test_another_text_of_the_same_length_and_time_is_seen(
    package: Path, kept: Callable[[], Report], rules: Registry
) -> None:
    before = kept()
    path = package / "helper.py"
    times = path.stat()
    path.write_text(HELPER.replace(".item()", ".abs()  "[:7]))
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    after = kept()
    assert after == cold(rules) != before


def test_a_new_file_takes_the_place_of_the_one_that_was_meant(
    package: Path, kept: Callable[[], Report], judged: list[str], rules: Registry
) -> None:
    kept()
    (package / "helper").mkdir()
    (package / "helper" / "__init__.py").write_text(HELPER.replace(".item()", ""))
    judged.clear()
    assert kept() == cold(rules)
    assert {f"model_{number}" for number in range(5)} < set(judged)
    (package / "helper" / "__init__.py").unlink()
    assert kept() == cold(rules)


def test_a_file_that_joins_the_run_is_told_of_by_those_that_led_there_before(
    package: Path, kept: Callable[[], Report], rules: Registry
) -> None:
    (package / ".gitignore").write_text("helper.py\n")
    (package.parent / ".git").mkdir()
    without = kept()
    (package / ".gitignore").write_text("")
    assert kept() == cold(rules) != without


@pytest.mark.parametrize("seed", range(4))
def test_random_edits_lead_to_what_a_run_from_nothing_says(
    package: Path, kept: Callable[[], Report], rules: Registry, seed: int
) -> None:
    editor = Editor(package, seed)
    kept()
    for _ in range(25):
        what = editor.edit()
        assert kept() == cold(rules), what


def test_what_rests_on_something_else_is_not_used(package: Path, tmp_path: Path, rules: Registry) -> None:
    folder = str(tmp_path / "cache")
    recheck(["package"], CONFIG, rules, interpreter(CONFIG), Kept(folder, "a.tree", "one", ""))
    assert tree.load(folder, "a.tree", "one") is not None
    assert tree.load(folder, "a.tree", "two") is None


@pytest.mark.parametrize("damage", [b"", b"x", b"\x80\x04.", store.MAGIC, b"{}", None])
def test_a_damaged_file_is_made_anew(
    package: Path, tmp_path: Path, kept: Callable[[], Report], damage: bytes | None
) -> None:
    first = kept()
    path = tmp_path / "cache" / "a.tree"
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2] if damage is None else damage)
    assert kept() == first
    assert path.read_bytes() == whole


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"{}\n\n", b'{"basis":"basis"}\n[]', b'{"basis":"basis","facts":[[1]]}\n[]', b"\xff\n"]
)
def test_what_others_wrote_with_a_right_checksum_is_made_anew(
    package: Path, tmp_path: Path, kept: Callable[[], Report], rules: Registry, body: bytes
) -> None:
    store.write(str(tmp_path / "cache"), "a.tree", body)
    assert kept() == cold(rules)


def test_accounts_that_make_no_sense_are_made_anew(
    package: Path, tmp_path: Path, kept: Callable[[], Report], rules: Registry
) -> None:
    kept()
    body = store.read(str(tmp_path / "cache"), "a.tree")
    assert body is not None
    head, *entries = body.split(b"\n")
    store.write(str(tmp_path / "cache"), "a.tree", b"\n".join((head, *(b'["x", 1]' for _ in entries))))
    (package / "layer.py").unlink()
    assert kept() == cold(rules)


@pytest.mark.parametrize("change", ["", "layer.py", "model_1.py"])
def test_texts_that_are_damaged_are_made_anew(
    package: Path, tmp_path: Path, kept: Callable[[], Report], rules: Registry, change: str
) -> None:
    kept()
    for path in (tmp_path / "cache").glob(f"*{shelf.ENDING}"):
        path.write_bytes(path.read_bytes().replace(b"breaks", b"broken"))
    if change:
        (package / change).write_text("")
    assert kept() == cold(rules)
    assert kept() == cold(rules)


def test_text_is_put_together_from_pieces_that_were_printed_before(
    package: Path, kept: Callable[[], Report], rules: Registry
) -> None:
    pieces: dict[str, str] = {}
    for file, known in (("helper.py", 1), ("model_1.py", 2), ("helper.py", 2)):
        assert text.render(kept(), known=pieces) == text.render(cold(rules))
        assert len(pieces) == known
        (package / file).write_text("\n" + (package / file).read_text())


def test_a_folder_that_cannot_be_written_changes_nothing(
    package: Path, tmp_path: Path, kept: Callable[[], Report], rules: Registry
) -> None:
    (tmp_path / "cache").write_text("no folder")
    assert kept() == cold(rules) == kept()


def test_a_full_disk_changes_nothing_and_leaves_nothing(
    package: Path, tmp_path: Path, kept: Callable[[], Report], rules: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*paths: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    assert kept() == cold(rules)
    assert os.listdir(tmp_path / "cache") == [store.TAG]


def test_the_oldest_files_go_when_there_are_too_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "MOST", 3000)
    folder = str(tmp_path / "cache")
    for number in range(6):
        assert store.write(folder, f"{number}.tree", b"x" * 1000)
        os.utime(tmp_path / "cache" / f"{number}.tree", (number, number))
        assert store.read(folder, "0.tree") is not None, "what is used stays"
        os.utime(tmp_path / "cache" / "0.tree", (99, 99))
    assert sorted(os.listdir(folder)) == sorted(["0.tree", "4.tree", "5.tree", store.TAG])
    (tmp_path / "cache" / "a.tree.1.partial").write_text("")
    assert store.clean(folder) == 4
    assert not os.path.exists(folder)


def test_files_of_others_are_never_removed(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    store.write(str(tmp_path), "a.tree", b"")
    assert store.clean(str(tmp_path)) == 1
    assert "notes.txt" in os.listdir(tmp_path)


class Line:
    """The command line in this process; clocks are taken to be exact."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], folder: Path) -> None:
        monkeypatch.setattr(witness, "SETTLED", 0)
        # Rules are looked for in the checkout as well, in which other tools write what they like.
        monkeypatch.setattr(sys, "path", [each for each in sys.path if "site-packages" in each])
        for name, module in list(sys.modules.items()):
            # Rules of earlier tests, whose files are gone: a run that rests on such a file keeps nothing.
            if not os.path.exists(getattr(module, "__file__", None) or __file__):
                monkeypatch.delitem(sys.modules, name)
        folder.mkdir()  # making it would be a change of the folder around it, in which modules are looked for
        monkeypatch.setenv(quick.FOLDER, str(folder))
        monkeypatch.delenv(quick.OFF, raising=False)
        self._monkeypatch = monkeypatch
        self._capsys = capsys

    def run(self, *arguments: str) -> tuple[int | None, str]:
        """Status and output of an ordinary run."""
        self._monkeypatch.setattr("sys.argv", ["graphlint", *arguments])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        return int(str(ended.value.code)), self._capsys.readouterr().out

    def again(self, *arguments: str) -> tuple[int | None, str]:
        """What is repeated without a run: no status if nothing is."""
        return quick.answer(arguments, os.environ), self._capsys.readouterr().out


@pytest.fixture
def line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Line:
    return Line(monkeypatch, capsys, tmp_path / ".cache")


def test_the_output_is_repeated_while_nothing_changes(package: Path, line: Line) -> None:
    for arguments in (("check", "package"), ("check", "--format", "json", "package"), ("check",)):
        first = line.run(*arguments)
        assert line.again(*arguments) == first == (1, first[1])
    assert line.again("check", "--isolated", "package") == (None, "")


def test_nothing_is_repeated_after_any_change(package: Path, line: Line) -> None:
    changes: list[Callable[[], object]] = [
        lambda: (package / "helper.py").write_text(HELPER + "\n"),
        lambda: (package / "new.py").write_text(""),
        lambda: (package / "new.py").unlink(),
        lambda: (package / ".gitignore").write_text("new.py\n"),
        lambda: (package.parent / "graphlint.toml").write_text('min-confidence = "possible"\n'),
        lambda: (package.parent / "graphlint.toml").write_text('min-confidence = "certain"\n'),
        lambda: (package.parent / ".git").mkdir(),
        lambda: os.utime(package / "layer.py"),
    ]
    for change in changes:
        said = line.run("check", "package")
        assert line.again("check", "package") == said
        change()
        assert line.again("check", "package") == (None, "")


def test_a_run_that_writes_is_never_repeated(package: Path, line: Line, tmp_path: Path) -> None:
    for options in (
        ["--diff"],
        ["--output", "report.txt"],
        ["--format", "json:report.json"],
        ["--write-baseline", "b.json"],
    ):
        line.run("check", *options, "package")
        assert line.again("check", *options, "package") == (None, "")
    line.run("check", "--no-cache", "package")
    assert line.again("check", "--no-cache", "package") == (None, "")


def test_the_folder_may_be_named_in_the_settings(
    package: Path, line: Line, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(quick.FOLDER)
    (tmp_path / "graphlint.toml").write_text('cache-dir = "kept"\n')
    (tmp_path / "kept").mkdir()
    said = line.run("check", "package")
    assert {Path(each).suffix for each in os.listdir(tmp_path / "kept")} == {
        ".TAG",
        printed.ENDING,
        tree.ENDING,
        shelf.ENDING,
    }
    assert line.again("check", "package") == said
    line.run("clean")
    assert line.again("check", "package") == (None, "")


def test_an_output_that_was_tampered_with_is_not_repeated(package: Path, line: Line, tmp_path: Path) -> None:
    line.run("check", "package")
    (path,) = (tmp_path / ".cache").glob("*.printed")
    path.write_bytes(path.read_bytes().replace(b"breaks", b"broken"))
    assert line.again("check", "package") == (None, "")


def test_what_was_written_while_a_run_went_on_proves_nothing(tmp_path: Path) -> None:
    seen = {str(tmp_path): witness.look(str(tmp_path))}
    now = os.stat(tmp_path).st_mtime_ns
    assert not printed.is_settled(seen, now + 1_000_000_000)
    assert printed.is_settled(seen, now + 3_000_000_000)


def test_four_runs_at_once_on_one_folder_say_the_same(package: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "graphlint", "check", "--format", "json", "package"]
    kept = {**os.environ, quick.FOLDER: str(tmp_path / ".cache")}
    alone = subprocess.run([*command, "--no-cache"], capture_output=True, cwd=tmp_path).stdout
    for _ in range(2):
        runs = [subprocess.Popen(command, stdout=subprocess.PIPE, cwd=tmp_path, env=kept) for _ in range(4)]
        assert {each.communicate()[0] for each in runs} == {alone}
    assert not list((tmp_path / ".cache").glob(f"*{store.PARTIAL}"))


def test_how_other_files_run_a_class_is_seen(package: Path, kept: Callable[[], Report], rules: Registry) -> None:
    def verdicts(report: Report) -> list[str]:
        return [each.verdict for each in report.regions if each.region.name.endswith("Model0.forward")]

    (package / "run.py").write_text(RUNS)
    together = kept()
    assert together == cold(rules)
    assert verdicts(together) == ["defeats"]
    (package / "run.py").write_text("")
    apart = kept()
    assert apart == cold(rules)
    assert verdicts(apart) == ["breaks"]
    (package / "run.py").write_text(RUNS)
    assert kept() == together
