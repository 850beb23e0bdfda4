"""Files become `Source`s: decoded text and its `ast` tree.

Newlines are normalised to "\\n" and a byte order mark is dropped, so that lines and byte columns are those of `ast`.
Whatever can be wrong with a file is raised as `Unreadable`; nothing else escapes.
"""

from __future__ import annotations

import ast
import io
import itertools
import os
import re
import stat
import sys
import tokenize
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

from graphlint import notebook
from graphlint.errors import Unreadable, UsageError, why
from graphlint.record import NamedTuple, Record, frozen
from graphlint.types import Span

LIMIT = 8 << 20
"""Bytes above which a file is not read: a tree takes about forty times the size of its text."""

COOKIE = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
BLANK = re.compile(rb"^[ \t\f]*(?:#[^\r\n]*)?$")
QUOTED = re.compile(r"(?<![\w`])'([^'`]+)'(?!\w)")
"""Code in what Python says of a text that does not parse."""

ENCODE = "save it as UTF-8, or name its encoding in a `# coding:` comment at the top"
WORDS = ("graphlint", "noqa")
"""Every mark begins with one of these; looking for them first takes a hundredth of the time."""

IGNORED = ("ignore", None, Warning, None, 0)
"""The filter that ignores every warning, as `warnings` keeps it."""

MARKS = re.compile(r"graphlint:|noqa\s*:.*\bGL\d", re.IGNORECASE)


@frozen
class Source(Record):
    """One parsed file; `name` is the path as it is reported, with forward slashes.

    `cells` has, for a notebook, the first line of each code cell in `text` and the number of the cell.
    """

    path: Path
    name: str
    text: str
    tree: ast.Module
    cells: tuple[tuple[int, int], ...] = ()

    # Two readings of one file are two sources; hashing them must not walk their texts.
    __eq__ = object.__eq__
    __hash__ = object.__hash__


class Comment(NamedTuple):
    """A comment from its `#` to the end of the line; `column` counts UTF-8 bytes."""

    line: int
    column: int
    text: str


SPARED = frozenset({".py", ".pyi", ".ipynb", ".toml", ".cfg", ".ini"})
"""Endings of files that people write: no report takes the place of one."""


def spare(file: str) -> None:
    """Refuse to write over a file that is no report, or where nothing can be; raises `UsageError`."""
    path = Path(file)
    if os.path.isdir(path):
        raise UsageError(f"`{file}` cannot be written: is a directory", "name a file in it")
    if not os.path.isdir(path.parent):
        raise UsageError(f"`{file}` cannot be written: there is no folder `{path.parent}`", "make it first")
    if path.suffix in SPARED and os.path.exists(path):
        raise UsageError(f"`{file}` is there already and is no report", "name a file of its own, such as `report.json`")


def read(path: Path, name: str) -> Source:
    """Read, decode and parse one file; raises `Unreadable`."""
    return parse_bytes(content(path), name, path)


def parse_bytes(data: bytes, name: str, path: Path | None = None) -> Source:
    """Decode and parse the content of a Python file or a notebook; raises `Unreadable`."""
    if name.endswith(notebook.SUFFIX):
        return _parse_notebook(notebook.code(data), name, path)
    return parse(decode(data), name, path)


@lru_cache(maxsize=256)
def parse_again(data: bytes, name: str, path: Path) -> Source:
    """Like `parse_bytes`; the same content gives the same source, while it was asked for not long ago."""
    return parse_bytes(data, name, path)


def text_of(data: bytes, name: str) -> str:
    """The text of a Python file or a notebook as its tree has it; raises `Unreadable`."""
    return notebook.code(data).text if name.endswith(notebook.SUFFIX) else normalized(decode(data))


