"""`graphlint check`: read the options, run, print, and decide the exit status."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import click

from graphlint import __version__, baseline, config, packs, registry
from graphlint.check import Read, check_sources, read_text
from graphlint.check import check as run
from graphlint.config import CONFIDENCES, EFFECTS, TARGETS, Config
from graphlint.errors import UsageError
from graphlint.interp import interpret
from graphlint.notices import INTERNAL
from graphlint.registry import ORDER, Registry
from graphlint.report import concise, text, totals
from graphlint.types import Report

FORMATS = ("text", "concise", "json", "github", "sarif")
STDIN = "-"
DEEPEST = 5000


class Wanted(NamedTuple):
    """How to show a report, and what makes it fail."""

    format: str
    output: str
    colour: str
    statistics: bool
    exit_zero: bool


@click.command(short_help="Find what CUDA Graph capture will refuse, freeze or waste.")
@click.argument("paths", nargs=-1)
@click.option("--format", type=click.Choice(FORMATS), default="text", show_default=True, help="How to show findings.")
@click.option("--min-confidence", type=click.Choice(list(CONFIDENCES)), help="Show findings this sure; default likely.")
@click.option("--target", type=click.Choice(list(TARGETS)), help="Raw capture, torch.compile, or both; default both.")
@click.option("--select", multiple=True, metavar="CODES", help="Run only these codes, prefixes or names.")
@click.option("--ignore", multiple=True, metavar="CODES", help="Leave these codes, prefixes or names out.")
@click.option("--exclude", multiple=True, metavar="PATTERN", help="Leave out files, as a .gitignore line would.")
@click.option("--fail-on", type=click.Choice(list(EFFECTS)), help="The mildest effect that fails; default defeats.")
@click.option("--exit-zero", is_flag=True, help="Exit 0 whatever is found.")
@click.option("--statistics", is_flag=True, help="Count findings by code instead of showing them.")
@click.option("--output", default="", metavar="FILE", help="Write the report to a file.")
@click.option("--baseline", default=None, metavar="FILE", help="Accept the findings that this file lists.")
@click.option("--write-baseline", default="", metavar="FILE", help="List all present findings in a file, and accept them.")
@click.option(
    "--evidence", default="", metavar="FILE", help="Mark what a record of `graphlint confirm` confirmed or refuted."
)
@click.option("--config", "config_file", default="", metavar="FILE", help="Read this configuration file.")
@click.option("--isolated", is_flag=True, help="Read no configuration file.")
@click.option("--stdin-filename", default="", metavar="NAME", help="The name of what is read from stdin as `-`.")
@click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto", help="When to use colours.")
def check(
    paths: tuple[str, ...],
    format: str,
    statistics: bool,
    output: str,
    color: str,
    exit_zero: bool,
    write_baseline: str,
    evidence: str,
    stdin_filename: str,
    config_file: str,
    isolated: bool,
    **options: object,
) -> None:
    """Find what CUDA Graph capture will refuse, freeze or waste in PATHS, the working folder by default.

    Exits 0 when nothing fails, 1 when something does, 2 when the command or configuration is wrong.
    """
    settings = overridden(_configured(config_file, isolated), options)
    known = registry.load(settings.rules, settings.root)
    _warn_of_stranger()
    report = _run(paths or (".",), settings, known, stdin_filename)
    report = with_evidence(report, evidence, settings.root) if evidence else report
    if write_baseline:
        _write_baseline(write_baseline, report)
        return
    wanted = Wanted(format, output, color, statistics, exit_zero)
    _show(rendered(report, wanted, known), output)
    for remark in report.remarks:
        click.echo(f"graphlint: {remark}", err=True)
    sys.exit(0 if exit_zero else status(report, settings))


def overridden(settings: Config, options: Mapping[str, object]) -> Config:
    """The configuration with what was said on the command line."""
    words: dict[str, Mapping[str, object]] = {"min_confidence": CONFIDENCES, "target": TARGETS, "fail_on": EFFECTS}
    said: dict[str, object] = {key: words[key][str(value)] for key in words if (value := options.get(key))}
    for key in ("select", "ignore"):
        given = _split(options.get(key))
        if given:
            said[key] = given
    if options.get("exclude"):
        said["exclude"] = (*settings.exclude, *_split(options["exclude"]))
    if options.get("baseline") is not None:
        said["baseline"] = os.path.abspath(str(options["baseline"])) if options["baseline"] else ""
    return replace(settings, **said)  # type: ignore[arg-type]  # each value has the type of its field


def _split(values: object) -> tuple[str, ...]:
    given = values if isinstance(values, tuple) else ()
    return tuple(word.strip() for value in given for word in value.split(",") if word.strip())


def _configured(file: str, isolated: bool) -> Config:
    if isolated:
        return Config(root=Path.cwd())
    if not file:
        return config.load(Path.cwd())
    found = config.read(Path(file).absolute())
    if found is None:
        raise UsageError(f"`{file}` has no `[tool.graphlint]` table")
    return found


def _warn_of_stranger() -> None:
    folder = packs.stranger()
    if folder:
        click.echo(f"graphlint: {packs.STRANGER_WARNING.format(folder=folder)}", err=True)


def _run(paths: Sequence[str], settings: Config, known: Registry, stdin_filename: str) -> Report:
    """Check with the cyclic garbage collector off: it finds nothing in trees, and walks them again and again."""
    was_on = gc.isenabled()
    gc.disable()
    # Expressions of generated code nest deeper than Python allows by default; the stack of a main thread holds this.
    sys.setrecursionlimit(max(DEEPEST, sys.getrecursionlimit()))
    try:
        if tuple(paths) == (STDIN,):
            return check_sources(_stdin(stdin_filename), settings, known, interpret)
        return run(paths, settings, known, interpret)
    finally:
        if was_on:
            gc.enable()


def with_evidence(report: Report, file: str, root: Path) -> Report:
    """A report whose findings say what a recorded run saw of them; raises `UsageError`."""
    record = import_module("graphlint.confirm.evidence").read(Path(file))
    findings = tuple(replace(each, evidence=record.mark(each.fingerprint)) for each in report.findings)
    old = record.changed((each.span.file for each in findings if each.evidence), root)
    remarks = tuple(f"`{each}` has changed since `{file}` was recorded" for each in old)
    return replace(report, findings=findings, remarks=(*report.remarks, *remarks))


def _stdin(name: str) -> Read:
    return read_text(sys.stdin.buffer.read(), name or "<stdin>")


def _write_baseline(file: str, report: Report) -> None:
    try:
        Path(file).write_text(baseline.written(report.findings), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"`{file}` cannot be written: {error.strerror}") from None
    click.echo(f"{totals.count(len(report.findings), 'finding')} accepted in `{file}`")
    if not report.remarks:
        click.echo(f'  to use it: `graphlint check --baseline {file}`, or `baseline = "{file}"` in `[tool.graphlint]`')


def rendered(report: Report, wanted: Wanted, known: Registry) -> str:
    """The report in the format asked for."""
    if wanted.statistics and wanted.format in ("text", "concise"):
        return totals.statistics(report) + "".join(f"{each}\n" for each in totals.sentences(report))
    if wanted.format == "text":
        return text.render(report, text.coloured if _is_coloured(wanted) else text.plain)
    if wanted.format == "concise":
        return concise.render(report)
    module = import_module(f"graphlint.report.{wanted.format}")
    if wanted.format == "sarif":
        rules = [module.Described(each.code, each.name, each.summary, each.page) for each in known.pages]
        return str(module.render(report, __version__, rules))
    return str(module.render(report, __version__) if wanted.format == "json" else module.render(report))


def _is_coloured(wanted: Wanted) -> bool:
    if wanted.colour != "auto":
        return wanted.colour == "always"
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return not wanted.output and sys.stdout.isatty()


def _show(rendering: str, output: str) -> None:
    if not output:
        sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # a terminal may not be UTF-8
        click.echo(rendering, nl=False, color=True)
        return
    try:
        Path(output).write_text(rendering, encoding="utf-8", newline="\n")
    except OSError as error:
        raise UsageError(f"`{output}` cannot be written: {error.strerror}") from None


def status(report: Report, settings: Config) -> int:
    """1 when a finding is as grave as what fails, or when something was not looked at; else 0."""
    gravest = ORDER.index(settings.fail_on)
    fails = any(ORDER.index(each.effect) >= gravest or each.code == INTERNAL.code for each in report.findings)
    return 1 if fails or report.unread else 0
