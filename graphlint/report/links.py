"""Where the page of a code is on the web; codes of other packs have none there."""

from __future__ import annotations

from graphlint.types import OURS

DOCS = "https://torch-graphlint.readthedocs.io/en/latest/rules.html"


def page(code: str) -> str:
    """The address of a page; empty for a code that is none of ours."""
    return f"{DOCS}#{code.lower()}" if code.startswith(OURS) else ""
