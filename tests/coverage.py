"""How every documented constraint on CUDA Graphs is accounted for: the table behind docs/coverage.md.

`tests/data/coverage.tsv` has one constraint a line: family, name, how, and where or why.

    rule    the fixture holds an `expect` for it
    fine    it is no fault, and the fixture holds an `ok` or captures
    miss    a rule should find it and does not yet; the fixture holds a `todo`
    open    the source cannot decide it; what `graphlint confirm` shows instead
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
DATA = ROOT / "tests" / "data" / "coverage.tsv"
FIXTURES = ROOT / "fixtures"
ANCHOR = re.compile(r"^# ([a-z0-9-]+)$", re.MULTILINE)
HEAD = """# What is covered

{total} documented constraints on code under CUDA Graphs, by family, and how each is accounted for: {rule} by a rule and a
fixture that shows it, {fine} by a fixture that shows it to be no fault, {miss} by a fixture that a rule misses so far, and
{open} not at all by reading the source, with what `graphlint confirm` shows instead.

This page is made from `tests/data/coverage.tsv`; a test holds every line of it against the fixtures.
"""


class Row(NamedTuple):
    """One constraint; `what` is a fixture, or for "open" the reason."""

    family: str
    name: str
    how: str
    what: str


def rows() -> list[Row]:
    return [Row(*line.split("\t")) for line in DATA.read_text().splitlines()]


def excerpt(row: Row) -> str:
    """The part of a fixture that shows a constraint: from the comment with its name to the next, or all of it."""
    text = (FIXTURES / row.what).read_text()
    places = [(match.start(), match[1]) for match in ANCHOR.finditer(text)]
    for place, (start, name) in enumerate(places):
        if name == row.name:
            return text[start : places[place + 1][0] if place + 1 < len(places) else len(text)]
    return text


def codes(row: Row, word: str = "expect") -> list[str]:
    """The codes that the fixture of a constraint has marks with this word for."""
    found = re.findall(rf"\b{word}: ([^|#\n]*)", excerpt(row))
    return sorted({code for part in found for code in re.findall(r"GL\d{3}", part)})


def markdown() -> str:
    """The page docs/coverage.md."""
    table = rows()
    counts = Counter(row.how for row in table)
    parts = [HEAD.format(total=len(table), **{how: counts[how] for how in ("rule", "fine", "miss", "open")})]
    for family in dict.fromkeys(row.family for row in table):
        parts.append(f"\n## {family}\n\n| constraint | how | shown by |\n| --- | --- | --- |\n")
        parts += [_line(row) for row in table if row.family == family]
    return "".join(parts)


def _line(row: Row) -> str:
    if row.how == "open":
        return f"| {row.name} | not in the source | {row.what} |\n"
    link = f"[`{row.what}`](../fixtures/{row.what})"
    if row.how == "fine":
        return f"| {row.name} | no fault | {link} |\n"
    if row.how == "miss":
        return f"| {row.name} | missed so far: {', '.join(codes(row, 'todo'))} | {link} |\n"
    return f"| {row.name} | {', '.join(codes(row))} | {link} |\n"
