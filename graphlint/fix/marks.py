"""Suppressions for findings that are accepted as they are: comments are added, and nothing else of a file changes.

A comment goes behind the statement of the finding if that is one line with room for it, else on a line above.  A mark
that stands there already takes the code in.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from graphlint.fix.tree import Tree
from graphlint.suppress import MARK
from graphlint.types import Edit, Finding, Span

WIDEST = 120


def edits(tree: Tree, findings: Iterable[Finding], reason: str) -> Iterator[Edit]:
    """The comments that accept some findings of one file."""
    wanted: dict[tuple[int, int], set[str]] = {}
    for each in findings:
        wanted.setdefault(_lines(tree, each.span), set()).add(each.code)
    for (first, last), codes in sorted(wanted.items()):
        yield _mark(tree, first, last, sorted(codes), reason)


def _lines(tree: Tree, span: Span) -> tuple[int, int]:
    """The first and last line of the innermost statement at a place; of a compound one, its header."""
    found = (span.line, span.end_line)
    smallest: int | None = None
    for first, last in tree.statements:
        if first <= span.line <= last and (smallest is None or last - first <= smallest):
            found, smallest = (first, last), last - first
    return found


def _mark(tree: Tree, first: int, last: int, codes: list[str], reason: str) -> Edit:
    file = tree.source.name
    for line in {first - 1, first, last}:
        known = MARK.search(tree.text[line - 1]) if 0 < line <= len(tree.text) else None
        if known and known["word"].lower() == "ignore" and known["codes"] and _is_ours(tree, line, first):
            column = len(tree.text[line - 1][: known.end("codes") - 1].encode())
            return Edit(Span(file, line, column, line, column), f", {', '.join(codes)}")
    comment = f"# graphlint: ignore[{', '.join(codes)}]{f' -- {reason}' if reason else ''}"
    text = tree.text[first - 1]
    if first == last and len(text.rstrip()) + len(comment) + 2 <= WIDEST and not text.rstrip().endswith("\\"):
        column = len(text.rstrip().encode())
        return Edit(Span(file, first, column, first, column), f"  {comment}")
    return Edit(Span(file, first, 0, first, 0), f"{tree.indent(first)}{comment}\n")


def _is_ours(tree: Tree, line: int, first: int) -> bool:
    """A mark on the line before speaks of the statement only if it stands alone there."""
    return line >= first or tree.text[line - 1].lstrip().startswith("#")
