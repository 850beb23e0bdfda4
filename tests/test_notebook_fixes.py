"""Fixes and suppressions in notebooks: the code of a cell changes, and no other byte of the file."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from graphlint.check import check_sources, read_text
from graphlint.config import Config
from graphlint.errors import Unreadable
from graphlint.fix.cells import in_cell, spliced, whole
from graphlint.fix.trial import Texts, mended
from graphlint.interp import interpret
from graphlint.registry import Registry
from graphlint.types import Edit, Report, Span
from tests.test_cli import graphlint
from tests.test_fixes import BEFORE, after, level

NAME = "case.ipynb"
Write = Callable[[object], bytes]
JUPYTER: Write = lambda book: (json.dumps(book, indent=1, ensure_ascii=False) + "\n").encode()  # noqa: E731
STYLES: dict[str, Write] = {
    "jupyter": JUPYTER,
    "escaped": lambda book: json.dumps(book, indent=2).encode(),
    "one line": lambda book: json.dumps(book, ensure_ascii=False).encode(),
    "bom": lambda book: b"\xef\xbb\xbf" + JUPYTER(book),
}


def book(*sources: object) -> object:
    """A notebook with outputs and texts that must stay, and code cells."""
    cells: list[object] = [{"cell_type": "markdown", "metadata": {}, "source": ['é "quoted" \\n\n', "\u2028 𝄞"]}]
    for count, source in enumerate(sources):
        output = {"output_type": "stream", "name": "stdout", "text": ["x.item()\n", '{"source": ["é"]}']}
        cells.append({"cell_type": "code", "execution_count": count, "metadata": {"t": 1.0e3}, "source": source})
        cells[-1]["outputs"] = [output]  # type: ignore[index]  # a dictionary
    return {"cells": cells, "metadata": {"name": "é"}, "nbformat": 4, "nbformat_minor": 5}


def fixed(data: bytes, rules: Registry, to: str = "safe") -> bytes:
    def check(texts: Texts) -> Report:
        return check_sources(read_text(texts.get(NAME, data), NAME), Config(), rules, interpret)

    done = mended(check({}), check, lambda name: data, to)
    assert done.refused == []
    return done.texts.get(NAME, data)


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("path", BEFORE, ids=lambda path: path.name.removesuffix(".before.py"))
def test_a_cell_is_fixed_as_a_file_is(path: Path, style: str, rules: Registry) -> None:
    write, old, new = STYLES[style], path.read_text() + "# é 𝄞\n", after(path).read_text() + "# é 𝄞\n"
    as_lines = [write(book("x = 1", text.splitlines(keepends=True))) for text in (old, new)]
    as_text = [write(book("x = 1", text)) for text in (old, new)]
    for before, wanted in (as_lines, as_text):
        assert fixed(before, rules, level(path)).decode() == wanted.decode()


FIRST = ["import torch\n", "%matplotlib inline\n"]
SECOND = ["%%time\n", "class M(torch.nn.Module):\n", "    def forward(self, x):\n", "        !ls\n", "        y = x * {}"]
WIDE = "        y = torch.arange(4).to(x.device) + x  # é\n"


def test_magics_and_other_cells_stay(rules: Registry) -> None:
    before = [FIRST, [*SECOND[:-1], WIDE, SECOND[-1].format("x.sum().item()")], "files = !ls\nM()"]
    wanted = [
        FIRST,
        [*SECOND[:-1], WIDE.replace("(4).to(x.device)", "(4, device=x.device)"), SECOND[-1].format("x.sum().detach()")],
    ]
    assert fixed(JUPYTER(book(*before)), rules) == JUPYTER(book(*wanted, before[2]))


def test_what_was_read_as_something_else_is_not_written() -> None:
    data = JUPYTER(book(["%time f()\n", "x = 1\n"]))
    with pytest.raises(Unreadable, match="holds a magic"):
        spliced(data, [Edit(Span(NAME, 1, 0, 1, 4), "y")])
    assert spliced(data, [Edit(Span(NAME, 2, 0, 2, 1), "é")]) == JUPYTER(book(["%time f()\n", "é = 1\n"]))


def test_lines_come_and_go_as_strings_of_their_own() -> None:
    data = JUPYTER(book(["a\n", "b\n", "c"]))
    for edit, wanted in (
        (Edit(Span(NAME, 2, 0, 2, 0), "x\n"), ["a\n", "x\n", "b\n", "c"]),
        (Edit(Span(NAME, 2, 0, 3, 0), ""), ["a\n", "c"]),
        (Edit(Span(NAME, 1, 1, 3, 0), ""), ["ac"]),
        (Edit(Span(NAME, 3, 1, 3, 1), "\nd"), ["a\n", "b\n", "c\n", "d"]),
        (Edit(Span(NAME, 2, 0, 2, 1), "p\nq"), ["a\n", "p\n", "q\n", "c"]),
    ):
        assert json.loads(spliced(data, [edit])) == json.loads(JUPYTER(book(wanted))), edit


def test_places_in_cells_are_places_in_the_notebook() -> None:
    data = JUPYTER(book(["a\n", "b"], ["c\n", "d"]))
    span = Span(f"{NAME}:cell 3", 2, 0, 2, 1)
    assert whole(span, data) == Span(NAME, 4, 0, 4, 1)
    assert in_cell(Edit(whole(span, data), "x"), data) == Edit(span, "x")


def test_the_commands_write_notebooks(tmp_path: Path) -> None:
    text = "import torch\nclass M(torch.nn.Module):\n    def forward(self, x):\n        return x * x.sum().item()\n"
    path = tmp_path / NAME
    path.write_bytes(JUPYTER(book(text.splitlines(keepends=True))))
    shown = json.loads(graphlint("check", "--show-fixes", "--format", "json", cwd=tmp_path).stdout)["diagnostics"][0]
    assert shown["data"]["fix"]["edits"][0]["cell"] == shown["data"]["cell"] == 2
    assert shown["data"]["fix"]["edits"][0]["range"] == shown["range"]
    assert "fixes" not in graphlint("check", "--show-fixes", "--format", "sarif", cwd=tmp_path).stdout
    assert '+    "        return x * x.sum().detach()\\n"' in graphlint("check", "--diff", cwd=tmp_path).stdout
    assert "1 finding accepted in 1 file" in graphlint("check", "--add-ignores", "é", cwd=tmp_path).stderr
    marked = text.replace(".item()\n", ".item()  # graphlint: ignore[GL101] -- é\n")
    assert path.read_bytes() == JUPYTER(book(marked.splitlines(keepends=True)))
    path.write_bytes(JUPYTER(book(text)))
    assert graphlint("check", "--fix", cwd=tmp_path).returncode == 0
    assert path.read_bytes() == JUPYTER(book(text.replace("item", "detach")))
