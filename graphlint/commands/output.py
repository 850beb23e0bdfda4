"""Where a report goes and in which form: any number of formats, each to the terminal or to a file of its own."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

import click

from graphlint import __version__
from graphlint.errors import UsageError, near, why
from graphlint.record import NamedTuple
from graphlint.registry import Registry
from graphlint.report import concise, text, totals
from graphlint.source import spare
from graphlint.types import Report

PEOPLE = ("text", "concise", "github", "markdown")
FORMATS = (*PEOPLE, "json", "jsonl", "sarif", "gitlab", "junit", "rdjson")
SERVICES = ("github", "gitlab", "sarif")
"""The formats of services that take paths for those of a repository, wherever in it something ran."""
AUTOMATIC = "GITHUB_ACTIONS"


SAID_IN = {"--statistics": ("text", "concise"), "--show-fixes": ("text", "json", "jsonl", "sarif", "rdjson")}
"""The formats in which an option changes something."""


class Sink(NamedTuple):
    """A format and the file it is written to; an empty name is the terminal."""

    format: str
    file: str


class Wanted(NamedTuple):
    """How to show a report."""

    sinks: tuple[Sink, ...]
    colour: str = "auto"
    statistics: bool = False
    links: str = "auto"


def sinks(formats: Sequence[str], output: str) -> tuple[Sink, ...]:
    """Read `FORMAT` and `FORMAT:FILE`; raises `UsageError`.

    Without a format it is text, and annotations besides where GitHub's own runner says that it runs this.
    """
    if not formats:
        in_actions = os.environ.get(AUTOMATIC) == "true" and not output
        return (Sink("text", output), Sink("github", "")) if in_actions else (Sink("text", output),)
    found = tuple(_sink(each, output) for each in formats)
    shown = [each.format for each in found if not each.file]
    if len(shown) > 1 and any(each not in PEOPLE for each in shown):
        hint = f"give one of them a file: `--format {shown[0]} --format {shown[-1]}:report.{shown[-1]}`"
        raise UsageError(f"{' and '.join(f'`{each}`' for each in shown)} cannot both go to the terminal", hint)
    if output and len(shown) > 1:
        raise UsageError(f"`--output {output}` is for one format", "say `--format FORMAT:FILE` for each")
    return found


def _sink(said: str, output: str) -> Sink:
    name, _, file = said.partition(":")
    if name not in FORMATS:
        raise UsageError(f"there is no format `{name}`", near(name, FORMATS) or f"formats: {', '.join(FORMATS)}")
    return Sink(name, file or output)


def agree(wanted: Sequence[Sink], options: Sequence[str]) -> None:
    """Refuse options that none of the formats shows; raises `UsageError`."""
    for option in options:
        if not any(each.format in SAID_IN[option] for each in wanted):
            formats = " and ".join(f"`{each.format}`" for each in wanted)
            hint = f"`{option}` is for {', '.join(f'`{each}`' for each in SAID_IN[option])}"
            raise UsageError(f"`{option}` changes nothing in {formats}", hint)


def show(report: Report, wanted: Wanted, known: Registry, pieces: dict[str, str]) -> str:
    """Write every format that is wanted, and give what went to the terminal; raises `UsageError` for a bad file.

    `pieces` are of earlier text of the same command for the terminal, and take up what is new.
    """
    shown: list[str] = []
    for sink in wanted.sinks:
        text = rendered(report, sink, wanted, known, {} if sink.file else pieces)
        written(text, sink.file)
        shown += () if sink.file else (text,)
    return "".join(shown)


def rendered(report: Report, sink: Sink, wanted: Wanted, known: Registry, pieces: dict[str, str]) -> str:
    """The report in one format."""
    if wanted.statistics and sink.format in ("text", "concise"):
        return totals.statistics(report) + "".join(f"{each}\n" for each in totals.sentences(report))
    if sink.format == "text":
        paint = text.coloured if is_coloured(wanted.colour, sink.file) else text.plain
        return text.render(report, paint, text.linked if is_linked(wanted.links, sink.file) else text.plain, pieces)
    if sink.format == "concise":
        return concise.render(report)
    module = import_module(f"graphlint.report.{sink.format}")
    folder = _within_repository() if sink.format in SERVICES else ""
    if folder:
        report = import_module("graphlint.report.rebased").rebased(report, folder)
    if sink.format == "sarif":
        rules = [module.Described(each.code, each.name, each.summary, each.page) for each in known.pages]
        return str(module.render(report, __version__, rules))
    return str(module.render(report, __version__) if sink.format == "json" else module.render(report))


def _within_repository() -> str:
    """The working folder as the root of its repository names it; empty at the root, or where there is none."""
    here = Path.cwd()
    root = next((each for each in (here, *here.parents) if os.path.exists(each / ".git")), here)
    return "" if root == here else here.relative_to(root).as_posix()


def is_coloured(when: str, file: str = "") -> bool:
    """Whether a terminal is written to that takes escape sequences, or whether they were asked for."""
    if when != "auto":
        return when == "always"
    if os.environ.get("NO_COLOR") or file:
        return False
    if os.environ.get("FORCE_COLOR", "0") not in ("", "0"):
        return True
    return os.environ.get("TERM") != "dumb" and sys.stdout.isatty()


def is_linked(when: str, file: str = "") -> bool:
    """Whether links are shown; where colours are forced, in the logs of services, nobody says that links are understood."""
    return when == "always" or (when == "auto" and is_coloured(when, file) and sys.stdout.isatty())


def written(rendering: str, file: str) -> None:
    """Print, or write to a file."""
    if not file:
        sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # a terminal may not be UTF-8
        click.echo(rendering, nl=False, color=True)
        return
    spare(file)
    try:
        Path(file).write_text(rendering, encoding="utf-8", newline="\n")
    except OSError as error:
        raise UsageError(f"`{file}` cannot be written: {why(error)}") from None
