"""The harness for marked files fails whenever marks and findings differ."""

from __future__ import annotations

from dataclasses import replace

import pytest

from graphlint.source import parse
from graphlint.testing import Capture, Mark, captures, faults, marks
from graphlint.types import Finding, Span
from tests.sample import READ


def found(line: int, code: str = "GL101", message: str = "reads `item`") -> Finding:
    return replace(READ, span=Span("x.py", line, 0, line, 1), code=code, message=message)


def wrong(text: str, *findings: Finding) -> str:
    return "\n".join(faults(parse(text, "x.py"), findings))


def test_marks_are_read_on_and_above_lines() -> None:
    text = 'a = 1  # expect: GL101 "item", GL102\n# ok: GL201\n\nb = f(\n)\nc = "# ok: GL999"\nd = 1  # ok: GL1 || x\n'
    text = text.rsplit("\n", 2)[0] + "\ne = 2  # todo: GL101 | todo-ok: GL102\nf = 3  # ok: GL104  # expect: GL801\n"
    assert marks(parse(text, "x.py")) == (
        Mark(1, "expect", "GL101", "item"),
        Mark(1, "expect", "GL102"),
        Mark(4, "ok", "GL201"),
        Mark(7, "todo", "GL101"),
        Mark(7, "todo-ok", "GL102"),
        Mark(8, "ok", "GL104"),
        Mark(8, "expect", "GL801"),
    )


@pytest.mark.parametrize(
    "mark", ["expect: GL1O1", "expect: GL101 item", "expect:", "ok: GL101; GL102", "ok: GL101 | okay: GL102"]
)
def test_a_mark_that_cannot_be_read_is_an_error(mark: str) -> None:
    with pytest.raises(ValueError, match=r"x\.py:1:"):
        marks(parse(f"a = 1  # {mark}\n", "x.py"))


def test_captures_are_read() -> None:
    text = "# capture: step breaks 900\n# capture: Model captures\n"
    assert captures(parse(text, "x.py")) == (Capture("step", "breaks", "900"), Capture("Model", "captures"))
    with pytest.raises(ValueError, match="cannot be read"):
        captures(parse("# capture: step works\n", "x.py"))


def test_agreement_is_no_fault() -> None:
    assert wrong('a = 1  # expect: GL101 "item"\nb = 2  # ok: GL101\nc = 3  # todo: GL102\n', found(1)) == ""
    assert wrong("a = 1  # todo-ok: GL101\n", found(1)) == ""


@pytest.mark.parametrize(
    ("text", "findings", "message"),
    [
        ("a = 1\n", [found(1)], "is found without a mark"),
        ("a = 1  # expect: GL101\n", [], "is marked `expect` and is not found"),
        ("a = 1  # expect: GL101\n", [found(1, "GL102")], "1: GL102 `reads `item`` is found without a mark"),
        ("a = 1  # expect: GL101\n", [found(1), found(1)], "is found 2 times here"),
        ('a = 1  # expect: GL101 "tolist"\n', [found(1)], 'no GL101 here says "tolist"'),
        ("a = 1  # ok: GL101\n", [found(1)], "though the line says `ok`"),
        ("a = 1  # todo: GL101\n", [found(1)], "turn `todo` into `expect`"),
        ("a = 1  # todo-ok: GL101\n", [], "turn `todo-ok` into `ok`"),
    ],
)
def test_every_difference_is_a_fault(text: str, findings: list[Finding], message: str) -> None:
    assert message in wrong(text, *findings)
