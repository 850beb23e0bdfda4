"""What is around a run: streams that are closed, folders that are locked or gone, terminals, and text that is no text."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from graphlint.report.positions import visible
from tests.test_cli import ENVIRONMENT, FAULTY, graphlint

ODD = FAULTY.replace("return x *", "return '\x1b[2J\u202e\x85\x7f', x *")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "model.py").write_text(FAULTY)
    return tmp_path


def shell(command: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    line = command.replace("graphlint", f"'{sys.executable}' -m graphlint")
    return subprocess.run(["sh", "-c", line], cwd=cwd, env=ENVIRONMENT, capture_output=True, text=True, check=False)


def test_no_text_of_a_source_is_a_command_to_a_terminal(folder: Path) -> None:
    (folder / "odd.py").write_text(ODD.replace("sum()", "sum('\x1b')"), encoding="utf-8")
    for format in ("text", "concise", "markdown"):
        shown = graphlint("check", "--format", format, "odd.py", cwd=folder).stdout
        assert "\x1b" not in shown
        assert "x.sum('\u241b').item()" in shown
    assert "return '\u241b[2J\ufffd\ufffd\u2421', x" in graphlint("check", "odd.py", cwd=folder).stdout
    assert visible("a\tb 宽 é\u3000") == "a b 宽 é\u3000"


@pytest.mark.skipif(sys.platform == "win32", reason="no such names there")
def test_a_name_of_a_file_stays_on_its_line(folder: Path) -> None:
    (folder / "new\nline.py").write_text(FAULTY)
    shown = graphlint("check", "--format", "concise", cwd=folder).stdout.splitlines()
    assert [line.partition(":")[0] for line in shown[:2]] == ["model.py", "new\u240aline.py"]


@pytest.mark.skipif(sys.platform == "win32", reason="needs a shell")
def test_a_stdin_that_is_closed_is_told(folder: Path) -> None:
    done = shell("graphlint check - <&-", folder)
    assert (done.returncode, done.stderr) == (
        2,
        "graphlint: `-` stands for stdin, which is closed\n  give the file by name, or pipe it in\n",
    )


@pytest.mark.skipif(sys.platform == "win32", reason="a folder that is used cannot be removed there")
def test_a_working_folder_that_is_gone_is_told(folder: Path) -> None:
    done = shell("mkdir sub && cd sub && rmdir ../sub && graphlint check .", folder)
    assert (done.returncode, done.stderr.startswith("graphlint: the working folder is not there any more\n")) == (2, True)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may look into every folder")
def test_a_file_in_a_locked_folder_is_not_called_missing(folder: Path) -> None:
    (folder / "locked").mkdir()
    (folder / "locked" / "m.py").write_text(FAULTY)
    (folder / "locked").chmod(0)
    try:
        done = graphlint("check", "--format", "concise", "locked/m.py", cwd=folder)
    finally:
        (folder / "locked").chmod(0o700)
    assert "locked/m.py:1:1: GL901 note `locked/m.py` cannot be opened: permission denied" in done.stdout
    assert done.returncode == 1


def test_what_windows_saves_as_utf_8_is_read(folder: Path) -> None:
    accepted = graphlint("check", "--write-baseline", "accepted.json", cwd=folder)
    assert accepted.returncode == 0
    texts = {"accepted.json": (folder / "accepted.json").read_text(), "graphlint.toml": 'select = ["GL101"]\n'}
    for name, text in texts.items():
        (folder / name).write_text(f"\ufeff{text}", encoding="utf-8", newline="\r\n")
    done = graphlint("check", "--baseline", "accepted.json", cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    (folder / ".gitignore").write_text("\ufeffmodel.py\n", encoding="utf-8")
    assert "in 0 files" in graphlint("check", cwd=folder).stdout


@pytest.mark.parametrize(
    ("environment", "coloured"),
    [({"FORCE_COLOR": "1"}, True), ({"FORCE_COLOR": "0"}, False), ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False)],
)
def test_services_can_ask_for_colours_and_get_no_links(folder: Path, environment: dict[str, str], coloured: bool) -> None:
    for _ in range(2):
        shown = graphlint("check", cwd=folder, stdin=b"", **environment).stdout
        assert ("\033[" in shown, "\033]8" in shown) == (coloured, False)
    assert "\033[" not in graphlint("check", cwd=folder).stdout
