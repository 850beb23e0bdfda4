"""`graphlint check`: read the options, run, print, and decide the exit status."""

from __future__ import annotations

import gc
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import cast

import click

from graphlint import baseline, packs, registry
from graphlint.check import check as run
from graphlint.check import check_sources, home, read_found, read_text
from graphlint.commands import output as shown
from graphlint.commands import progress, quick
from graphlint.commands.options import STDIN, agree, configured, named, overridden, with_baseline
from graphlint.commands.output import Wanted
from graphlint.config import Config
from graphlint.errors import UsageError
from graphlint.frames import with_room
from graphlint.interp import interpreter
from graphlint.interp.lasting import Lasting
from graphlint.judge import Interpreter, Read
from graphlint.later import by_effect, codes
from graphlint.notices import INTERNAL
from graphlint.options import CONFIDENCES, EFFECTS, TARGETS
from graphlint.registry import ORDER, Registry
from graphlint.report import totals
from graphlint.source import spare
from graphlint.spread import Texts
from graphlint.types import Effect, Finding, Report

Kept = Callable[[Sequence[str], Config, Registry, Interpreter], Report]
"""A check that starts from what an earlier one found."""
WRITING = ("fix", "unsafe_fixes", "diff", "show_fixes", "prune_baseline", "watch", "evidence")
"""Options with which a run does more than print what it found."""
DEEPEST = 5000
WHEN = click.Choice(["auto", "always", "never"])
FORMATS = ", ".join(shown.FORMATS)


@click.command(short_help="Find what CUDA Graph capture will refuse, freeze or waste.")
@click.argument("paths", nargs=-1)
@click.option("--format", "formats", multiple=True, metavar="FORMAT[:FILE]", help=f"{FORMATS}; may be given several times.")
@click.option("--min-confidence", type=click.Choice(list(CONFIDENCES)), help="Show findings this sure; default likely.")
@click.option("--target", type=click.Choice(list(TARGETS)), help="Raw capture, torch.compile, or both; default both.")
@click.option("--torch-version", metavar="X.Y", help="Predict for this version of torch; default 2.11.")
@click.option("--select", multiple=True, metavar="CODES", help="Run only these codes, prefixes or names.")
@click.option("--ignore", multiple=True, metavar="CODES", help="Leave these codes, prefixes or names out.")
@click.option(
    "--exclude", multiple=True, callback=named, metavar="PATTERN", help="Leave out files, as a .gitignore line would."
)
@click.option("--fail-on", type=click.Choice(list(EFFECTS)), help="The mildest effect that fails; default defeats.")
@click.option("--exit-zero", is_flag=True, help="Exit 0 whatever is found.")
@click.option("--statistics", is_flag=True, help="Count findings by code instead of showing them.")
@click.option("--output", default="", callback=named, metavar="FILE", help="Write the report to a file.")
@click.option("--baseline", default=None, metavar="FILE", help="Accept the findings that this file lists.")
@click.option(
    "--write-baseline",
    default="",
    callback=named,
    metavar="FILE",
    help="List all present findings in a file, and accept them.",
)
@click.option("--prune-baseline", is_flag=True, help="Drop from the baseline what is no longer found; never adds.")
@click.option("--strict-baseline", is_flag=True, help="Fail when the baseline lists what is no longer found.")
@click.option(
    "--evidence",
    default="",
    callback=named,
    metavar="FILE",
    help="Mark what a record of `graphlint confirm` confirmed or refuted.",
)
@click.option("--fix", is_flag=True, help="Make the fixes that keep what eager code computes, and check again.")
@click.option("--unsafe-fixes", is_flag=True, help="Make the others too; each says what it may change.")
@click.option("--diff", is_flag=True, help="Show what would be written instead of writing it.")
@click.option("--show-fixes", is_flag=True, help="Show the fixes that are known, in text, json, sarif and rdjson.")
@click.option(
    "--add-ignores", default=None, metavar="REASON", help="Write a suppression with this reason for all findings."
)
@click.option(
    "--around", is_flag=True, help="Check the whole project, and show what is in PATHS or what they lead to elsewhere."
)
@click.option("--watch", is_flag=True, help="Check again whenever a file changes, until interrupted.")
@click.option("--config", "config_file", default="", callback=named, metavar="FILE", help="Read this configuration file.")
@click.option("--isolated", is_flag=True, help="Read no configuration file.")
@click.option("--cache-dir", default="", callback=named, metavar="DIR", help="Keep what is found in this folder.")
@click.option("--no-cache", is_flag=True, help="Find everything anew, and keep nothing.")
@click.option(
    "--stdin-filename", default="", callback=named, metavar="NAME", help="The name of what is read from stdin as `-`."
)
@click.option("--color", type=WHEN, default="auto", help="When to use colours; auto heeds NO_COLOR and FORCE_COLOR.")
@click.option("--hyperlinks", type=WHEN, default="auto", help="When codes link to their pages.")
def check(
    paths: tuple[str, ...],
    formats: tuple[str, ...],
    statistics: bool,
    output: str,
    color: str,
    hyperlinks: str,
    evidence: str,
    stdin_filename: str,
    config_file: str,
    isolated: bool,
    **options: object,
) -> None:
    """Find what CUDA Graph capture will refuse, freeze or waste in PATHS, the working folder by default.

    Exits 0 when nothing fails, 1 when something does, 2 when the command or configuration is wrong.
    """
    started = time.time_ns()
    wanted = Wanted(shown.sinks(formats, output), color, statistics, hyperlinks)
    asked = {"--statistics": statistics, "--show-fixes": options["show_fixes"]}
    shown.agree(wanted.sinks, [each for each, is_said in asked.items() if is_said])
    for file in filter(None, (*(each.file for each in wanted.sinks), str(options["write_baseline"]))):
        spare(file)  # before the work, not after it
    paths = paths or (".",)
    said = {**options, "evidence": evidence, "stdin_filename": stdin_filename}
    agree(paths, {**said, "config_file": config_file, "isolated": isolated})

    def settings() -> Config:
        return overridden(configured(config_file, isolated), options)

    _warn_of_stranger()
    if options["watch"]:
        import_module("graphlint.commands.watch").watched(
            paths, settings, lambda: _once(paths, settings(), wanted, said, started)
        )
    sys.exit(_once(paths, settings(), wanted, said, started))


