"""Where the page of a code is on the web."""

from __future__ import annotations

DOCS = "https://torch-graphlint.readthedocs.io/en/latest/rules.html"


def page(code: str) -> str:
    return f"{DOCS}#{code.lower()}"
