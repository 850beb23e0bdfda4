"""The page of a rule as Markdown: its indented examples become fenced code."""

from __future__ import annotations


def fenced(page: str) -> str:
    """A page with its examples as code of Python; without a newline at its end."""
    shown: list[str] = []
    inside = False
    for line in page.strip().splitlines():
        is_code = line.startswith("    ") or (inside and not line.strip())
        if is_code != inside:
            shown += ["```python"] if is_code else _closed(shown)
            inside = is_code
        shown.append(line[4:] if is_code else line)
    return "\n".join([*shown, "```"] if inside else shown)


def _closed(shown: list[str]) -> list[str]:
    """What ends an example; the blank lines that end it stand behind the fence."""
    blank = 0
    while shown[-1] == "":
        shown.pop()
        blank += 1
    return ["```", *[""] * blank]