def _once(paths: Sequence[str], settings: Config, wanted: Wanted, options: Mapping[str, object], started: int) -> int:
    """Check and show, and write what was asked for; gives the exit status."""
    with_baseline(settings, options)
    known = registry.load(settings.rules, settings.root, settings.packs)
    # Imported only where it is asked for, like what keeps results.
    part = import_module("graphlint.commands.around").Part(paths, settings) if options["around"] else None
    # Imported only where something is kept, which takes as long as reading a small file.
    keeper = None if options["no_cache"] or quick.is_off(os.environ) else import_module("graphlint.commands.cache")
    cache = keeper and keeper.opened(settings, options, started, paths if part is None else part.paths[:1])
    paths = part.paths if part is not None else paths

    def again(texts: Mapping[str, bytes], files: Sequence[str]) -> Report:
        kept = None if texts or files or cache is None else cache.checked
        found = checked(files or paths, settings, known, str(options["stdin_filename"]), texts, kept)
        return found if part is None or files else part.of(found)

    report = again({}, ())
    if options["add_ignores"] is not None:
        mend = import_module("graphlint.commands.mend")
        mend.accepted(report, str(options["add_ignores"]), bool(options["diff"]), known, settings)
        return 0

    report = _mended(report, again, options, paths)
    report = with_evidence(report, str(options["evidence"]), settings.root) if options["evidence"] else report
    if options["write_baseline"]:
        _write_baseline(str(options["write_baseline"]), report, settings)
        return 0
    text = shown.show(report, wanted, known, cache.pieces if cache else {})
    _say(report, settings, bool(options["prune_baseline"]))
    stale = report.gone and options["strict_baseline"] and not options["prune_baseline"]
    code = 0 if options["exit_zero"] else 1 if stale else status(report, settings)
    if cache and not any(options[each] for each in WRITING) and not any(each.file for each in wanted.sinks):
        if not report.remarks and not report.gone:
            cache.remember(text, code, report, settings, known)
    return code


def _mended(
    report: Report,
    again: Callable[[Mapping[str, bytes], Sequence[str]], Report],
    options: Mapping[str, object],
    paths: Sequence[str],
) -> Report:
    """Make or show fixes, as far as that was asked for; only then is what knows how imported."""
    level = "unsafe" if options["unsafe_fixes"] else "safe" if options["fix"] or options["diff"] else ""
    if not level and not options["show_fixes"]:
        return report
    if STDIN in paths:
        raise UsageError("what is read from stdin has no fixes that could be shown", "give the file by name")
    mend = import_module("graphlint.commands.mend")
    if not level:
        return cast(Report, mend.shown(report, again))
    left, changed = mend.fixed(report, again, level, bool(options["diff"]))
    if options["diff"]:
        sys.exit(1 if changed and not options["exit_zero"] else 0)
    return cast(Report, left)


