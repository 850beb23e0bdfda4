"""Which findings a comment accepts, and which comments are wrong or useless."""

from __future__ import annotations

from dataclasses import replace

import pytest

from graphlint.notices import UNREADABLE, notice
from graphlint.source import parse
from graphlint.suppress import apply, marks, unused
from graphlint.types import Finding, Span
from tests.conftest import CheckText

NAMES = {"GL101": "GL101", "host-read": "GL101", "GL102": "GL102", "host-cast": "GL102"}


def found(line: int, code: str = "GL101") -> Finding:
    return replace(notice(UNREADABLE, Span("x.py", line, 0, line, 1), "m"), code=code)


def kept(text: str, *findings: Finding) -> list[tuple[int, str]]:
    read = marks(parse(text, "x.py"), NAMES)
    return [(each.span.line, each.code) for each in apply(findings, {"x.py": read}).findings]


def codes(text: str) -> list[str]:
    return [each.code for each in marks(parse(text, "x.py"), NAMES).notices]


@pytest.mark.parametrize(
    "comment",
    [
        "# graphlint: ignore[GL101] -- accepted",
        "#graphlint:ignore[ host-read ] -- accepted",
        "# graphlint: ignore[gl101] -- accepted",
        "# graphlint: ignore[GL102, GL101] -- see #12",
        "# noqa: GL101",
        "# noqa: E501,GL101",
        "# NOQA : E501 GL101",
        "# noqa: E501  # graphlint: ignore[GL101] -- accepted",
        "# graphlint: ignore[GL101] -- accepted  # noqa: E501",
    ],
)
def test_a_mark_accepts_its_code_on_its_line(comment: str) -> None:
    text = f"a = 1  {comment}\nb = 2\n"
    assert kept(text, found(1), found(2)) == [(2, "GL101")]
    assert kept(text, found(1, "GL301")) == [(1, "GL301")]
    assert codes(text) == []


def test_a_mark_alone_speaks_of_the_statement_below() -> None:
    text = "# graphlint: ignore[GL101] -- accepted\n# more\n\na = f(\n    1,\n)\nb = 2\n"
    assert kept(text, found(4), found(5), found(7)) == [(7, "GL101")]


def test_a_mark_in_a_statement_speaks_of_all_its_lines_but_not_of_a_body() -> None:
    text = "if f(\n    1,\n):  # graphlint: ignore[GL101] -- accepted\n    a = 2\n"
    assert kept(text, found(1), found(2), found(4)) == [(4, "GL101")]


def test_a_mark_can_speak_of_the_whole_file() -> None:
    text = "a = 1\n# graphlint: ignore-file[host-read] -- benchmark\nb = 2\n"
    assert kept(text, found(1), found(3), found(3, "GL102")) == [(3, "GL102")]


@pytest.mark.parametrize("place", ["above", "behind", "decorator", "inside", "body"])
def test_a_mark_can_speak_of_a_whole_function(place: str) -> None:
    mark = "# graphlint: ignore-function[GL101] -- cold path"
    put = dict.fromkeys(("above", "behind", "decorator", "inside", "body"), "") | {place: mark}
    text = (
        f"a = 0  #\n{put['above']}\n@wrapped  {put['decorator']}\ndef f(x):  {put['behind']}\n    b = 1\n"
        f"    {put['inside']}\n"
        f"    if b:\n        c = 2  {put['body']}\n    return c\nd = 3\n"
    )
    assert kept(text, found(1), found(5), found(8), found(9), found(10)) == [(1, "GL101"), (10, "GL101")]
    assert codes(text) == []


@pytest.mark.parametrize(
    "comment",
    [
        "# graphlint: ignor[GL101] -- x",
        "# graphlint: ignore -- x",
        "# graphlint: ignore[] -- x",
        "# graphlint: ignore[GL999] -- x",
        "# graphlint: ignore[GL101] because",
        "# noqa: GL999",
    ],
)
def test_a_mark_that_is_not_understood_is_told_and_accepts_nothing(comment: str) -> None:
    text = f"a = 1  {comment}\n"
    assert codes(text) == ["GL903"]
    assert kept(text, found(1)) == [(1, "GL101")]


