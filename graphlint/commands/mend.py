"""What `graphlint check` writes into sources: fixes, and suppressions for what is accepted."""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import click
import libcst

from graphlint import notebook
from graphlint.errors import Unreadable, UsageError, why
from graphlint.fix import marks, trial
from graphlint.fix.splice import spliced
from graphlint.fix.tree import Tree
from graphlint.report.totals import count
from graphlint.source import decode, parse_bytes
from graphlint.types import Report

Check = Callable[[Mapping[str, bytes], Sequence[str]], Report]
"""Checks with some contents changed, by absolute path: the given files, or all without any."""


def read(name: str) -> bytes:
    """The content of a reported file; raises `Unreadable`."""
    try:
        return Path(name).read_bytes()
    except OSError as error:
        raise Unreadable(f"cannot be opened: {why(error)}") from None


def fixed(report: Report, check: Check, level: str, diff: bool) -> tuple[Report, int]:
    """Fix files, or show how they would be fixed; gives the report of what is left and how many files differ."""
    done = trial.mended(report, _by_path(check), read, level, _near(check))
    show(done.texts) if diff else write(done.texts)
    said = "would be fixed" if diff else "fixed"
    click.echo(f"graphlint: {count(len(done.held), 'finding')} {said} in {count(len(done.texts), 'file')}", err=True)
    for each in done.refused:
        place = f"{each.finding.span.file}:{each.finding.span.line}"
        reason = "the fix that is known does not cure it here, or brings another"
        click.echo(f"graphlint: {place}: {each.finding.code} is left: {reason}", err=True)
    return done.report or report, len(done.texts)


def shown(report: Report, check: Check) -> Report:
    """The report with the fixes that hold, each on its own."""
    found = trial.verified(report, _by_path(check), read)
    return replace(report, findings=tuple(replace(each, fix=found.get(each.fingerprint)) for each in report.findings))


def _by_path(check: Check) -> trial.Check:
    return lambda texts: check(_paths(texts), ())


def _near(check: Check) -> trial.Near:
    return lambda texts, files: check(_paths(texts), files)


def _paths(texts: Mapping[str, bytes]) -> dict[str, bytes]:
    return {os.path.abspath(name): text for name, text in texts.items()}


def accepted(report: Report, reason: str, diff: bool) -> None:
    """Write a suppression for every finding."""
    texts = dict(marked(report, reason))
    show(texts) if diff else write(texts)
    number = sum(each.span.file in texts for each in report.findings)
    said = "would be accepted" if diff else "accepted"
    click.echo(f"graphlint: {count(number, 'finding')} {said} in {count(len(texts), 'file')}", err=True)


def marked(report: Report, reason: str) -> list[tuple[str, bytes]]:
    """The files with their findings suppressed; those about graphlint itself and those in notebooks are left."""
    found: list[tuple[str, bytes]] = []
    for file in sorted({each.span.file for each in report.findings if not each.code.startswith("GL9")}):
        if notebook.split(file)[1] is None:
            data = read(file)
            own = [each for each in report.findings if each.span.file == file and not each.code.startswith("GL9")]
            found.append((file, spliced(data, marks.edits(_tree(data, file), own, reason))))
    return found


def _tree(data: bytes, file: str) -> Tree:
    try:
        return Tree(parse_bytes(data, file))
    except libcst.ParserSyntaxError as error:
        raise UsageError(f"`{file}` cannot be written: libcst does not parse it ({error.message})") from None


def write(texts: Mapping[str, bytes]) -> None:
    for file, text in texts.items():
        try:
            Path(file).write_bytes(text)
        except OSError as error:
            raise UsageError(f"`{file}` cannot be written: {why(error)}") from None


def show(texts: Mapping[str, bytes]) -> None:
    """Changes as a unified diff on stdout."""
    for file, text in texts.items():
        click.echo("".join(_diff(file, decode(read(file)), decode(text))), nl=False)


def _diff(file: str, old: str, new: str) -> Sequence[str]:
    lines = difflib.unified_diff(old.splitlines(keepends=True), new.splitlines(keepends=True), f"a/{file}", f"b/{file}")
    return [line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines]
