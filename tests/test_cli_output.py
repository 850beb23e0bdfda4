"""Several formats at once, files, annotations in Actions, links and the progress line."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from graphlint.commands.output import Sink, sinks
from tests.test_cli import ENVIRONMENT, FAULTY, graphlint


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "model.py").write_text(FAULTY)
    return tmp_path


def test_several_formats_are_written_at_once(folder: Path) -> None:
    formats = ("--format", "concise", "--format", "sarif:out.sarif", "--format", "gitlab:out.json")
    done = graphlint("check", *formats, cwd=folder)
    assert done.returncode == 1
    assert done.stdout.startswith("model.py:6:20: GL101")
    assert json.loads((folder / "out.sarif").read_text())["version"] == "2.1.0"
    assert json.loads((folder / "out.json").read_text())[0]["check_name"] == "host-read"


@pytest.mark.parametrize("format", ["jsonl", "gitlab", "junit", "rdjson", "markdown"])
def test_every_format_tells_the_finding(folder: Path, format: str) -> None:
    assert "host value" not in (out := graphlint("check", "--format", format, cwd=folder).stdout)
    assert "reads a device value back to the host" in out


def test_two_formats_for_programs_do_not_share_the_terminal(folder: Path) -> None:
    done = graphlint("check", "--format", "json", "--format", "sarif", cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert "`--format json --format sarif:report.sarif`" in done.stderr


def test_annotations_are_made_by_themselves_in_actions(folder: Path) -> None:
    done = graphlint("check", cwd=folder, GITHUB_ACTIONS="true")
    assert "\n::error file=model.py,line=6,endLine=6,col=20" in done.stdout
    assert "6 |         return x * x.sum().item()" in done.stdout
    assert "::error" not in graphlint("check", "--format", "concise", cwd=folder, GITHUB_ACTIONS="true").stdout
    assert "::error" not in graphlint("check", cwd=folder, GITHUB_ACTIONS="").stdout


def test_codes_link_to_their_pages_when_asked(folder: Path) -> None:
    linked = graphlint("check", "--hyperlinks", "always", cwd=folder).stdout
    assert "\033]8;;https://" in linked
    assert "#gl101\033\\GL101\033]8;;\033\\ breaks:" in linked
    assert "\033]8" not in graphlint("check", cwd=folder).stdout


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_progress_is_told_on_a_terminal_after_a_while_and_wiped(monkeypatch: pytest.MonkeyPatch) -> None:
    from graphlint.commands import progress

    master, slave = os.openpty()
    with os.fdopen(slave, "w") as terminal:
        monkeypatch.setattr(sys, "stderr", terminal)
        monkeypatch.setattr(progress, "DELAY", 0.01)
        with progress.told("checking"):
            assert os.read(master, 100) == b"checking ..."
        assert os.read(master, 100) == progress.CLEAR.encode()
        monkeypatch.setattr(progress, "DELAY", 60.0)
        with progress.told("checking"):
            pass
        terminal.write("end")
        terminal.flush()
        assert os.read(master, 100) == b"end"
    os.close(master)


def test_windows_line_ends_do_not_move_places(folder: Path) -> None:
    (folder / "model.py").write_bytes(b"\xef\xbb\xbf" + FAULTY.replace("\n", "\r\n").encode())
    assert graphlint("check", "--format", "concise", cwd=folder).stdout.startswith("model.py:6:20: GL101")


@pytest.mark.skipif(sys.platform == "win32", reason="closes streams with a shell")
@pytest.mark.parametrize(("arguments", "status"), [("check", 1), ("check model.py --no-cache", 1), ("rules", 0)])
@pytest.mark.parametrize("closed", [">&-", ">&- 2>&-"])
def test_a_closed_stream_changes_no_status(arguments: str, status: int, closed: str, folder: Path) -> None:
    command = f"{shlex.quote(sys.executable)} -m graphlint {arguments} {closed}"
    done = subprocess.run(["sh", "-c", command], cwd=folder, capture_output=True, check=False, env=ENVIRONMENT)
    assert (done.returncode, done.stdout, done.stderr) == (status, b"", b"")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_a_full_disk_behind_stdout_is_one_clear_line(folder: Path) -> None:
    with open("/dev/full", "w", encoding="utf-8") as full:
        command = [sys.executable, "-m", "graphlint", "check", "--no-cache"]
        done = subprocess.run(command, cwd=folder, stdout=full, stderr=subprocess.PIPE, check=False, env=ENVIRONMENT)
    said = done.stderr.decode()
    assert (done.returncode, said) == (2, "graphlint: the output cannot be written: no space left on device\n")


def test_a_baseline_shrinks_and_fails_when_it_lists_too_much(folder: Path) -> None:
    done = graphlint("check", "--write-baseline", "known.json", cwd=folder)
    assert "1 finding accepted in `known.json`: GL101 1" in done.stdout
    (folder / "model.py").write_text(FAULTY.replace(".item()", ""))
    use = ("check", "--baseline", "known.json")
    stale = graphlint(*use, cwd=folder)
    assert (stale.returncode, "lists 1 entry too many" in stale.stderr) == (0, True)
    assert graphlint(*use, "--strict-baseline", cwd=folder).returncode == 1
    pruned = graphlint(*use, "--prune-baseline", "--strict-baseline", cwd=folder)
    assert (pruned.returncode, "1 entry dropped" in pruned.stderr) == (0, True)
    assert json.loads((folder / "known.json").read_text())["findings"] == {}
    assert graphlint(*use, "--strict-baseline", cwd=folder).stderr == ""


def test_a_baseline_entry_of_a_file_that_was_not_checked_is_not_stale(folder: Path) -> None:
    (folder / "clean.py").write_text("x = 1\n")
    graphlint("check", "--write-baseline", "known.json", cwd=folder)
    use = ("check", "--baseline", "known.json", "--strict-baseline")
    assert graphlint(*use, "clean.py", cwd=folder).returncode == 0
    (folder / "model.py").unlink()
    assert graphlint(*use, "clean.py", cwd=folder).returncode == 1


def test_pruning_never_accepts_a_new_finding(folder: Path) -> None:
    graphlint("check", "--write-baseline", "known.json", cwd=folder)
    before = (folder / "known.json").read_text()
    (folder / "other.py").write_text(FAULTY)
    assert graphlint("check", "--baseline", "known.json", "--prune-baseline", cwd=folder).returncode == 1
    assert (folder / "known.json").read_text() == before


def test_a_file_may_have_a_drive() -> None:
    assert sinks(("sarif:C:\\out\\a.sarif", "text"), "") == (Sink("sarif", "C:\\out\\a.sarif"), Sink("text", ""))


@pytest.mark.parametrize(
    "option", [("--write-baseline", "model.py"), ("--format", "sarif:model.py"), ("--output", "model.py")]
)
def test_no_report_takes_the_place_of_a_source(option: tuple[str, ...], folder: Path) -> None:
    done = graphlint("check", *option, "model.py", cwd=folder)
    assert done.returncode == 2
    assert "`model.py` is there already and is no report" in done.stderr
    assert (folder / "model.py").read_text() == FAULTY


def test_a_version_of_torch_that_nobody_knows_is_told_every_time(folder: Path) -> None:
    for _ in range(2):
        done = graphlint("check", "--torch-version", "9.9", cwd=folder)
        assert done.stderr.startswith("graphlint: torch 9.9 is newer than 2.")
        assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert graphlint("check", "--torch-version", "2.13.0+cu130", cwd=folder).stderr == ""


def test_fixes_that_are_known_are_shown_to_people(folder: Path) -> None:
    (folder / "size.py").write_text(FAULTY.replace("x * x.sum().item()", "x.nonzero()"))
    (folder / "scale.py").write_text(FAULTY)
    done = graphlint("check", "--show-fixes", "scale.py", "size.py", cwd=folder)
    assert "  = fix: keep the value on the device (`--fix` makes it)\n" in done.stdout
    assert done.stderr == "graphlint: 1 of 2 findings can be fixed\n"
