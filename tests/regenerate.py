"""Texts that are made by running graphlint: parts of README.md, and several files under docs/.

`python -m tests.regenerate` writes them; a test fails while they are out of date.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from graphlint import page, registry
from graphlint.commands import rules as command
from graphlint.notices import Notice
from graphlint.rule import Rule
from tests import coverage, generated

ROOT = Path(__file__).parents[1]
EXAMPLE = "examples/decode.py"
HEAD = """# Rules

Each rule is one file under `rules/`; this page is made from their docstrings. `graphlint explain CODE` prints the same
text. Both examples of every rule are tests.

"""


def written() -> dict[Path, str]:
    """What every generated file should hold."""
    pages = registry.load().pages
    shown = f"```text\n{example()}```"
    readme = (ROOT / "README.md").read_text()
    for name, text in (("example", shown), ("rules", command.markdown(pages).rstrip()), ("accuracy", generated.accuracy())):
        readme = filled(readme, name, text)
    return {
        **generated.texts(),
        ROOT / "README.md": readme,
        ROOT / "docs" / "coverage.md": coverage.markdown(),
        ROOT / "docs" / "rules.md": HEAD + "\n".join(section(each) for each in pages),
    }


def example() -> str:
    """What a terminal shows for the example."""
    arguments = [sys.executable, "-m", "graphlint", "check", "--exit-zero", EXAMPLE]
    return subprocess.run(arguments, cwd=ROOT, capture_output=True, text=True, check=True).stdout


def filled(text: str, name: str, content: str) -> str:
    """A text with the part between two marks replaced."""
    begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->\n"
    before, rest = text.split(begin)
    return f"{before}{begin}\n{content}\n\n{end}{rest.split(end)[1]}"


def section(each: Rule | Notice) -> str:
    """One rule as a section of docs/rules.md."""
    head = f'<a id="{each.code.lower()}"></a>\n\n## {each.code} {each.name}\n\n'
    if isinstance(each, Notice):
        return f"{head}{each.page.strip()}\n"
    parts = page.parsed(each.page)
    pairs = (("capture", each.predicts), ("compile", each.compile))
    effects = [f"{name}: **{effect.value}**" for name, effect in pairs if effect]
    return (
        f"{head}{parts.summary} ({', '.join(effects)})\n\n{parts.why}\n\nFails:\n\n```python\n{parts.fails}\n```\n\n"
        f"Captures:\n\n```python\n{parts.captures}\n```\n\nHow to fix: {parts.fix}\n"
    )


def stale() -> list[str]:
    """Generated files that are out of date."""
    return [str(path) for path, text in written().items() if not path.exists() or path.read_text() != text]


if __name__ == "__main__":
    for path, text in written().items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
