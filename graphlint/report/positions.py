"""Byte columns, as `ast` counts them, become the columns that editors, terminals and people count."""

from __future__ import annotations

from collections.abc import Mapping

from graphlint import notebook
from graphlint.record import NamedTuple
from graphlint.types import Fix, Span

Lines = Mapping[str, tuple[str, ...]]


class Position(NamedTuple):
    """A place as the language server protocol has it: 0-based line, 0-based column in UTF-16 code units."""

    line: int
    character: int


HIDDEN = (*range(0x80, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A))
"""Controls without a picture, those among them that reorder what stands around them."""
PICTURES = {**{code: 0x2400 + code for code in range(32)}, 0x7F: 0x2421, 0x09: 0x20, **dict.fromkeys(HIDDEN, 0xFFFD)}


def visible(text: str) -> str:
    """Text of sources and names of files as a terminal may be given it: no character of it is a command."""
    return text if text.isprintable() else text.translate(PICTURES)


def line_at(lines: Lines, file: str, line: int) -> str:
    """The text of a 1-based line; empty when the file was not read."""
    text = lines.get(file, ())
    return text[line - 1] if 0 < line <= len(text) else ""


def utf16(text: str, column: int) -> int:
    """A byte column of a line in UTF-16 code units."""
    if text.isascii():
        return column
    return len(_before(text, column).encode("utf-16-le")) // 2


def character(text: str, column: int) -> int:
    """A byte column of a line in characters."""
    return column if text.isascii() else len(_before(text, column))


def _before(text: str, column: int) -> str:
    return text.encode()[:column].decode(errors="ignore")


def start(span: Span, lines: Lines) -> Position:
    return Position(span.line - 1, utf16(line_at(lines, span.file, span.line), span.column))


def end(span: Span, lines: Lines) -> Position:
    return Position(span.end_line - 1, utf16(line_at(lines, span.file, span.end_line), span.end_column))


def shown(span: Span, lines: Lines) -> str:
    """`file:line:column` as people and terminals count: both from 1, in characters."""
    column = character(line_at(lines, span.file, span.line), span.column) + 1
    return f"{visible(span.file)}:{span.line}:{column}"


def in_cells(fix: Fix) -> bool:
    """Whether a fix changes cells of a notebook, which formats that speak of lines of files cannot tell."""
    return any(notebook.split(each.span.file)[1] is not None for each in fix.edits)


def cell(span: Span) -> str:
    """`cell 4, line 2: ` before the message about a notebook, whose lines as a file are of no use; else nothing."""
    number = notebook.split(span.file)[1]
    return "" if number is None else f"cell {number}, line {span.line}: "
