"""A rule's page, taken apart: its docstring is prose with two examples under known headings.

summary                  the first line: one sentence
why                      paragraphs
Fails:                   an indented example that the rule must find
Captures:                an indented example that it must not
How to fix: ...          one paragraph
"""

from __future__ import annotations

import re
import textwrap

from graphlint.record import NamedTuple

FAILS, CAPTURES, FIX = "Fails:", "Captures:", "How to fix:"
HEADINGS = (FAILS, CAPTURES, FIX)
HEAD = re.compile(rf"^({'|'.join(map(re.escape, HEADINGS))})[ ]?", re.MULTILINE)
ENTRY = re.compile(r"^def step\(", re.MULTILINE)


class Page(NamedTuple):
    """The parts of a page; examples are dedented source."""

    summary: str
    why: str
    fails: str
    captures: str
    fix: str


def parsed(text: str) -> Page:
    """Take a page apart; raises `ValueError` saying which part is missing, double or out of order."""
    head, *rest = HEAD.split(text.strip())
    found = list(zip(rest[::2], rest[1::2]))
    names = tuple(name for name, _ in found)
    if names != HEADINGS:
        raise ValueError(f"a page has the headings {', '.join(HEADINGS)} in this order, not {', '.join(names) or 'none'}")
    summary, _, why = head.strip().partition("\n\n")
    if not why.strip() or "\n" in summary:
        raise ValueError("a page opens with a sentence on one line and then says why, after a blank line")
    parts = {name: textwrap.dedent(body).strip("\n") for name, body in found}
    return Page(summary, why.strip(), parts[FAILS].rstrip(), parts[CAPTURES].rstrip(), " ".join(parts[FIX].split()))


def program(example: str) -> str:
    """An example as a file that can be checked: torch imported, and the function `step` marked as a region."""
    source = ENTRY.sub("# graphlint: region\ndef step(", example)
    imports = "" if re.search(r"^import torch$", source, re.MULTILINE) else "import torch\n\n"
    return f"{imports}{source}\n"