def _warn_of_stranger() -> None:
    folder = packs.stranger()
    if folder:
        click.echo(f"graphlint: {packs.STRANGER_WARNING.format(folder=folder)}", err=True)


_lasting: list[Lasting] = []
"""What the last check computed: the end of the process is the cheapest way to be rid of a million objects."""


def checked(
    paths: Sequence[str],
    settings: Config,
    known: Registry,
    stdin_filename: str = "",
    unsaved: Mapping[str, bytes] = MappingProxyType({}),
    kept: Kept | None = None,
) -> Report:
    """Check once, as a command does; a language server has its own way."""
    with _collecting_nothing(), _nesting_deeply(), progress.told("checking"):
        _lasting[:] = [Lasting()]
        interpret = interpreter(settings, unsaved, *_lasting)
        if tuple(paths) == (STDIN,):
            return with_room(lambda: check_sources(_stdin(stdin_filename), settings, known, interpret))
        if kept is not None:
            return with_room(lambda: kept(paths, settings, known, interpret))
        return with_room(lambda: run(paths, settings, known, interpret, unsaved))


@contextmanager
def _collecting_nothing() -> Iterator[None]:
    """Leave the trees of this run alone: a collector finds nothing in them, and walks them again and again.

    What an earlier check of this process left goes first.
    """
    if _lasting:
        _lasting.clear()
        gc.unfreeze()
        gc.collect()
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.freeze()
            gc.enable()


@contextmanager
def _nesting_deeply() -> Iterator[None]:
    """Expressions of generated code nest deeper than Python allows by default; the stack of a main thread holds this."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(DEEPEST, limit))
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


def with_evidence(report: Report, file: str, root: Path) -> Report:
    """A report whose findings say what a recorded run saw of them; raises `UsageError`."""
    record = import_module("graphlint.confirm.evidence").read(Path(file))
    findings = tuple(replace(each, evidence=record.mark(each.fingerprint)) for each in report.findings)
    old = record.changed((each.span.file for each in findings if each.evidence), root)
    remarks = tuple(f"`{each}` has changed since `{file}` was recorded" for each in old)
    return replace(report, findings=findings, remarks=(*report.remarks, *remarks))


def _stdin(name: str) -> Read:
    if sys.stdin is None:
        raise UsageError("`-` stands for stdin, which is closed", "give the file by name, or pipe it in")
    return read_text(sys.stdin.buffer.read(), name or "<stdin>")


def _write_baseline(file: str, report: Report, settings: Config) -> None:

    shown.written(baseline.written(report.findings, lambda name: home(name, Texts((), read_found), settings)), file)
    click.echo(f"{totals.count(len(report.findings), 'finding')} accepted in `{file}`{_by_code(report.findings)}")
    if not report.remarks:
        click.echo(f'  to use it: `graphlint check --baseline {file}`, or `baseline = "{file}"` in `[tool.graphlint]`')


def _by_code(findings: Sequence[Finding]) -> str:
    counted = sorted(Counter(each.code for each in findings).items())
    return ": " + ", ".join(f"{code} {number:,}" for code, number in counted) if counted else ""


def _say(report: Report, settings: Config, prune: bool) -> None:
    """Remarks go to stderr, so that a report on stdout stays what its format says."""
    for remark in report.remarks:
        click.echo(f"graphlint: {remark}", err=True)
    if not report.gone:
        return
    many = totals.count(len(report.gone), "entry").replace("entrys", "entries")
    if not prune:
        hint = "`--prune-baseline` drops what is no longer found"
        click.echo(f"graphlint: the baseline lists {many} too many; {hint}", err=True)
        return
    path = settings.root / settings.baseline
    shown.written(baseline.pruned(baseline.load(path), report.gone), str(path))
    click.echo(f"graphlint: {many} dropped from the baseline", err=True)


def status(report: Report, settings: Config) -> int:
    """1 when a finding is as grave as what fails, or when something was not looked at; else 0."""
    gravest = ORDER.index(settings.fail_on)
    fails = any(number and ORDER.index(Effect(effect)) >= gravest for effect, number in by_effect(report.findings).items())
    return 1 if fails or report.unread or INTERNAL.code in codes(report.findings) else 0
