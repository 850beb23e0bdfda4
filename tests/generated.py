"""Texts of the documentation that are made from definitions and records: keys, fixes, schema, accuracy, picture."""

from __future__ import annotations

import json
from pathlib import Path

from graphlint import config, options
from graphlint.commands.config import toml
from graphlint.fix import cures
from graphlint.fix.cure import CURES
from graphlint.options import OPTIONS
from tests import picture

DOCS = Path(__file__).parents[1] / "docs"
LOADED = cures.__all__
CONFIGURATION = """# Configuration

`[tool.graphlint]` in a `pyproject.toml`, or the same keys in a `graphlint.toml`. The nearest file with such a table
holds, from the working folder up to the root of the repository; files are not merged. Options of the command line
come on top. A key that is not known is refused, with the nearest one that is. `graphlint config` shows every value
with the file and line it comes from, and `graphlint config --schema` prints the [schema](graphlint.schema.json) for
editors.

| key | value | default | what it does |
| --- | --- | --- | --- |
"""
FIXES = """# Fixes

`graphlint check --fix` makes those that keep what eager code computes, `--unsafe-fixes` the others too, `--diff`
shows them. A fix is tried in memory before it is made: the file parses, the finding is gone, no other came and no
region was lost. Nothing outside it changes by a byte. A suggestion leaves something to fill in, so that only editors
offer it; `--show-fixes` puts all of them into `json`, `sarif` and `rdjson`.

| codes | fix |
| --- | --- |
| GL902 | A suppression that suppresses nothing is taken out of its comment. |
"""


def texts() -> dict[Path, str]:
    """What every file made here should hold."""
    return {
        DOCS / "configuration.md": configuration(),
        DOCS / "fixes.md": fixes(),
        DOCS / "graphlint.schema.json": json.dumps(options.schema(config.defaults()), indent=1) + "\n",
        picture.PICTURE: picture.drawn(),
    }


def accuracy() -> str:
    """The table of measured accuracy, from what was recorded in docs/accuracy.json."""
    record = json.loads((DOCS / "accuracy.json").read_text())
    if not record["sets"]:
        return "Not recorded yet."
    columns = list(dict.fromkeys(name for each in record["sets"] for name in each["figures"]))
    head = f"| programs | {' | '.join(columns)} |\n| --- |{' ---: |' * len(columns)}\n"
    rows = "".join(
        f"| {each['name']} | {' | '.join(str(each['figures'].get(name, '')) for name in columns)} |\n"
        for each in record["sets"]
    )
    return f"Recorded {record['recorded']}.\n\n{head}{rows}".rstrip()


def configuration() -> str:
    """Every key with its form, default and meaning."""
    defaults = config.defaults()
    rows = (
        (
            f"`{each.key}`",
            each.form.refusal.removeprefix("must be "),
            f"`{toml(options.plain(each, defaults[each.field]))}`",
        )
        for each in OPTIONS
    )
    return CONFIGURATION + "".join(f"| {' | '.join(row)} | {each.about} |\n" for row, each in zip(rows, OPTIONS))


def fixes() -> str:
    """Every cure with the codes it is for."""
    known: dict[str, list[str]] = {}
    for code, found in CURES.items():
        for each in found:
            known.setdefault(" ".join((each.__doc__ or "").split()), []).append(code)
    rows = sorted((sorted(codes), about) for about, codes in known.items())
    return FIXES + "".join(f"| {', '.join(codes)} | {about} |\n" for codes, about in rows)