def test_a_mark_without_a_reason_holds_and_is_told() -> None:
    text = "a = 1  # graphlint: ignore[GL101]\n"
    assert codes(text) == ["GL906"]
    assert kept(text, found(1)) == []


@pytest.mark.parametrize("comment", ["# noqa", "# noqa: E501", "# graphlint: region", "# see graphlint docs"])
def test_comments_for_others_are_left_alone(comment: str) -> None:
    text = f"a = 1  {comment}\n"
    assert codes(text) == []
    assert kept(text, found(1)) == [(1, "GL101")]


def test_a_mark_that_accepts_nothing_is_told_if_its_rule_ran() -> None:
    read = marks(parse("é = 1  # noqa: GL101\nb = 2  # noqa: GL102\n", "x.py"), NAMES)
    left = apply([found(2, "GL102")], {"x.py": read}).unused
    assert [(each.code, each.span) for each in unused(left, {"GL101"})] == [("GL902", Span("x.py", 1, 8, 1, 21))]
    assert unused(left, {"GL102"}) == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a = 1  # noqa: GL101\n", "a = 1\n"),
        ("a = 1  # noqa: E501, GL101\n", "a = 1  # noqa: E501\n"),
        ("a = 1  # noqa: GL101  # kept\n", "a = 1  # kept\n"),
        ("é = 1\t# graphlint: ignore[GL101] -- gone\n", "é = 1\n"),
        ("a = 1  # why # graphlint: ignore[GL101] -- gone\n", "a = 1  # why\n"),
        ("b = 0\n    # graphlint: ignore[GL101]\na = 1\n", "b = 0\na = 1\n"),
        ("a = 1  # graphlint: ignore[host-cast, GL101] -- gone\n", "a = 1  # graphlint: ignore[host-cast] -- gone\n"),
        ("# graphlint: ignore-file[GL101] -- gone\na = 1\n", "a = 1\n"),
    ],
)
def test_a_mark_that_accepts_nothing_is_taken_out(before: str, after: str) -> None:
    source = parse(before, "x.py")
    left = apply([], {"x.py": marks(source, NAMES)}).unused
    (told,) = unused(left, {"GL101"}, {"x.py": source})
    assert told.fix is not None
    (edit,) = told.fix.edits
    lines = [line.encode() for line in before.split("\n")]
    start, end = edit.span.line - 1, edit.span.end_line - 1
    joined = lines[start][: edit.span.column] + edit.text.encode() + lines[end][edit.span.end_column :]
    assert b"\n".join([*lines[:start], joined, *lines[end + 1 :]]).decode() == after


@pytest.mark.parametrize(
    ("comment", "message", "help"),
    [
        ("# graphlint: ignore[GL1O2] -- why", "there is no rule `GL1O2` to suppress", "did you mean `GL102`"),
        ("# noqa: GL777", "there is no rule `GL777` to suppress", "write `# graphlint: ignore[GL101] -- reason`"),
        ("# graphlint: ignore[GL1] -- why", "`GL1` is the beginning of codes", "write `# graphlint: ignore[GL101]"),
    ],
)
def test_what_is_wrong_with_a_mark_is_said_with_what_to_write(comment: str, message: str, help: str) -> None:
    (told,) = marks(parse(f"a = 1  {comment}\n", "x.py"), NAMES).notices
    assert told.message.startswith(message)
    assert told.help.startswith(help)


def test_a_mark_is_shown_where_something_is_said_of_it(check_text: CheckText) -> None:
    report = check_text("import torch\na = 1  # graphlint: ignore[GL101]\nb = 2  # graphlint: ignore\n")
    assert [each.code for each in report.findings] == ["GL902", "GL906", "GL903"]
    assert report.lines["example.py"][1:] == ("a = 1  # graphlint: ignore[GL101]", "b = 2  # graphlint: ignore")
