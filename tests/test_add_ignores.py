"""Suppressions that graphlint writes: they accept what they should, and nothing else of a file changes."""

from __future__ import annotations

import ast
import difflib
import random
from pathlib import Path

import pytest
import torch

from graphlint.commands import mend
from graphlint.errors import UsageError
from graphlint.fix.marks import Form, edits
from graphlint.fix.splice import spliced
from graphlint.fix.tree import Tree
from graphlint.notices import UNREADABLE, notice
from graphlint.source import parse_bytes
from graphlint.suppress import apply, marks
from graphlint.types import Finding, Span
from tests.hook import git
from tests.test_cli import FAULTY, graphlint

NAMES = {"GL901": "GL901", "GL101": "GL101"}
ADDED = "# graphlint: ignore[GL901] -- accepted"


def faults(data: bytes, number: int) -> list[Finding]:
    """Findings at the beginning of some statements of a file."""
    tree = parse_bytes(data, "x.py").tree
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.stmt)]
    chosen = random.Random(len(nodes)).sample(nodes, min(number, len(nodes)))
    spans = [Span("x.py", node.lineno, node.col_offset, node.lineno, node.col_offset + 1) for node in chosen]
    return sorted((notice(UNREADABLE, span, "m") for span in spans), key=lambda each: each.span)


def test_only_comments_are_added_to_real_files_and_they_hold() -> None:
    files = sorted(Path(torch.__file__).parent.rglob("*.py"))
    for path in random.Random(3).sample(files, 50):
        data = path.read_bytes()
        if not 200 < len(data) < 12_000:
            continue
        found = faults(data, 8)
        new = spliced(data, edits(Tree(parse_bytes(data, "x.py")), found, Form(NAMES, "accepted")))
        changed = [line for line in difflib.ndiff(data.decode().splitlines(), new.decode().splitlines()) if line[0] in "+-"]
        assert len([line for line in changed if line[0] == "+" and ADDED in line]) * 2 >= len(changed), path
        assert [line for line in _without(new) if line is not None] == data.decode().splitlines(), path
        source = parse_bytes(new, "x.py")
        assert ast.dump(source.tree) == ast.dump(parse_bytes(data, "x.py").tree), path
        assert len(marks(source, NAMES).marks) > 0, path
        assert apply(_moved(found, data, new), {"x.py": marks(source, NAMES)}).findings == (), path


def _without(new: bytes) -> list[str | None]:
    """The lines without the comments that were added; None for a line that held nothing else."""
    lines = new.decode().splitlines()
    return [None if line.strip() == ADDED else line.removesuffix(f"  {ADDED}") for line in lines]


def _moved(found: list[Finding], old: bytes, new: bytes) -> list[Finding]:
    """Findings where their statements are after lines were added."""
    kept = [at for at, line in enumerate(new.decode().splitlines(), 1) if line.strip() != ADDED]
    at = dict(enumerate(kept, 1))
    return [notice(UNREADABLE, Span("x.py", at[each.span.line], 0, at[each.span.line], 0), "m") for each in found]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("a = f()\r\n", "a = f()  # graphlint: ignore[GL901] -- why\r\n"),
        ("a = f()  # noqa: E501\n", "a = f()  # noqa: E501  # graphlint: ignore[GL901] -- why\n"),
        ("a = f(\n    1,\n)\n", "# graphlint: ignore[GL901] -- why\na = f(\n    1,\n)\n"),
        ("a = é" + "x" * 100 + "\n", "# graphlint: ignore[GL901] -- why\na = é" + "x" * 100 + "\n"),
        ("@d\ndef f(\n    x,\n): ...\n", "@d\n# graphlint: ignore[GL901] -- why\ndef f(\n    x,\n): ...\n"),
        ("a = 1  # graphlint: ignore[GL101] -- old\n", "a = 1  # graphlint: ignore[GL101, GL901] -- old\n"),
        ("# graphlint: ignore[GL101] -- old\na = 1\n", "# graphlint: ignore[GL101, GL901] -- old\na = 1\n"),
        ("a = 1  # graphlint: ignore[nosuch]\n", "# graphlint: ignore[GL901] -- why\na = 1  # graphlint: ignore[nosuch]\n"),
        ("a = f()  # graphlint: region\n", "# graphlint: ignore[GL901] -- why\na = f()  # graphlint: region\n"),
        ("a = '''\n'''\n", "# graphlint: ignore[GL901] -- why\na = '''\n'''\n"),
        ("a = 1 + \\\n    2\n", "# graphlint: ignore[GL901] -- why\na = 1 + \\\n    2\n"),
    ],
)
def test_where_a_suppression_is_written(text: str, wanted: str) -> None:
    data = text.encode()
    line = 2 if text.startswith(("@", "#")) else 1
    found = [notice(UNREADABLE, Span("x.py", line, 0, line, 1), "m")]
    assert spliced(data, edits(Tree(parse_bytes(data, "x.py")), found, Form(NAMES, "why"))).decode() == wanted


