"""`graphlint config`: the settings that hold here, and where each comes from."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import click

from graphlint import config as settings
from graphlint import options
from graphlint.config import Config
from graphlint.options import OPTIONS, Option


@click.command(short_help="Show the settings that hold here, and where each comes from.")
@click.option("--format", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("--schema", is_flag=True, help="Print the JSON schema of the configuration file.")
def config(format: str, schema: bool) -> None:
    """Show every key with its value in this folder, and the file and line it comes from.

    The nearest graphlint.toml or pyproject.toml with a [tool.graphlint] table holds, up to the root of the repository.
    """
    if schema:
        click.echo(json.dumps(options.schema(settings.defaults()), indent=1))
        return
    found = settings.load(Path.cwd())
    click.echo(as_json(found) if format == "json" else as_text(found), nl=False)


def as_text(found: Config) -> str:
    """One line a key, as TOML, with its origin as a comment."""
    rows = [(f"{each.key} = {toml(value(each, found))}", origin(each, found)) for each in OPTIONS]
    width = max(len(row) for row, _ in rows if len(row) <= 60)
    head = f"# {shown(found.origin)}\n" if found.origin else "# no configuration file was found\n"
    return head + "".join(f"{row.ljust(width)}  # {where}\n" for row, where in rows)


def as_json(found: Config) -> str:
    """Every key with `value` and `origin`, and the file."""
    keys = {each.key: {"value": value(each, found), "origin": origin(each, found)} for each in OPTIONS}
    return json.dumps({"file": shown(found.origin), "settings": keys}, indent=1) + "\n"


def value(option: Option, found: Config) -> object:
    return options.plain(option, getattr(found, option.field))


def origin(option: Option, found: Config) -> str:
    """`default`, or the file and line that say it."""
    if option.key not in found.said:
        return "default"
    text = Path(found.origin).read_text(encoding="utf-8")
    key = re.escape(option.key)
    said = re.search(rf"^[ \t]*(\[(tool\.graphlint\.)?{key}\]|\"?{key}\"?[ \t]*=)", text, re.MULTILINE)
    line = f":{text.count(chr(10), 0, said.start()) + 1}" if said else ""
    return shown(found.origin) + line


def shown(path: str) -> str:
    """A path as seen from the working folder, if it lies below."""
    here = os.path.join(os.getcwd(), "")
    return path.removeprefix(here).replace(os.sep, "/")


def toml(plain: object) -> str:
    """A plain value as TOML; strings and lists of JSON are those of TOML."""
    if isinstance(plain, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {toml(each)}" for key, each in plain.items()) + "}"
    return json.dumps(plain, ensure_ascii=False)