def _parse_notebook(code: notebook.Code, name: str, path: Path | None) -> Source:
    try:
        # Cells may `await` outside a function.
        tree = tree_of(code.text, ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    except Unreadable as error:
        error.cells = code.cells
        raise
    return Source(path or Path(name), name, code.text, tree, code.cells)


def content(path: Path) -> bytes:
    """The bytes of a regular file of bearable size; raises `Unreadable`."""
    try:
        status = os.stat(path)
        if not stat.S_ISREG(status.st_mode):
            raise Unreadable("is not a regular file")
        if status.st_size > LIMIT:
            raise Unreadable(f"has {status.st_size:,} bytes, more than the {LIMIT:,} that are read")
        return path.read_bytes()
    except OSError as error:
        raise Unreadable(f"cannot be opened: {why(error)}") from None
    except ValueError as error:
        raise Unreadable(f"cannot be opened: {error}") from None


def decode(data: bytes) -> str:
    """Text by PEP 263: a byte order mark, a coding comment in the first two lines, or UTF-8."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise Unreadable("is encoded in UTF-16, which Python does not read; save it as UTF-8")
    nul = data.find(b"\0")
    if nul >= 0:
        raise Unreadable("holds a NUL byte, so it is not Python source", *_at(data, nul))
    declared = encoding(data)
    try:
        return data.decode(declared)
    except UnicodeDecodeError as error:
        raise Unreadable(
            f"is not valid {declared.replace('-sig', '')} text ({error.reason})", *_at(data, error.start), hint=ENCODE
        ) from None
    except (LookupError, UnicodeError) as error:
        raise Unreadable(f"cannot be decoded: {error}", hint=ENCODE) from None


def _at(data: bytes, start: int) -> tuple[int, tuple[int, int], str]:
    """The line, the columns and the text, as far as it can be shown, of a byte that is no part of a text."""
    line = bytes(data).split(b"\n")[data.count(b"\n", 0, start)]
    before = line[: start - data.rfind(b"\n", 0, start) - 1].decode(errors="replace")
    text = line.rstrip(b"\r").decode(errors="replace").replace("\0", "\u2400")
    first = len(before.encode())
    return data.count(b"\n", 0, start) + 1, (first, first + len(text[len(before) : len(before) + 1].encode())), text


def encoding(data: bytes) -> str:
    """The name of a file's encoding by PEP 263."""
    if data.startswith(b"\xef\xbb\xbf"):
        return "utf-8-sig"
    for line in data.split(b"\n", 2)[:2]:
        found = COOKIE.match(line)
        if found:
            return found.group(1).decode("ascii", "replace")
        if not BLANK.match(line.rstrip(b"\r")):
            break
    return "utf-8"


def parse(text: str, name: str, path: Path | None = None) -> Source:
    """Parse text that was read from `path`; raises `Unreadable`."""
    text = normalized(text)
    return Source(path or Path(name), name, text, tree_of(text))


def normalized(text: str) -> str:
    """Text without a byte order mark, its lines ended by line feeds."""
    text = text.removeprefix("\ufeff")
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


@contextmanager
def quiet() -> Iterator[None]:
    """Without the warnings that `ast` gives of odd escapes in the text that is read; under `-W error` it would raise."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def tree_of(text: str, flags: int = 0) -> ast.Module:
    """The tree of Python text; raises `Unreadable`."""
    if warnings.filters[:1] == [IGNORED]:
        return _tree_of(text, flags)
    with quiet():
        return _tree_of(text, flags)


def _tree_of(text: str, flags: int) -> ast.Module:
    try:
        tree = compile(text, "<unknown>", "exec", ast.PyCF_ONLY_AST | flags, dont_inherit=True)
        assert isinstance(tree, ast.Module)
        return tree
    except SyntaxError as error:
        version = f"Python {sys.version_info.major}.{sys.version_info.minor}"
        reason, hint = _reason(error)
        raise Unreadable(f"does not parse as {version}: {reason}", *_of_text(text, error), hint) from None
    except (RecursionError, MemoryError):
        raise Unreadable("nests too deeply to be parsed") from None
    except (ValueError, OverflowError) as error:
        raise Unreadable(f"does not parse: {error}") from None


def _reason(error: SyntaxError) -> tuple[str, str]:
    """What is wrong, and what Python thinks was meant."""
    return phrase(error.msg or "invalid syntax")


def phrase(said: str) -> tuple[str, str]:
    """What others say in a sentence or two as we say it: what is wrong, and what to do; code is in backticks."""
    reason, _, hint = QUOTED.sub(r"`\1`", said.strip()).partition(". ")
    return reason[:1].lower() + reason[1:].rstrip("."), hint[:1].lower() + hint[1:].rstrip(".")


def _of_text(text: str, error: SyntaxError) -> tuple[int, tuple[int, int], str]:
    """The line, the byte columns and the text that an error speaks of; Python counts characters from 1 there."""
    number = error.lineno or 1
    line = next(itertools.islice(text.split("\n"), number - 1, None), "")
    first = min(max((error.offset or 1) - 1, 0), len(line))
    same = error.end_lineno == number and (error.end_offset or 0) > first + 1
    last = (error.end_offset or 0) - 1 if same else len(line) if (error.end_lineno or 0) > number else first + 1
    return number, (len(line[:first].encode()), len(line[: max(last, first)].encode())), line


def may_hold(text: str, marks: re.Pattern[str] = MARKS) -> bool:
    """Whether `marks` could be found somewhere in a text."""
    if marks is not MARKS:
        return marks.search(text) is not None
    lowered = text.lower()
    return any(marks.match(lowered, place) for word in WORDS for place in _places(lowered, word))


def _places(text: str, word: str) -> Iterator[int]:
    place = text.find(word)
    while place >= 0:
        yield place
        place = text.find(word, place + 1)


@lru_cache(maxsize=16)
def lines(source: Source) -> tuple[str, ...]:
    """The lines of a source without their ends; line `n` is at index `n - 1`."""
    return tuple(source.text.split("\n"))


def segment(source: Source, span: Span) -> str:
    """The text under `span`, with its line breaks."""
    whole = lines(source)[span.line - 1 : span.end_line]
    if len(whole) == 1 and whole[0].isascii():
        return whole[0][span.column : span.end_column]
    chosen = [line.encode() for line in whole]
    if not chosen:
        return ""
    chosen[-1] = chosen[-1][: span.end_column]
    chosen[0] = chosen[0][span.column :]
    return b"\n".join(chosen).decode(errors="replace")


def comments(source: Source, marks: re.Pattern[str] = MARKS) -> list[Comment]:
    """Every comment of a source in which `marks` could be found.

    Tokenizing costs more than parsing, so text that holds no mark at all is not tokenized and has none.
    """
    if not may_hold(source.text, marks):
        return []
    found: list[Comment] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(source.text).readline):
            if token.type == tokenize.COMMENT:
                line, column = token.start
                found.append(Comment(line, len(token.line[:column].encode()), token.string))
    except (tokenize.TokenError, SyntaxError):
        # The tree is valid, so only the tokenizer's own limits end up here; what came before still counts.
        pass
    return found
