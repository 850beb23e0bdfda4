"""Notebooks are checked cell by cell, and places are told as cell and line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from graphlint.check import check, check_sources
from graphlint.config import Config
from graphlint.errors import Unreadable
from graphlint.events import HostRead
from graphlint.judge import Read
from graphlint.notebook import code, place, python, split
from graphlint.notices import is_unread
from graphlint.report import concise, sarif
from graphlint.report import json as as_json
from graphlint.source import parse_bytes
from graphlint.types import Region, Span
from tests.test_check import RULES, Told

CELLS = [
    ("markdown", "# Title\nprint 'not code'"),
    ("code", "%matplotlib inline\nimport torch\n"),
    ("code", "%%bash\necho hello"),
    ("code", ["def f(x):\n", "    y = x.item()\n", "    return y"]),
    ("code", "files = !ls\nf?\nawait g()"),
]


def notebook(cells: list[tuple[str, object]]) -> bytes:
    return json.dumps({"cells": [{"cell_type": kind, "source": text} for kind, text in cells], "nbformat": 4}).encode()


def test_code_cells_are_joined_line_for_line() -> None:
    text, cells = code(notebook(list(CELLS)))
    assert text.split("\n")[:9] == [
        "pass",
        "import torch",
        "",
        "",
        "",
        "def f(x):",
        "    y = x.item()",
        "    return y",
        "files = None",
    ]
    assert [place(cells, line) for line in (1, 4, 6, 8, 9, 11)] == [(2, 1), (3, 1), (4, 1), (4, 3), (5, 1), (5, 3)]


def test_magics_that_run_python_keep_their_body() -> None:
    assert python(["%%time", "x = 1", "  !ls"]) == ["pass", "x = 1", "  pass"]
    assert python(["a % b", "a = b % c", "x != y"]) == ["a % b", "a = b % c", "x != y"]


def test_findings_name_the_cell() -> None:
    source = parse_bytes(notebook(list(CELLS)), "a.ipynb")
    event = HostRead(span=Span("a.ipynb", 7, 8, 7, 16), text="x.item()", method="item")
    told = Told(Region("a.f", "marked", Span("a.ipynb", 6, 0, 8, 12)), (event,))
    report = check_sources(Read((source,), ()), Config(), RULES, lambda sources, named=(), names=None, ledger=None: [told])
    assert concise.render(report).startswith("a.ipynb:cell 4:2:9: GL101")
    (got,) = json.loads(as_json.render(report, "1"))["diagnostics"]
    assert (got["file"], got["data"]["cell"], got["range"]["start"]) == ("a.ipynb", 4, {"line": 1, "character": 8})
    assert '"uri": "a.ipynb"' in sarif.render(report, "1", [])
    assert report.lines["a.ipynb:cell 4"][1] == "    y = x.item()"


@pytest.mark.parametrize("data", [b"", b"[]", b"{}", b'{"cells": 3}', b'{"cells": [{}]}', b"\xff\xfe", b"[" * 100_000])
def test_what_is_no_notebook_is_unreadable(data: bytes) -> None:
    with pytest.raises(Unreadable, match="is not a notebook"):
        parse_bytes(data, "a.ipynb")


@pytest.mark.parametrize(
    ("data", "message", "line"),
    [
        (b'{"cells":\n[}', "is not a notebook: expecting value in its JSON", 2),
        (b'{"worksheets": []}', "has format 3", 1),
        (b'{"cells": [{"cell_type": "code", "source": 3}]}', "the source of cell 1 is no text", 1),
        (b'{"cells": [3]}', "cell 1 has no type", 1),
    ],
)
def test_what_is_wrong_with_a_notebook_is_said_in_words(data: bytes, message: str, line: int) -> None:
    with pytest.raises(Unreadable, match=message) as caught:
        code(data)
    assert caught.value.line == line


def test_a_cell_that_does_not_parse_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.ipynb").write_bytes(notebook([("code", "x = 1\n"), ("markdown", "text"), ("code", "y = 1\nprint 'x'")]))
    report = check([str(tmp_path)], Config(), RULES, lambda *_: [])
    (found,) = report.findings
    assert (found.span.file, found.span.line) == (f"{tmp_path.as_posix()}/a.ipynb:cell 3", 2)
    assert "missing parentheses" in found.message
    assert report.lines[found.span.file][1] == "print 'x'"
    assert report.unread == (f"{tmp_path.as_posix()}/a.ipynb",)
    assert is_unread(found, report.unread)


def test_an_empty_notebook_is_read() -> None:
    assert parse_bytes(notebook([]), "a.ipynb").cells == ()


def test_names_in_reports_are_taken_apart() -> None:
    assert split("a/b.ipynb:cell 12") == ("a/b.ipynb", 12)
    assert split("a/b.py") == ("a/b.py", None)
