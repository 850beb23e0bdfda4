"""What cannot be done is refused before anything runs, in one clear line and with what to do next."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.test_cli import CLEAN, FAULTY, graphlint


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "model.py").write_text(FAULTY)
    (tmp_path / "clean.py").write_text(CLEAN)
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("check", "gone.py"), "graphlint: `gone.py` does not exist\n  give files or folders"),
        (("check", "--select", "GL77"), "graphlint: no rule has the code or name `GL77`"),
        (("check", "--format", "yaml"), "there is no format `yaml`"),
        (("check", "--select", " ,"), "`--select` is given no code\n  write codes"),
        (("check", "--torch-version", "2"), "not `2`\n  such as `--torch-version 2.11`"),
        (("check", "--torch-version", ""), "not ``\n  such as `--torch-version 2.11`"),
        (("check", "--write-baseline", ""), "`--write-baseline` is given nothing\n  write `--write-baseline FILE`, or"),
        (("check", "--exclude", "a", "--exclude", ""), "`--exclude` is given nothing\n  write `--exclude PATTERN`, or"),
        (("confirm", "--record", "", "model.py:x"), "`--record` is given nothing\n"),
        (
            ("check", "--statistics", "--format", "json"),
            "in `json`\n  `--statistics` is for `text`, `concise`",
        ),
        (("check", "--show-fixes", "--format", "concise"), "`--show-fixes` changes nothing in `concise`\n"),
        (("check", "--output", "no/such/x"), "`no/such/x` cannot be written: there is no folder `no/such`"),
        (("check", "--config", "gone.toml"), "read: no such file or directory\n  name one that is there"),
        (("check", "--evidence", "gone.json"), "the record `gone.json` cannot be read: no such file or directory\n"),
        (("check", "--evidence", "model.py"), "`model.py` is not a record of `graphlint confirm`\n"),
        (("check", ""), "graphlint: an empty path was given"),
        (("check", "--select", "GL999"), "`GL999`\n  `graphlint explain GL9` lists its neighbours"),
        (("explain", "GL777"), "`GL777`\n  `graphlint explain GL7` lists its neighbours"),
        (("explain", "GL1O1"), "did you mean `GL101`?"),
        (("explain", "host-reed"), "graphlint: there is no rule `host-reed`\n  did you mean `host-read`"),
        (("help",), "`graphlint --help` lists the commands"),
        (("version",), "`graphlint --version` shows it"),
        (
            ("check", "--target", "gpu"),
            "graphlint: invalid value for `--target`: `gpu` is not one of `graph`,",
        ),
        (("check", "--taget"), "graphlint: no such option `--taget`\n  did you mean `--target`?\n"),
        (("check", "--target"), "requires an argument\n  `graphlint check --help` lists the options\n"),
        (("--target",), "graphlint: no such option `--target`\n  `graphlint --help` lists the options\n"),
        (("chek",), "there is no command `chek`\n  did you mean `check`?"),
        (("model.py",), "to check it: `graphlint check model.py`"),
    ],
)
def test_what_is_wrong_is_said_in_a_line_with_what_to_do(folder: Path, arguments: tuple[str, ...], message: str) -> None:
    done = graphlint(*arguments, cwd=folder)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("-", "model.py"), "`-` stands for stdin, which is checked by itself"),
        (("--stdin-filename", "x.py", "model.py"), "`--stdin-filename` names what is read from stdin"),
        (("--isolated", "--config", "x.toml"), "`--config` names a configuration file and `--isolated` reads none"),
        (("--fix", "--add-ignores", "why"), "`--fix` and `--add-ignores` write differently"),
        (("--add-ignores", "why", "-"), "cannot be used with `--add-ignores`"),
        (("--watch", "-"), "cannot be used with `--watch`"),
        (("--prune-baseline",), "`--prune-baseline` is given and there is no baseline\n  `--baseline FILE` names one"),
        (("--strict-baseline",), "`--strict-baseline` is given and there is no baseline"),
        (("--select", "gl101"), "did you mean `GL101`?"),
        (("--torch-version", "1.13"), 'must be a version such as "2.11", 2.0 or newer, not `1.13`'),
    ],
)
def test_what_contradicts_itself_is_refused(folder: Path, arguments: tuple[str, ...], message: str) -> None:
    done = graphlint("check", *arguments, cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b'select = [""]', "an empty word selects every rule"),
        (b'rules = [""]', "`rules` holds an empty name"),
        (b'ignore = ["GL777"]', "no rule has the code or name `GL777`, which `ignore` in `graphlint.toml` names"),
        (b'[per-file-ignores]\n"a" = ["GL777"]', "`GL777`, which `per-file-ignores` in `graphlint.toml` names"),
        (b"cache-dir = 3", "`cache-dir` must be a string"),
        (b"\xff\xfe", "cannot be read: it is not UTF-8 text"),
        (b"[tool.graphlint]", "in `graphlint.toml` the keys stand by themselves"),
        (b"torch-version = 2.11", 'must be a version such as "2.11", 2.0 or newer, not `2.11`'),
        (b'capture-flags = ["x"]', "`capture-flags` must be a table of names with true or false"),
    ],
)
def test_a_configuration_that_says_nothing_of_sense_is_refused(folder: Path, text: bytes, message: str) -> None:
    (folder / "graphlint.toml").write_bytes(text)
    done = graphlint("check", cwd=folder)
    assert (done.returncode, done.stdout, len(done.stderr.splitlines()) <= 2) == (2, "", True)
    assert message in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--timeout", "nan"), "`nan` is not a number\n  `graphlint confirm --help` lists the options"),
        (("--timeout", "0"), "0.0 is not in the range"),
        (("--timeout", "inf"), "inf is not in the range"),
        (("--memory", "-1"), "-1.0 is not in the range"),
        (("--record", "no/x.json"), "`no/x.json` cannot be written: there is no folder `no`"),
        (("--lengths", "3"), "`--lengths` says which sizes of `--shapes` occur"),
        (("--shapes", "n=1..8", "--lengths", "few"), "`--lengths few` is no list of sizes\n  write `--lengths 3,8,21`"),
    ],
)
def test_confirm_refuses_before_it_runs_anything(folder: Path, arguments: tuple[str, ...], message: str) -> None:
    (folder / "steps.py").write_text("open('ran', 'w')\ndef make():\n    return None\n")
    done = graphlint("confirm", "steps.py:make", *arguments, cwd=folder)
    assert (done.returncode, message in done.stderr, (folder / "ran").exists()) == (2, True, False)


def test_a_code_of_the_command_line_is_not_taken_for_one_of_the_configuration(folder: Path) -> None:
    (folder / "graphlint.toml").write_text('ignore = ["GL777"]\n')
    done = graphlint("check", "--ignore", "GL778", cwd=folder)
    assert done.stderr.startswith("graphlint: no rule has the code or name `GL778`\n")
    assert graphlint("check", "--ignore", "GL1", "clean.py", cwd=folder).returncode == 0
