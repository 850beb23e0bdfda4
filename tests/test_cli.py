"""The command line: options, exit statuses, and one clear line for whatever is wrong."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

FAULTY = """\
import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return x * x.sum().item()
"""
CLEAN = FAULTY.replace(".item()", "")
ENVIRONMENT = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "PYTHONPATH", "GITHUB_ACTIONS")}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "model.py").write_text(FAULTY)
    (tmp_path / "clean.py").write_text(CLEAN)
    return tmp_path


def graphlint(*arguments: str, cwd: Path, stdin: bytes = b"", **environment: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "graphlint", *arguments],
        cwd=cwd,
        input=stdin,
        capture_output=True,
        check=False,
        env=ENVIRONMENT | environment,
    )
    out, err = done.stdout.decode(), done.stderr.decode()
    assert "Traceback" not in err, err
    return subprocess.CompletedProcess(done.args, done.returncode, out, err)


def test_findings_fail_and_show_their_place(folder: Path) -> None:
    done = graphlint("check", cwd=folder)
    assert done.returncode == 1
    assert re.match(r"model\.py:6:\d+: GL101 breaks", done.stdout)
    assert "6 |         return x * x.sum().item()" in done.stdout
    assert "`model.Model.forward`: 1 break" in done.stdout
    assert "1 finding (1 break) in 2 files, 2 regions (1 clean)" in done.stdout


def test_clean_code_passes(folder: Path) -> None:
    done = graphlint("check", "clean.py", cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert "no findings in 1 file, 1 region (all clean)" in done.stdout


def test_two_runs_print_the_same_bytes(folder: Path) -> None:
    first, second = (graphlint("check", ".", "--format", "json", cwd=folder, PYTHONHASHSEED=seed) for seed in "12")
    assert first.stdout == second.stdout
    assert json.loads(first.stdout)["summary"]["breaks"] == 1


@pytest.mark.parametrize("format", ["text", "concise", "json", "github", "sarif"])
def test_every_format_names_the_finding(folder: Path, format: str) -> None:
    assert "GL101" in graphlint("check", "--format", format, cwd=folder).stdout


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (("--exit-zero",), 0),
        (("--select", "GL2,GL3"), 0),
        (("--ignore", "host-read"), 0),
        (("--exclude", "model.py"), 0),
        (("--target", "compile"), 1),
        (("--target", "compile", "--fail-on", "stale"), 0),
        (("--fail-on", "note"), 1),
        (("--statistics",), 1),
    ],
)
def test_options_decide_the_status(folder: Path, arguments: tuple[str, ...], status: int) -> None:
    assert graphlint("check", *arguments, cwd=folder).returncode == status


def test_configuration_holds_and_options_override_it(folder: Path) -> None:
    (folder / "pyproject.toml").write_text('[tool.graphlint]\nignore = ["GL101"]\n')
    assert graphlint("check", cwd=folder).returncode == 0
    assert graphlint("check", "--ignore", "GL2", cwd=folder).returncode == 1
    assert graphlint("check", "--isolated", cwd=folder).returncode == 1


def test_configuration_names_regions(folder: Path) -> None:
    (folder / "steps.py").write_text("def step(x):\n    return x.item()\n")
    assert graphlint("check", "steps.py", cwd=folder).returncode == 0
    for name in ("steps.step", "step"):
        (folder / "graphlint.toml").write_text(f'regions = ["{name}"]\n')
        assert "`steps.step`: 1 break" in graphlint("check", "steps.py", cwd=folder).stdout


def test_a_baseline_is_written_and_used(folder: Path) -> None:
    done = graphlint("check", "--write-baseline", "known.json", cwd=folder)
    assert (done.returncode, "1 finding accepted" in done.stdout) == (0, True)
    assert graphlint("check", "--baseline", "known.json", cwd=folder).returncode == 0
    (folder / "model.py").write_text(FAULTY + "        # more\n\n    def other(self): ...\n")
    assert graphlint("check", "--baseline", "known.json", cwd=folder).returncode == 0


def test_evidence_marks_what_was_confirmed(folder: Path) -> None:
    found = json.loads(graphlint("check", "--format", "json", cwd=folder).stdout)["diagnostics"][0]
    verdict = {"verdict": "confirmed", "fingerprint": found["data"]["fingerprint"]}
    machine = {"kind": "cuda", "name": "NVIDIA H200", "torch": "2.11.0"}
    record = {"version": 1, "date": "2026-01-31", "machine": machine, "verdicts": [verdict], "sources": {"model.py": "old"}}
    (folder / "record.json").write_text(json.dumps(record))
    done = graphlint("check", "--evidence", "record.json", cwd=folder)
    assert "  = confirmed on NVIDIA H200, torch 2.11.0" in done.stdout
    assert done.stderr == "graphlint: `model.py` has changed since `record.json` was recorded\n"
    shown = graphlint("check", "--evidence", "record.json", "--format", "json", cwd=folder).stdout
    assert json.loads(shown)["diagnostics"][0]["data"]["evidence"] == "confirmed on NVIDIA H200, torch 2.11.0"


def test_stdin_is_read_under_a_name(folder: Path) -> None:
    done = graphlint("check", "-", "--stdin-filename", "editor.py", "--format", "json", cwd=folder, stdin=FAULTY.encode())
    assert json.loads(done.stdout)["diagnostics"][0]["file"] == "editor.py"


def test_output_goes_to_a_file(folder: Path) -> None:
    done = graphlint("check", "--format", "json", "--output", "report.json", cwd=folder)
    assert (done.stdout, done.returncode) == ("", 1)
    assert json.loads((folder / "report.json").read_text())["summary"]["breaks"] == 1


def test_colour_is_for_terminals(folder: Path) -> None:
    assert "\033[" not in graphlint("check", cwd=folder).stdout
    assert "\033[" in graphlint("check", "--color", "always", cwd=folder).stdout


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
@pytest.mark.parametrize(("environment", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)])
def test_a_terminal_is_coloured_unless_it_says_no(folder: Path, environment: dict[str, str], coloured: bool) -> None:
    master, slave = os.openpty()
    settings = ENVIRONMENT | {"TERM": "xterm"} | environment
    subprocess.run([sys.executable, "-m", "graphlint", "check"], cwd=folder, stdout=slave, env=settings, check=False)
    os.close(slave)
    shown = b""
    while b"1 clean" not in shown:
        shown += os.read(master, 65536)
    os.close(master)
    assert (b"\033[" in shown) is coloured


def test_bad_files_are_told_and_hide_nothing(folder: Path) -> None:
    (folder / "old.py").write_text("print 'x'\n")
    (folder / "nul.py").write_bytes(b"x = '\0'\n")
    (folder / "latin.py").write_bytes(b"x = '\xe9'\n")
    (folder / "deep.py").write_text("x = " + "-" * 100_000 + "1\n")
    (folder / "loop.py").symlink_to("loop.py")
    done = graphlint("check", "--format", "concise", cwd=folder)
    assert done.returncode == 1
    assert done.stdout.count("GL901") == 5
    assert "model.py:6:20: GL101" in done.stdout
    assert "5 files could not be read and checked" in done.stdout
    assert "1 | x = '\u2400'\n  |      ^\n" in graphlint("check", "nul.py", cwd=folder).stdout
    assert graphlint("check", "old.py", "clean.py", cwd=folder).returncode == 1


def test_an_empty_folder_is_told(folder: Path) -> None:
    (folder / "empty").mkdir()
    done = graphlint("check", "empty", "--format", "json", cwd=folder)
    assert done.returncode == 0
    assert done.stderr == "graphlint: no Python file was found under `empty`\n"
    assert json.loads(done.stdout)["summary"]["files"] == 0


def test_text_survives_a_terminal_that_is_not_utf8(folder: Path) -> None:
    (folder / "model.py").write_text(FAULTY.replace("x.sum()", "x.sum('宽')"))
    done = graphlint("check", cwd=folder, PYTHONIOENCODING="latin-1")
    assert done.returncode == 1
    assert "\\u5bbd" in done.stdout


def test_a_reader_that_goes_away_is_no_error(folder: Path) -> None:
    shell = f"{sys.executable} -m graphlint check --format json | true"
    done = subprocess.run(["sh", "-c", shell], cwd=folder, capture_output=True, text=True, check=False)
    assert done.stderr == ""


def test_pages_can_be_read_by_code_and_by_name(folder: Path) -> None:
    by_code, by_name = (graphlint("explain", word, cwd=folder) for word in ("gl101", "host_read"))
    assert by_code.stdout == by_name.stdout
    assert by_code.stdout.startswith("GL101 host-read (capture: breaks; compile: defeats)\n")
    assert "Captures:" in by_code.stdout
    assert graphlint("explain", "GL901", cwd=folder).returncode == 0


def test_the_beginning_of_a_code_lists_the_rules_that_begin_so(folder: Path) -> None:
    listed = graphlint("explain", "gl10", cwd=folder).stdout.splitlines()
    assert [line[:4] for line in listed] == ["code"] + ["GL10"] * (len(listed) - 1)
    assert len(listed) > 5


def test_a_page_that_python_dropped_is_told(folder: Path) -> None:
    command = [sys.executable, "-OO", "-m", "graphlint", "explain", "GL101"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert (done.returncode, "without -OO" in done.stderr) == (2, True)


def test_rules_are_listed(folder: Path) -> None:
    assert "GL101  host-read" in graphlint("rules", cwd=folder).stdout
    listed = json.loads(graphlint("rules", "--format", "json", cwd=folder).stdout)
    assert {"code", "name", "effects", "summary", "page", "href"} == set(listed[0])


def test_a_project_brings_its_own_rules(folder: Path) -> None:
    (folder / "own.py").write_text(
        '"""Our own view of reads."""\n\n'
        "from graphlint.events import HostRead\nfrom graphlint.rule import finding, rule\n\n\n"
        '@rule("XX101", on=HostRead, predicts="stale")\ndef own(event):\n    return finding(event, "`own` was here")\n'
    )
    (folder / "graphlint.toml").write_text('rules = ["own.py"]\nexclude = ["own.py"]\n')
    done = graphlint("check", "--format", "concise", cwd=folder)
    assert re.search(r"XX101 stale \(graph.*\) `own` was here", done.stdout)
    (folder / "graphlint.toml").write_text('rules = ["gone.py"]\n')
    assert "gone.py` does not exist\n  correct its name under `rules`" in graphlint("check", cwd=folder).stderr


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("import nowhere_to_be_found\n", "cannot be imported: `ModuleNotFoundError: No module named"),
        ("x = 1\n\nx.gone\n", "AttributeError: 'int' object has no attribute 'gone'`\n  mend it at line 3, or take it out"),
        ("x = 1\ndef f(:\n", "mend it at line 2, or take it out of `rules`"),
    ],
)
def test_a_rule_file_that_cannot_be_imported_is_no_fault_of_graphlint(folder: Path, text: str, said: str) -> None:
    (folder / "own.py").write_text(text)
    (folder / "graphlint.toml").write_text('rules = ["own.py"]\n')
    done = graphlint("check", cwd=folder)
    assert (done.returncode, "internal error" in done.stderr) == (2, False)
    assert said in done.stderr


def test_versions_and_help(folder: Path) -> None:
    assert graphlint("--version", cwd=folder).stdout.startswith("graphlint 0.")
    for command in ("check", "config", "confirm", "explain", "rules"):
        assert graphlint(command, "--help", cwd=folder).returncode == 0


def test_a_file_is_looked_at_with_the_project_around_it(folder: Path) -> None:
    (folder / "helper.py").write_text("def read(x):\n    return x.sum().item()\n")
    (folder / "other.py").write_text(FAULTY)
    (folder / "uses.py").write_text(
        FAULTY.replace("x.sum().item()", "read(x)").replace("torch\n", "torch\nfrom helper import read\n", 1)
    )

    def found(name: str) -> tuple[list[str], list[str]]:
        report = json.loads(graphlint("check", "--around", "--format", "json", name, cwd=folder).stdout)
        return [each["file"] for each in report["diagnostics"]], [each["name"] for each in report["regions"]]

    assert found("helper.py") == (["helper.py"], ["uses.Model.forward"])
    assert found("uses.py") == (["helper.py"], ["uses.Model.forward"])
    assert found("other.py") == (["other.py"], ["other.Model.forward"])
    assert json.loads(graphlint("check", "--format", "json", "uses.py", cwd=folder).stdout)["diagnostics"] == []
    assert "`gone.py` does not exist" in graphlint("check", "--around", "gone.py", cwd=folder).stderr


def test_two_captures_of_one_function_keep_their_own_predictions_in_a_part_of_a_project(folder: Path) -> None:
    twice = "    with torch.cuda.graph(torch.cuda.CUDAGraph()):\n        x.{}\n"
    text = f"import torch\n\ndef run(x: torch.Tensor):\n{twice.format('add_(1)')}{twice.format('sum().item()')}"
    (folder / "twice.py").write_text(text)
    whole, part = (
        json.loads(graphlint("check", *how, "--format", "json", "twice.py", cwd=folder).stdout)["regions"]
        for how in ((), ("--around",))
    )
    assert [(each["name"], each["line"], each["verdict"]) for each in part] == [
        ("twice.run", 4, "clean"),
        ("twice.run", 6, "breaks"),
    ]
    assert part == whole


def test_a_file_that_was_given_and_is_not_read_is_named(folder: Path) -> None:
    (folder / "a.pyi").write_text("")
    told = graphlint("check", "--exclude", "model*", "model.py", "a.pyi", cwd=folder).stderr
    assert "`model.py` is left out by `exclude`\n" in told
    assert "`a.pyi` is a stub, which holds no code\n" in told
    assert "`gone.pyi` does not exist" in graphlint("check", "gone.pyi", cwd=folder).stderr
    many = [f"m{number}.py" for number in range(5)]
    for name in many:
        (folder / name).write_text("")
    assert "5 of the given files are left out" in graphlint("check", "--exclude", "m*", *many, cwd=folder).stderr


@pytest.mark.skipif(not hasattr(os, "mkfifo") or sys.platform == "darwin", reason="needs pipes and names of any bytes")
def test_odd_files_and_names_are_told_with_a_cache_and_without(folder: Path) -> None:
    os.mkfifo(folder / "pipe.py")
    Path(os.fsdecode(os.fsencode(folder) + b"/odd\xff.py")).write_text(FAULTY)
    for cache in ("--no-cache", "--cache-dir=kept", "--cache-dir=kept"):
        done = graphlint("check", "--format", "json", cache, cwd=folder)
        told = {each["file"]: each["code"] for each in json.loads(done.stdout)["diagnostics"]}
        assert told == {"model.py": "GL101", "odd\ufffd.py": "GL101", "pipe.py": "GL901"}
        assert done.stderr == ""


def test_a_project_is_looked_at_from_a_folder_in_it(folder: Path) -> None:
    (folder / "sub").mkdir()
    (folder / "graphlint.toml").write_text("")
    (folder / "sub" / "helper.py").write_text("def read(x):\n    return x.sum().item()\n")
    uses = FAULTY.replace("x.sum().item()", "read(x)").replace("torch\n", "torch\nfrom sub.helper import read\n", 1)
    (folder / "uses.py").write_text(uses)
    done = graphlint("check", "--around", "--format", "concise", "helper.py", cwd=folder / "sub")
    assert done.stdout.startswith("helper.py:2:12: GL101")


def test_a_baseline_that_is_written_anew_keeps_what_it_accepted(folder: Path) -> None:
    (folder / "graphlint.toml").write_text('baseline = "known.json"\n')
    for number in (1, 2, 3):
        (folder / f"m{number}.py").write_text(FAULTY)
        told = graphlint("check", "--write-baseline", "known.json", cwd=folder).stdout
        assert f"{number + 1} findings accepted in `known.json`" in told
        assert graphlint("check", cwd=folder).returncode == 0
    assert "contradict" in graphlint("check", "--write-baseline", "x.json", "--prune-baseline", cwd=folder).stderr
