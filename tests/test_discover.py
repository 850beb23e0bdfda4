"""Which files a run reads, and what they are called."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from graphlint.discover import discover
from graphlint.errors import UsageError


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def put(*paths: str, text: str = "x = 1\n") -> None:
    for path in paths:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(text)


def names(*paths: str, exclude: tuple[str, ...] = ()) -> list[str]:
    return [each.name for each in discover(paths, exclude).files]


def test_files_are_sorted_and_named_from_the_working_folder(tree: Path) -> None:
    put("b.py", "a/z.py", "a/y.py", "a/note.txt")
    assert names(".") == ["a/y.py", "a/z.py", "b.py"]
    assert names(str(tree)) == names(".")
    assert names("./a/") == ["a/y.py", "a/z.py"]


def test_what_lies_elsewhere_is_named_as_given(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put("a/x.py", "b/y.py")
    monkeypatch.chdir(tree / "b")
    assert names("../a", ".") == ["../a/x.py", "y.py"]
    assert names(str(tree / "a")) == [f"{tree}/a/x.py"]


def test_a_file_given_twice_is_read_once(tree: Path) -> None:
    put("a/x.py")
    assert names("a", "a/x.py", "./a") == ["a/x.py"]


def test_given_files_are_taken_whatever_they_are_called(tree: Path) -> None:
    put("script", ".hidden/x.py")
    assert names("script", ".hidden/x.py") == [".hidden/x.py", "script"]


def test_hidden_folders_and_environments_are_left_out(tree: Path) -> None:
    put(".git/x.py", "venv/pyvenv.cfg", "venv/lib/x.py", "node_modules/x.py", "__pycache__/x.py", "a.py")
    assert names(".") == ["a.py"]
    assert names("venv") == ["venv/lib/x.py"]


def test_ignore_files_hold_as_in_git(tree: Path) -> None:
    put("build/x.py", "a/gen_1.py", "a/keep/gen_2.py", "a/b.py", "c/build.py")
    put(".gitignore", text="build/\ngen_*.py\n")
    put("a/keep/.gitignore", text="!gen_2.py\n")
    assert names(".") == ["a/b.py", "a/keep/gen_2.py", "c/build.py"]


def test_ignore_files_above_the_folder_hold_within_the_repository(tree: Path) -> None:
    put("repo/src/gen.py", "repo/src/a.py", "repo/.git/HEAD")
    put("repo/.gitignore", text="gen.py\n")
    put(".gitignore", text="a.py\n")
    assert names("repo/src") == ["repo/src/a.py"]


@pytest.mark.parametrize("pattern", [".env", ".env/lib", "*", "/.env/"])
def test_a_folder_that_is_given_is_walked_even_if_it_is_ignored(pattern: str, tree: Path) -> None:
    put(".git/HEAD")
    put(".env/lib/a.py", ".env/lib/gen/b.py")
    put(".env/lib/.gitignore", text="gen/\n")
    put(".gitignore", text=f"{pattern}\n")
    assert names(".env/lib") == [".env/lib/a.py"]
    assert names(".") == []


def test_a_line_that_is_no_pattern_is_skipped(tree: Path) -> None:
    put("a.py", "b.py")
    put(".gitignore", text="!\n[z-a].py\nb.py\n")
    assert names(".") == ["a.py"]


def test_excluded_patterns_are_relative_to_the_base(tree: Path) -> None:
    put("tests/a.py", "src/tests/b.py", "src/c.py")
    assert names(".", exclude=("/tests/",)) == ["src/c.py", "src/tests/b.py"]
    assert names(".", exclude=("tests",)) == ["src/c.py"]


@pytest.mark.parametrize("line", ["!", "[z-a].py"])
def test_an_excluded_line_that_is_no_pattern_is_named(line: str, tree: Path) -> None:
    put("a.py")
    with pytest.raises(UsageError, match="is no pattern for files") as error:
        names(".", exclude=("tests/", line))
    assert error.value.message == f"`{line}` is no pattern for files"


def test_links_to_folders_are_not_followed_and_loops_end(tree: Path) -> None:
    put("a/x.py")
    os.symlink(tree, tree / "a" / "loop")
    os.symlink(tree / "a" / "x.py", tree / "link.py")
    assert names(".") == ["a/x.py"]


def test_a_missing_path_is_an_error_and_an_empty_folder_is_told(tree: Path) -> None:
    (tree / "empty").mkdir()
    with pytest.raises(UsageError, match="`gone` does not exist"):
        discover(["gone"])
    assert discover(["empty"]).empty == ("empty",)


def test_a_name_that_is_not_utf8_can_be_reported(tree: Path) -> None:
    put(os.fsdecode(b"caf\xe9.py"))
    assert names(".") == ["caf\ufffd.py"]


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is closed to root")
def test_a_closed_folder_is_told(tree: Path) -> None:
    put("closed/x.py")
    os.chmod("closed", 0)
    assert discover(["."]).refused[0].name == "closed"
    os.chmod("closed", 0o700)


def test_the_lock_of_an_editor_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text("")
    (tmp_path / ".#model.py").symlink_to("somebody@somewhere.1")
    assert [each.path.name for each in discover([str(tmp_path)]).files] == ["model.py"]


def test_names_below_the_working_folder_are_relative_to_it_wherever_a_walk_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sub").mkdir()
    for name in ("a.py", "sub/b.py"):
        (tmp_path / name).write_text("")
    monkeypatch.chdir(tmp_path / "sub")
    for path in ("..", str(tmp_path)):
        names = {each.name for each in discover([path]).files}
        assert names == {"b.py", "../a.py" if path == ".." else f"{tmp_path}/a.py"}
