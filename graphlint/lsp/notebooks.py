"""Notebooks as an editor has them open: documents of their own for the cells, of which a check makes one text."""

from __future__ import annotations

import json
from collections.abc import Callable

from lsprotocol import types as lsp

from graphlint import notebook
from graphlint.errors import Unreadable

PYTHON = lsp.NotebookCellLanguage("python")
SYNC = lsp.NotebookDocumentSyncOptions([lsp.NotebookDocumentFilterWithCells([PYTHON], "*")], True)
"""What an editor is asked to tell: all notebooks, and of each the cells that hold Python."""


def data(cells: tuple[str, ...], text: Callable[[str], str]) -> bytes:
    """What a file with these cells of code would hold, as far as a check reads it; `text` is what a cell says."""
    return json.dumps({"cells": [{"cell_type": "code", "source": text(each)} for each in cells]}).encode()


def cell(data: bytes, number: int) -> bytes:
    """The Python of one cell, line for line; raises `Unreadable`."""
    code = notebook.code(data)
    lines = code.text.split("\n")
    for (first, each), (after, _) in zip(code.cells, [*code.cells[1:], (len(lines), 0)]):
        if each == number:
            return "\n".join([*lines[first - 1 : after - 1], ""]).encode()
    raise Unreadable(f"has no cell {number}")
