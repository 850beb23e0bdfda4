"""Whatever is wrong with a file is one `Unreadable` with a reason and a line."""

from __future__ import annotations

import os
import re
import sys
import warnings
from pathlib import Path

import pytest

from graphlint.errors import Unreadable
from graphlint.source import LIMIT, Comment, comments, decode, lines, parse, read, segment
from graphlint.types import Span

BROKEN = {
    "python 2": (b'print "hello"\n', 1, r"does not parse as Python 3\.\d+: missing parentheses"),
    "half typed": (b"x = 1\ndef f(:\n    pass\n", 2, "does not parse"),
    "unclosed": (b"x = (1,\n", 1, "never closed"),
    "bad indent": (b"def f():\nreturn 1\n", 2, "expected an indented block"),
    "nul byte": (b"x = 1\ny = '\0'\n", 2, "NUL byte"),
    "utf-16": ("x = 1\n".encode("utf-16"), 1, "UTF-16"),
    "not utf-8": (b"x = 1\ny = '\xe9'\n", 2, "not valid utf-8"),
    "wrong cookie": (b"# coding: klingon\n", 1, "unknown encoding"),
    "cookie of no text": (b"# coding: hex\nab", 1, "cannot be decoded"),
    "deep brackets": (b"(" * 5000 + b")" * 5000, 1, "too many nested"),
    "deep operators": (b"-" * 100_000 + b"1", 1, "nests too deeply"),
    "deep attributes": (b"x" + b".a" * 100_000, 1, "nests too deeply"),
    "huge number": (b"x = " + b"1" * 10_000, 1, "does not parse"),
}


if sys.version_info < (3, 11):
    del BROKEN["deep attributes"]  # this parser has no limit there


@pytest.mark.parametrize("name", BROKEN)
def test_broken_text_is_unreadable_with_a_reason_and_a_line(name: str) -> None:
    data, line, reason = BROKEN[name]
    with pytest.raises(Unreadable, match=reason) as caught:
        parse(decode(data), "x.py")
    assert caught.value.line == line
    assert not caught.value.reason.endswith(".")


@pytest.mark.parametrize(
    ("data", "shown", "hint"),
    [
        (b"def f(x):\n    return x +* 2\n", "    return x +[*] 2", ""),
        (b"x = 1\r\ny = 'h\xe9'  # b\r\n", "y = 'h[\ufffd]'  # b", "save it as UTF-8"),
        ("s = 'ü'; \0\n".encode(), "s = 'ü'; [\u2400]", ""),
        ("é = 'ü' 'ä' + f(".encode(), "é = 'ü' 'ä' + f[(]", ""),
        (b"print 'a'", "[print 'a']", "did you mean print(...)?"),
        (b"x = (1 2)", "x = ([1 2])", "perhaps you forgot a comma?"),
        (b'x = "abc\ny = 2\n', 'x = ["]abc', ""),
    ],
)
def test_what_is_broken_is_shown_and_pointed_at(data: bytes, shown: str, hint: str) -> None:
    with pytest.raises(Unreadable) as caught:
        parse(decode(data), "x.py")
    text, (first, last) = caught.value.text.encode(), caught.value.columns
    assert b"%b[%b]%b" % (text[:first], text[first:last], text[last:]) == shown.encode()
    assert caught.value.hint.startswith(hint)


@pytest.mark.parametrize(
    "data",
    [
        b"x = 'caf\xc3\xa9'\n",
        b"\xef\xbb\xbfx = 'caf\xc3\xa9'\n",
        b"# -*- coding: latin-1 -*-\nx = 'caf\xe9'\n",
        b"#!/usr/bin/python\n# vim: set fileencoding=latin-1 :\nx = 'caf\xe9'\n",
    ],
)
def test_encodings_are_those_of_python(data: bytes) -> None:
    assert "café" in parse(decode(data), "x.py").text


def test_a_coding_comment_behind_code_is_no_cookie() -> None:
    assert parse(decode(b"x = 1\n# coding: klingon\n"), "x.py").text.startswith("x = 1")


def test_newlines_are_normalised() -> None:
    source = parse("x = 1\r\ny = 2\rz = 3\n", "x.py")
    assert lines(source) == ("x = 1", "y = 2", "z = 3", "")
    assert [each.lineno for each in source.tree.body] == [1, 2, 3]


def test_reading_does_not_warn_of_what_is_read() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        parse("x = '\\d'\nassert (1, 'always')\n", "x.py")


def test_what_is_not_a_readable_file_is_unreadable(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "loop.py").symlink_to(tmp_path / "loop.py")
    (tmp_path / "big.py").write_bytes(b"#" * (LIMIT + 1))
    reasons = {"pipe.py": "not a regular file", "loop.py": "cannot be opened", "big.py": "bytes", "gone.py": "no such file"}
    for name, reason in reasons.items():
        with pytest.raises(Unreadable, match=reason):
            read(tmp_path / name, name)


def test_a_segment_counts_bytes_and_spans_lines() -> None:
    source = parse("é = f(\n    'ü', b)\n", "x.py")
    call = source.tree.body[0].value  # type: ignore[attr-defined]
    span = Span("x.py", call.lineno, call.col_offset, call.end_lineno, call.end_col_offset)
    assert segment(source, span) == "f(\n    'ü', b)"
    assert segment(source, Span("x.py", 99, 0, 99, 4)) == ""


def test_comments_are_not_strings() -> None:
    text = "x = '# graphlint: ignore'\ny = 'é'  # graphlint: region\n'''\n# graphlint: no\n'''\n"
    assert comments(parse(text, "x.py")) == [Comment(2, 10, "# graphlint: region")]


def test_text_without_marks_has_no_comments() -> None:
    assert comments(parse("x = 1  # noqa: E501\n", "x.py")) == []
    assert len(comments(parse("x = 1  # noqa: E501\n", "x.py"), re.compile("noqa"))) == 1
