"""How a mark that suppresses nothing is taken out of its comment: only what is useless goes, with the space before it."""

from __future__ import annotations

import re
from collections.abc import Collection

from graphlint.source import Source, lines, segment
from graphlint.types import Edit, Fix, Span


def removal(source: Source, span: Span, words: Collection[str]) -> Fix:
    """The fix that takes some words out of the mark at `span`, and the mark itself when none is left."""
    text = segment(source, span)
    left = without(text, words)
    if left:
        return Fix("drop what suppresses nothing", "safe", (Edit(span, left),))
    return Fix("remove the suppression", "safe", (Edit(_whole(source, span), ""),))


def without(mark: str, words: Collection[str]) -> str:
    """A mark without some of its words; empty when none is left."""
    noqa = re.match(r"(?i)#\s*noqa\s*:\s*", mark)
    start = noqa.end() if noqa else mark.index("[") + 1
    end = len(mark) if noqa else mark.index("]")
    dropped = {word.lower() for word in words}
    given = [word for word in re.split(r"[\s,]+", mark[start:end].strip()) if word]
    left = [word for word in given if word.lower() not in dropped]
    return mark[:start] + ", ".join(left) + mark[end:] if left else ""


def _whole(source: Source, span: Span) -> Span:
    """What goes with a mark: its line if nothing else is on it, else the space before it or behind it."""
    text = lines(source)[span.line - 1].encode()
    before, after = text[: span.column], text[span.end_column :]
    if after.strip():
        return span._replace(end_column=len(text) - len(after.lstrip()))
    if before.strip():
        return span._replace(column=len(before.rstrip()), end_column=len(text))
    return Span(span.file, span.line, 0, span.line + 1, 0)
