"""`graphlint rules`: every code with what it predicts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import click

from graphlint import config, registry
from graphlint.notices import Notice
from graphlint.report import links
from graphlint.rule import Rule
from graphlint.types import Effect


@click.command(short_help="List all rules.")
@click.option("--format", type=click.Choice(["text", "json", "markdown"]), default="text", show_default=True)
def rules(format: str) -> None:
    """List every code with its name, what it predicts under capture and under torch.compile, and its summary."""
    settings = config.load(Path.cwd())
    pages = registry.load(settings.rules, settings.root, settings.packs).pages
    shown = {"text": table, "json": as_json, "markdown": markdown}[format](pages)
    click.echo(shown, nl=False)


def table(pages: Sequence[Rule | Notice]) -> str:
    """One line a rule, in columns."""
    rows = [("code", "rule", "capture", "compile", "summary"), *(_row(each) for each in pages)]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    return "".join("  ".join([*map(str.ljust, row[:4], widths), row[4]]) + "\n" for row in rows)


def markdown(pages: Sequence[Rule | Notice]) -> str:
    """A table for README files."""
    head = "| code | rule | capture | compile | what happens |\n| --- | --- | --- | --- | --- |\n"
    return head + "".join(f"| {' | '.join(_row(each))} |\n" for each in pages)


def _row(each: Rule | Notice) -> tuple[str, str, str, str, str]:
    graph, compiled = _effects(each)
    return each.code, each.name, graph or "-", compiled or "-", each.summary.rstrip(".")


def _effects(each: Rule | Notice) -> tuple[str | None, str | None]:
    if isinstance(each, Notice):
        return Effect.NOTE.value, Effect.NOTE.value
    return (each.predicts.value if each.predicts else None), (each.compile.value if each.compile else None)


def as_json(pages: Sequence[Rule | Notice]) -> str:
    """All rules as a JSON list."""
    return json.dumps([_plain(each) for each in pages], indent=1) + "\n"


def _plain(each: Rule | Notice) -> dict[str, object]:
    graph, compiled = _effects(each)
    return {
        "code": each.code,
        "name": each.name,
        "effects": {"graph": graph, "compile": compiled},
        "summary": each.summary,
        "page": each.page.strip(),
        "href": links.page(each.code) or None,
    }