def test_the_command_writes_them_and_nothing_is_left(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(FAULTY)
    diff = graphlint("check", "--add-ignores", "old code", "--diff", cwd=tmp_path)
    assert "+        return x * x.sum().item()  # graphlint: ignore[GL101] -- old code\n" in diff.stdout
    assert (tmp_path / "model.py").read_text() == FAULTY
    done = graphlint("check", "--add-ignores", "old code", cwd=tmp_path)
    assert (done.returncode, "1 finding accepted in 1 file" in done.stderr) == (0, True)
    assert graphlint("check", cwd=tmp_path).returncode == 0


def test_the_command_fixes(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(FAULTY)
    diff = graphlint("check", "--diff", cwd=tmp_path)
    assert (diff.returncode, "+        return x * x.sum().detach()\n" in diff.stdout) == (1, True)
    shown = graphlint("check", "--show-fixes", "--format", "json", cwd=tmp_path).stdout
    assert '"newText": "x.sum().detach()"' in shown
    assert (tmp_path / "model.py").read_text() == FAULTY
    done = graphlint("check", "--fix", cwd=tmp_path)
    assert (done.returncode, "1 finding fixed in 1 file" in done.stderr) == (0, True)
    assert (tmp_path / "model.py").read_text() == FAULTY.replace(".item()", ".detach()")
    assert "cannot be used with `--fix`" in graphlint("check", "--fix", "-", cwd=tmp_path, stdin=b"x = 1\n").stderr


def test_nothing_is_accepted_in_what_is_generated(tmp_path: Path) -> None:
    texts = {"made.py": f"# generated from `parts/model.py`\n{FAULTY}", "written.py": FAULTY}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    done = graphlint("check", "--add-ignores", "old code", cwd=tmp_path)
    assert "1 finding accepted in 1 file\n" in done.stderr
    left = [line for line in done.stderr.splitlines() if line.startswith("graphlint: made.py:")]
    assert len(left) == 1 and left[0].endswith(
        "GL101 is left: the file is generated from `parts/model.py`; accept it there or in a baseline"
    )
    assert (tmp_path / "made.py").read_text() == texts["made.py"]
    assert (tmp_path / "written.py").read_text() != texts["written.py"]


def test_what_is_said_to_be_accepted_is(tmp_path: Path) -> None:
    model = tmp_path / "model.py"
    model.write_text(FAULTY.replace(".item()", ".item()  # graphlint: ignore[nosuch]"))
    done = graphlint("check", "--add-ignores", "old code", cwd=tmp_path)
    assert "1 finding accepted in 1 file\n" in done.stderr
    once = model.read_bytes()
    assert b"        # graphlint: ignore[GL101] -- old code\n        return" in once
    again = graphlint("check", "--add-ignores", "old code", cwd=tmp_path)
    assert "0 findings accepted in 0 files\n" in again.stderr
    assert model.read_bytes() == once


@pytest.mark.parametrize(
    ("reason", "message"), [("a\nb", "is one line"), ("", "is given no reason"), (" ", "is given no reason")]
)
def test_a_reason_that_no_comment_can_hold_is_refused(reason: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(FAULTY)
    done = graphlint("check", "--add-ignores", reason, cwd=tmp_path)
    assert (done.returncode, message in done.stderr) == (2, True)
    assert (tmp_path / "model.py").read_text() == FAULTY


def test_a_mark_without_a_reason_is_not_added_to_where_reasons_are_needed() -> None:
    data = b"a = 1  # graphlint: ignore[GL101]\n"
    found = [notice(UNREADABLE, Span("x.py", 1, 0, 1, 1), "m")]
    for need, line in ((False, 1), (True, 2)):
        new = spliced(data, edits(Tree(parse_bytes(data, "x.py")), found, Form(NAMES, "why", need))).decode()
        assert len(new.splitlines()) == line


def test_nothing_is_written_if_one_file_cannot_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = {str(tmp_path / name): b"new" for name in ("a.py", "b.py")}
    for file in texts:
        Path(file).write_bytes(b"old")
    monkeypatch.setattr("os.access", lambda path, mode: not str(path).endswith("b.py"))
    with pytest.raises(UsageError, match=r"b\.py` cannot be written"):
        mend.write(texts)
    assert [Path(file).read_bytes() for file in texts] == [b"old", b"old"]
    monkeypatch.setattr("os.access", lambda path, mode: True)
    mend.write(texts)
    assert [Path(file).read_bytes() for file in texts] == [b"new", b"new"]


def test_git_applies_what_diff_shows(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / "a b").mkdir()
    styles = {"noeol.py": FAULTY.rstrip("\n"), "crlf.py": FAULTY.replace("\n", "\r\n"), "a b/é.py": FAULTY}
    for name, text in styles.items():
        (tmp_path / name).write_bytes(text.encode())
    for options in (["--fix"], ["--add-ignores", "why"]):
        shown = graphlint("check", "--diff", *options, cwd=tmp_path)
        git(tmp_path, "apply", "-", given=shown.stdout)
        assert graphlint("check", cwd=tmp_path).returncode == 0
        git(tmp_path, "apply", "-R", "-", given=shown.stdout)
    assert {name: (tmp_path / name).read_bytes().decode() for name in styles} == styles
