"""Notebooks become one text: the code cells one after another, with what only IPython understands taken out.

Lines are kept one for one, so a line of the text is a line of a cell; `place` says which.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from graphlint.errors import Unreadable
from graphlint.record import NamedTuple

SUFFIX = ".ipynb"
# Compiled by `re` when there is a notebook.
PYTHON_MAGICS = r"%%(time|timeit|capture|prun|memit)\b"
MAGIC = r"^(?P<indent>\s*)(?:[%!?]|\S+\?{1,2}\s*$)"
ASSIGNED = r"^(?P<target>\s*[\w., ]+=)\s*[!%]\S"
CELL = r"(?P<file>.*\.ipynb):cell (?P<cell>\d+)"


class Code(NamedTuple):
    """The text of a notebook, and the line at which each code cell starts with its number among all cells, from 1."""

    text: str
    cells: tuple[tuple[int, int], ...]


def code(data: bytes) -> Code:
    """The code of a notebook; raises `Unreadable` for what is no notebook."""
    cells = list(_code_cells(_cells(data)))
    lines: list[str] = []
    starts: list[tuple[int, int]] = []
    for number, text in cells:
        starts.append((len(lines) + 1, number))
        lines += python(text.split("\n"))
    return Code("\n".join(lines) + "\n", tuple(starts))


def _cells(data: bytes) -> list[object]:
    """The list of cells, whatever they are; raises `Unreadable` with what is wrong and where."""
    import json  # here because only a run over notebooks needs it

    try:
        notebook = json.loads(data.decode("utf-8-sig"))
    except json.JSONDecodeError as error:
        raise Unreadable(f"is not a notebook: {error.msg[:1].lower()}{error.msg[1:]} in its JSON", error.lineno) from None
    except UnicodeDecodeError:
        raise Unreadable("is not a notebook: it is not UTF-8 text") from None
    except RecursionError:
        raise Unreadable("is not a notebook: its JSON nests too deeply") from None
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    if not isinstance(cells, list):
        old = isinstance(notebook, dict) and "worksheets" in notebook
        told = "it has format 3, which `jupyter nbconvert --to notebook` updates" if old else "it has no list of cells"
        raise Unreadable(f"is not a notebook that is understood: {told}")
    return cells


def _code_cells(cells: Sequence[object]) -> Iterator[tuple[int, str]]:
    for number, cell in enumerate(cells, 1):
        if not isinstance(cell, dict) or not isinstance(cell.get("cell_type"), str):
            raise Unreadable(f"is not a notebook that is understood: cell {number} has no type")
        if cell["cell_type"] != "code":
            continue
        source = cell.get("source")
        parts = [each for each in (source if isinstance(source, list) else [source]) if isinstance(each, str)]
        if not isinstance(source, (str, list)) or (isinstance(source, list) and len(parts) < len(source)):
            raise Unreadable(f"is not a notebook that is understood: the source of cell {number} is no text")
        yield number, "".join(parts).replace("\r\n", "\n").replace("\r", "\n")


def python(lines: Sequence[str]) -> list[str]:
    """The lines of a cell with magics and shell calls replaced by statements that do nothing."""
    first = next((line for line in lines if line.strip()), "")
    if first.startswith("%%") and not re.match(PYTHON_MAGICS, first):
        return ["" for _ in lines]
    return [_plain(line) for line in lines]


def _plain(line: str) -> str:
    assigned = re.match(ASSIGNED, line)
    if assigned:
        return f"{assigned['target']} None"
    magic = re.match(MAGIC, line)
    return f"{magic['indent']}pass" if magic else line


def place(cells: Sequence[tuple[int, int]], line: int) -> tuple[int, int]:
    """The number of the cell that a line of the text belongs to, and the line in that cell."""
    start, number = cells[bisect_right([first for first, _ in cells], line) - 1]
    return number, line - start + 1


def in_cell(name: str, cell: int) -> str:
    """How reports name a cell."""
    return f"{name}:cell {cell}"


def split(name: str) -> tuple[str, int | None]:
    """The file and the cell that a name in a report stands for; None for what is no notebook."""
    match = re.fullmatch(CELL, name)
    return (match["file"], int(match["cell"])) if match else (name, None)
