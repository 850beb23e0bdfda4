"""What `graphlint check` writes into sources: fixes, and suppressions for what is accepted."""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import click
import libcst

from graphlint import notebook, notices
from graphlint.config import Config
from graphlint.errors import Unreadable, UsageError, why
from graphlint.fix import cells, marks, trial
from graphlint.fix.splice import spliced
from graphlint.fix.tree import Tree
from graphlint.generated import origin
from graphlint.registry import Registry
from graphlint.report.totals import count
from graphlint.source import decode, parse_bytes
from graphlint.types import Edit, Finding, Fix, Report

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
    held = trial.verified(report, _by_path(check), read, near=_near(check))
    found = {key: _in_cells(fix) for key, fix in held.items()}
    findings = tuple(replace(each, fix=found.get(each.fingerprint)) for each in report.findings)
    told = f"{sum(each.fix is not None for each in findings):,} of {count(len(findings), 'finding')} can be fixed"
    return replace(report, findings=findings, remarks=(*report.remarks, told))


def _in_cells(fix: Fix) -> Fix:
    """A fix with its edits in notebooks told by cell."""
    return replace(fix, edits=tuple(_told(each) for each in fix.edits))


def _told(edit: Edit) -> Edit:
    return cells.in_cell(edit, read(edit.span.file)) if edit.span.file.endswith(notebook.SUFFIX) else edit


def _by_path(check: Check) -> trial.Check:
    return lambda texts: check(_paths(texts), ())


def _near(check: Check) -> trial.Near:
    return lambda texts, files: check(_paths(texts), files)


def _paths(texts: Mapping[str, bytes]) -> dict[str, bytes]:
    return {os.path.abspath(name): text for name, text in texts.items()}


def accepted(report: Report, reason: str, diff: bool, known: Registry, settings: Config) -> None:
    """Suppress every finding outside generated files; raises `UsageError` for a reason that no comment can hold."""
    if len(reason.splitlines()) > 1:
        raise UsageError("a reason for suppressions is one line", "give it to `--add-ignores` without a line break")
    if not reason.strip():
        raise UsageError("`--add-ignores` is given no reason", 'say why, such as `--add-ignores "runs before the capture"`')
    form = marks.Form(known.words, reason.strip(), settings.require_reasons)
    texts: dict[str, bytes] = {}
    left: list[tuple[Finding, str]] = []
    for file, own in _by_file(report):
        if named := origin(read(file)):
            left += ((each, f"the file is generated from `{named}`; accept it there or in a baseline") for each in own)
        else:
            texts[file], missed = marked(file, own, form)
            left += ((each, "no comment reaches it") for each in missed)
    show(texts) if diff else write(texts)
    number = sum(not each.code.startswith(notices.FAMILY) for each in report.findings) - len(left)
    said = "would be accepted" if diff else "accepted"
    click.echo(f"graphlint: {count(number, 'finding')} {said} in {count(len(texts), 'file')}", err=True)
    for each, cause in left:
        click.echo(f"graphlint: {each.span.file}:{each.span.line}: {each.code} is left: {cause}", err=True)


def _by_file(report: Report) -> Iterator[tuple[str, list[Finding]]]:
    """The findings of each file that a comment can accept: those about graphlint itself are none."""
    found: dict[str, list[Finding]] = {}
    for each in report.findings:
        if not each.code.startswith(notices.FAMILY):
            found.setdefault(notebook.split(each.span.file)[0], []).append(each)
    yield from sorted(found.items())


def marked(file: str, findings: Sequence[Finding], form: marks.Form) -> tuple[bytes, list[Finding]]:
    """A file with its findings suppressed, and those that still are not."""
    data = read(file)
    is_notebook = file.endswith(notebook.SUFFIX)
    there = [replace(each, span=cells.whole(each.span, data)) for each in findings] if is_notebook else findings
    edits = list(marks.edits(_tree(data, file), there, form))
    new = (cells.spliced if is_notebook else spliced)(data, edits)
    missed = marks.missed(parse_bytes(new, file), there, edits, form)
    return new, [each for each, moved in zip(findings, there) if moved in missed]


def _tree(data: bytes, file: str) -> Tree:
    try:
        return Tree(parse_bytes(data, file))
    except libcst.ParserSyntaxError as error:
        raise UsageError(f"`{file}` cannot be written: libcst does not parse it ({error.message})") from None


def write(texts: Mapping[str, bytes]) -> None:
    """Write all files or, where it shows before that one cannot be written, none; raises `UsageError`."""
    for file in texts:
        if not os.access(file, os.W_OK):
            hint = "nothing was changed; make it writable, or leave it out with `--exclude`"
            raise UsageError(f"`{file}` cannot be written", hint)
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
