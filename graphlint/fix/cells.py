"""Edits of notebooks: made inside the JSON strings that hold the code, so that no other byte of the file changes.

Edits speak of the text of the whole notebook, as `notebook.code` joins it; each is made in the cell it lies in.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from graphlint import notebook
from graphlint.errors import Unreadable
from graphlint.types import Edit, Span

BOM = b"\xef\xbb\xbf"
LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+$")
BLANK = re.compile(r"[ \t\r\n]*")
ESCAPE = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|[^\\]", re.DOTALL)
DECODER = json.JSONDecoder()


class Literal(NamedTuple):
    """A JSON string: where it stands in the file, quotes included, and what it says."""

    start: int
    end: int
    value: str


class Cell(NamedTuple):
    """The strings that hold the code of a cell; `between` is what separates them, empty where all is in one."""

    literals: tuple[Literal, ...]
    between: str


def whole(span: Span, data: bytes) -> Span:
    """A span in a cell, as reports have it, as one in the text of the whole notebook."""
    file, cell = notebook.split(span.file)
    start = next((first for first, number in notebook.code(data).cells if number == cell), 1) - 1
    return Span(file, span.line + start, span.column, span.end_line + start, span.end_column)


def in_cell(edit: Edit, data: bytes) -> Edit:
    """An edit of the text of a notebook as one in the cell it lies in."""
    number, line = notebook.place(notebook.code(data).cells, edit.span.line)
    name, span = notebook.in_cell(edit.span.file, number), edit.span
    return Edit(Span(name, line, span.column, span.end_line - span.line + line, span.end_column), edit.text)


def spliced(data: bytes, edits: Iterable[Edit]) -> bytes:
    """The content of a notebook after edits that do not overlap; raises `Unreadable` where one cannot be made."""
    mark, body = (BOM, data[len(BOM) :]) if data.startswith(BOM) else (b"", data)
    text = body.decode()
    joined = notebook.code(data)
    cells = {number: cell for number, cell in enumerate(_cells(text), 1) if cell is not None}
    changes = sorted((_change(edit, joined, cells, text) for edit in set(edits)), reverse=True)
    for start, end, new in changes:
        text = text[:start] + new + text[end:]
    return mark + text.encode()


def _change(edit: Edit, joined: notebook.Code, cells: dict[int, Cell], text: str) -> tuple[int, int, str]:
    """What to put between two offsets of the file."""
    number, line = notebook.place(joined.cells, edit.span.line)
    cell, last = cells[number], edit.span.end_line - edit.span.line + line
    lines = LINE.findall("".join(each.value for each in cell.literals))
    _same_as_read(edit.span, line, lines, joined)
    first = _offset(lines, line, edit.span.column)
    start = _place(cell, first, text)
    end = start if edit.span[1:3] == edit.span[3:5] else _place(cell, _offset(lines, last, edit.span.end_column), text)
    is_last = any(end == each.end - 1 for each in cell.literals)
    return start, end, _escaped(edit.text, cell, lines, is_last, text.isascii())


def _same_as_read(span: Span, line: int, lines: list[str], joined: notebook.Code) -> None:
    """Refuse to edit a line that was read as something else, such as a magic."""
    read = joined.text.split("\n")
    for number in range(span.line, span.end_line + (span.end_column > 0)):
        here = line + number - span.line
        if here > len(lines) or lines[here - 1].rstrip("\r\n") != read[number - 1]:
            raise Unreadable("holds a magic where it would be written", number)


def _offset(lines: list[str], line: int, column: int) -> int:
    before = sum(map(len, lines[: line - 1]))
    return before if line > len(lines) else before + len(lines[line - 1].encode()[:column].decode(errors="ignore"))


def _place(cell: Cell, offset: int, text: str) -> int:
    """The place in the file of a character of a cell: at a seam, that of the string which begins there."""
    for literal in cell.literals:
        if offset < len(literal.value) or literal is cell.literals[-1]:
            return _inside(literal, offset, text)
        offset -= len(literal.value)
    raise Unreadable("has a cell without code where it would be written")


def _inside(literal: Literal, offset: int, text: str) -> int:
    at = literal.start + 1
    for _ in range(min(offset, len(literal.value))):
        found = ESCAPE.match(text, at)
        assert found is not None
        at = found.end()
    return at


def _escaped(new: str, cell: Cell, lines: list[str], is_last: bool, ascii: bool) -> str:
    """New text as it stands in a JSON string, in strings of one line each where the cell has such."""
    newline = "\r\n" if lines and lines[0].endswith("\r\n") else "\n"
    parts = [json.dumps(each, ensure_ascii=ascii)[1:-1] for each in new.replace("\n", newline).splitlines(keepends=True)]
    seam = f'"{cell.between}"' if cell.between else ""
    ends_line = bool(new) and new.endswith("\n") and not is_last
    return seam.join(parts) + (seam if ends_line else "")


def _cells(text: str) -> Iterator[Cell | None]:
    """Every cell in order; None for one that holds no code."""
    for key, at in _members(text, _blank(text, 0)):
        if key == "cells":
            for start in _items(text, at):
                found = dict(_members(text, start))
                is_code = DECODER.raw_decode(text, found["cell_type"])[0] == "code"
                yield _cell(text, found["source"]) if is_code else None


def _cell(text: str, at: int) -> Cell:
    if text[at] == '"':
        return Cell((_literal(text, at),), "")
    literals = tuple(_literal(text, each) for each in _items(text, at))
    if len(literals) > 1:
        return Cell(literals, text[literals[0].end : literals[1].start])
    return Cell(literals, "," + text[at + 1 : literals[0].start] if literals else "")


def _literal(text: str, at: int) -> Literal:
    value, end = DECODER.raw_decode(text, at)
    return Literal(at, end, value)


def _members(text: str, at: int) -> Iterator[tuple[str, int]]:
    """The keys of the object that begins at an offset, and where their values begin."""
    at = _blank(text, at + 1)
    while text[at] != "}":
        key, at = DECODER.raw_decode(text, at)
        at = _blank(text, _blank(text, at) + 1)
        yield key, at
        at = _next(text, at)


def _items(text: str, at: int) -> Iterator[int]:
    """Where the items of the list begin that begins at an offset."""
    at = _blank(text, at + 1)
    while text[at] != "]":
        yield at
        at = _next(text, at)


def _next(text: str, at: int) -> int:
    """Past the value at an offset and a comma."""
    at = _blank(text, DECODER.raw_decode(text, at)[1])
    return _blank(text, at + 1) if text[at] == "," else at


def _blank(text: str, at: int) -> int:
    found = BLANK.match(text, at)
    assert found is not None
    return found.end()
