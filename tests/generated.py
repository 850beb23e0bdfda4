"""Texts of the documentation that are made from definitions and records: keys, fixes, schema, accuracy, picture."""

from __future__ import annotations

import json
from pathlib import Path

from graphlint import config, options
from graphlint.commands.config import toml
from graphlint.effects import table
from graphlint.effects.grammar import EFFECTS
from graphlint.fix import cures
from graphlint.fix.cure import CURES
from graphlint.interp import transfers
from graphlint.options import OPTIONS
from tests import picture

DOCS = Path(__file__).parents[1] / "docs"
LOADED = cures.__all__
CONFIGURATION = """# Configuration

`[tool.graphlint]` in a `pyproject.toml`, or the same keys in a `graphlint.toml`. The nearest file with such a table
holds, from the working folder up to the root of the repository; files are not merged. Options of the command line
come on top. A key that is not known is refused, with the nearest one that is; a name in `regions` or a pattern in
`only-regions` that stands for nothing is told when the whole project is checked. `graphlint config` shows every value
with the file and line it comes from, and `graphlint config --schema` prints the [schema](graphlint.schema.json) for
editors.

A file that says in its first comments or its docstring that it was "generated from `models/modular_x.py`" is what runs; if
every class of that template stands in such files of the run, the template is left to them, and the last line of the report
says so. Checked alone, it is a file like any other.

`torch-version` decides what is predicted where torch has changed ([what has](versions.md)). `capture-flags` and `eager` say
what no source shows and no name says (`is_capturing()` does): names of functions, methods, properties and module variables,
with as much of the dotted name before them as one likes:

```toml
[tool.graphlint]
torch-version = "2.9"
eager = ["eager_break"]                                  # `@eager_break` functions run between two graphs
capture-flags = { "get_is_capture_mode" = true, "Runner.is_warm_up" = false }
```

| key | value | default | what it does |
| --- | --- | --- | --- |
"""
VERSIONS = """# Versions of torch

What a capture does is predicted for torch {torch}, with which most rows of the effects table were measured. `torch-version`
in the [configuration](configuration.md), or `--torch-version`, asks for another one from {oldest} on; it need not be
installed. These effects came or went; all others are taken to be as they are in {torch}. `source` means that the Python
source of that version says so, a number is the change in pytorch/pytorch. Of versions after {newest} it is not known what
they changed, and a run for one of them says so.

| effect | from | until before | of | known from |
| --- | --- | --- | --- | --- |
"""
FIXES = """# Fixes

`graphlint check --fix` makes those that keep what eager code computes, `--unsafe-fixes` the others too, `--diff`
shows them. A fix is tried in memory before it is made: the file parses, it reads no name that is not there, the finding
is gone, no other came and no region was lost. Nothing outside it changes by a byte, in notebooks too. A suggestion leaves
something to fill in, so that only editors offer it; `--show-fixes` shows all of them, in `json`, `sarif` and `rdjson` as
edits. No fix is written into a file that says it was generated from another, and no suppression by `--add-ignores`: the
next generation would take it out again.

| codes | fix |
| --- | --- |
| GL902 | A suppression that suppresses nothing is taken out of its comment. |
"""


def texts() -> dict[Path, str]:
    """What every file made here should hold."""
    return {
        DOCS / "configuration.md": configuration(),
        DOCS / "fixes.md": fixes(),
        DOCS / "versions.md": versions(),
        DOCS / "graphlint.schema.json": json.dumps(options.schema(config.defaults()), indent=1) + "\n",
        picture.PICTURE: picture.drawn(),
    }


def accuracy() -> str:
    """The table of measured accuracy, from what was recorded in docs/accuracy.json."""
    record = json.loads((DOCS / "accuracy.json").read_text())
    if not record["sets"]:
        return "Not recorded yet."
    columns = list(dict.fromkeys(name for each in record["sets"] for name in each["figures"]))
    head = f"| programs | recorded | {' | '.join(columns)} |\n| --- | --- |{' ---: |' * len(columns)}\n"
    rows = "".join(
        f"| {each['name']} | {each['recorded']} | {' | '.join(str(each['figures'].get(name, '')) for name in columns)} |\n"
        for each in record["sets"]
    )
    return f"{head}{rows}".rstrip()


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


def versions() -> str:
    """Every effect that not all versions of torch have, with the calls that have it."""
    known: dict[tuple[str, str, str, str], list[str]] = {}
    for row in filter(None, map(table.lookup, sorted(table.names()))):
        for effect in row.effects:
            if effect.since or effect.until:
                said = effect.why or EFFECTS[effect.kind]
                key = (said, dotted(effect.since), dotted(effect.until), ", ".join(row.provenance))
                known.setdefault(key, []).append(row.name)
    copy = "a copy from pageable memory that does not block is refused; before, its address was recorded"
    known[copy, dotted(transfers.UNPINNED_REFUSED), "", "pytorch#172156"] = ["torch.Tensor.to", "torch.Tensor.cuda"]
    rows = (
        f"| {said} | {since} | {until} | {', '.join(f'`{each}`' for each in names)} | {source} |\n"
        for (said, since, until, source), names in sorted(known.items(), key=lambda pair: pair[1])
    )
    head = VERSIONS.format(torch=dotted(table.TORCH), oldest=dotted(table.OLDEST), newest=dotted(table.NEWEST))
    return head + "".join(rows)


def dotted(version: tuple[int, int] | None) -> str:
    return "" if version is None else ".".join(map(str, version))


def fixes() -> str:
    """Every cure with the codes it is for."""
    known: dict[str, list[str]] = {}
    for code, found in CURES.items():
        for each in found:
            known.setdefault(" ".join((each.__doc__ or "").split()), []).append(code)
    rows = sorted((sorted(codes), about) for about, codes in known.items())
    return FIXES + "".join(f"| {', '.join(codes)} | {about} |\n" for codes, about in rows)
