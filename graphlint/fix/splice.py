"""Edits are made on the bytes of a file: what no edit covers stays as it is, line ends and encoding included.

Spans count lines from 1 and columns in UTF-8 bytes, as everywhere; a file in another encoding is decoded for that.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from graphlint.source import decode, encoding
from graphlint.types import Edit, Span

LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)?")
BOM = "\ufeff"


def spliced(data: bytes, edits: Iterable[Edit]) -> bytes:
    """The content of a file after edits that do not overlap; equal edits count once."""
    text = decode(data)
    mark = data.startswith(b"\xef\xbb\xbf")
    lines = LINE.findall(text.removeprefix(BOM))
    newline = _newline(lines)
    chunks = [(_offset(lines, each.span.line, each.span.column), _end(lines, each.span), each.text) for each in set(edits)]
    result: list[str] = []
    body, at = "".join(lines), 0
    for start, end, new in sorted(chunks):
        result += (body[at:start], new.replace("\n", newline))
        at = end
    encoded = "".join([*result, body[at:]]).encode(encoding(data).replace("-sig", ""))
    return b"\xef\xbb\xbf" + encoded if mark else encoded


def _newline(lines: Sequence[str]) -> str:
    first = lines[0] if lines else ""
    return first[len(first.rstrip("\r\n")) :] or "\n"


def _end(lines: Sequence[str], span: Span) -> int:
    return _offset(lines, span.end_line, span.end_column)


def _offset(lines: Sequence[str], line: int, column: int) -> int:
    """A place as an offset in characters; behind the last line is the end."""
    before = sum(map(len, lines[: line - 1]))
    if line > len(lines):
        return before
    return before + len(lines[line - 1].encode()[:column].decode(errors="ignore"))


def overlap(one: Iterable[Edit], other: Iterable[Edit]) -> bool:
    """Whether two sets of edits touch the same text in different ways; equal edits agree."""
    others = set(other)
    return any(_touch(a.span, b.span) for a in set(one) - others for b in others - set(one))


def _touch(a: Span, b: Span) -> bool:
    if a.file != b.file:
        return False
    first, second = sorted((a, b), key=lambda span: span[1:])
    return (second.line, second.column) < (first.end_line, first.end_column) or first[1:3] == second[1:3]
