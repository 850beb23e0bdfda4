"""Suppressions for findings that are accepted as they are: comments are added, and nothing else of a file changes.

A comment goes behind the statement of the finding if that is one line with room for it, else on a line above.  A mark
that stands there already takes the code in, if it is one that is understood: else it would still suppress nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from graphlint import suppress
from graphlint.fix.tree import Tree
from graphlint.source import Source
from graphlint.suppress import MARK
from graphlint.types import Edit, Finding, Span

WIDEST = 120


class Form(NamedTuple):
    """How suppressions are written: `names` maps every code and name of a rule to the code."""

    names: Mapping[str, str]
    reason: str
    need_reasons: bool = False


def edits(tree: Tree, findings: Iterable[Finding], form: Form) -> Iterator[Edit]:
    """The comments that accept some findings of one file."""
    wanted: dict[tuple[int, int], set[str]] = {}
    for each in findings:
        wanted.setdefault(_lines(tree, each.span), set()).add(each.code)
    for (first, last), codes in sorted(wanted.items()):
        yield _mark(tree, first, last, sorted(codes), form)


def missed(source: Source, findings: Iterable[Finding], made: Sequence[Edit], form: Form) -> list[Finding]:
    """Of the findings as they were before the edits, those that no comment of the new file accepts."""
    added = [each.span.line for each in made if each.text.endswith("\n")]
    accepted = suppress.marks(source, form.names, form.need_reasons).marks
    return [each for each in findings if not _is_accepted(each, sum(at <= each.span.line for at in added), accepted)]


def _is_accepted(finding: Finding, moved: int, accepted: Iterable[suppress.Mark]) -> bool:
    line = finding.span.line + moved
    return any(mark.code == finding.code and mark.first <= line <= mark.last for mark in accepted)


def _lines(tree: Tree, span: Span) -> tuple[int, int]:
    """The first and last line of the innermost statement at a place; of a compound one, its header."""
    found = (span.line, span.end_line)
    smallest: int | None = None
    for first, last in tree.statements:
        if first <= span.line <= last and (smallest is None or last - first <= smallest):
            found, smallest = (first, last), last - first
    return found


def _mark(tree: Tree, first: int, last: int, codes: list[str], form: Form) -> Edit:
    file = tree.source.name
    for line in {first - 1, first, last}:
        known = re.search(MARK, tree.text[line - 1]) if 0 < line <= len(tree.text) else None
        if known and _is_ours(tree, line, first) and suppress.is_understood(known, form.names, form.need_reasons):
            column = len(tree.text[line - 1][: known.end("codes") - 1].encode())
            return Edit(Span(file, line, column, line, column), f", {', '.join(codes)}")
    comment = f"# graphlint: ignore[{', '.join(codes)}]{f' -- {form.reason}' if form.reason else ''}"
    if first == last and _has_room(tree.text[first - 1], comment):
        column = len(tree.text[first - 1].rstrip().encode())
        return Edit(Span(file, first, column, first, column), f"  {comment}")
    return Edit(Span(file, first, 0, first, 0), f"{tree.indent(first)}{comment}\n")


def _has_room(text: str, comment: str) -> bool:
    """Whether a comment fits behind a line; what follows a mark on the same line is taken for its reason."""
    text = text.rstrip()
    return len(text) + len(comment) + 2 <= WIDEST and not text.endswith("\\") and not re.search(MARK, text)


def _is_ours(tree: Tree, line: int, first: int) -> bool:
    """A mark on the line before speaks of the statement only if it stands alone there."""
    return line >= first or tree.text[line - 1].lstrip().startswith("#")
