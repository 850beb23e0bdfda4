"""`graphlint explain`: the page of a code or rule."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from graphlint import config, registry
from graphlint.commands.rules import table
from graphlint.errors import InstallError
from graphlint.notices import Notice
from graphlint.rule import Rule


@click.command(short_help="Print the page of a code or rule.")
@click.argument("word", metavar="CODE|PREFIX|NAME")
def explain(word: str) -> None:
    """Print what happens, why, an example that fails, one that captures, and how to fix it.

    For the beginning of codes, such as GL1, list the rules whose codes begin so.
    """
    settings = config.load(Path.cwd())
    known = registry.load(settings.rules, settings.root, settings.packs)
    family = known.family(word)
    click.echo(table(family) if family else page(known.page(word)), nl=False)


def page(each: Rule | Notice) -> str:
    """A page with its head line; raises `InstallError` where Python was told to drop docstrings."""
    if not each.page.strip() and sys.flags.optimize < 2:
        raise InstallError(
            f"`{each.name}` has no page: its module has no docstring", "write one; its first line is the summary"
        )
    if not each.page.strip():
        raise InstallError(f"the page of `{each.name}` is its docstring, which `python -OO` drops", "run it without -OO")
    return f"{each.code} {each.name}{predictions(each)}\n\n{each.page.strip()}\n"


def predictions(each: Rule | Notice) -> str:
    """What a rule predicts under each target: ` (capture: breaks; compile: defeats)`."""
    if isinstance(each, Notice):
        return " (about graphlint itself)"
    pairs = (("capture", each.predicts), ("compile", each.compile))
    return " (" + "; ".join(f"{name}: {effect.value}" for name, effect in pairs if effect) + ")"
