"""The files of a report as the root of a repository names them, for services that know nothing of the working folder."""

from __future__ import annotations

import posixpath
from collections.abc import Callable
from dataclasses import replace

from graphlint.types import Edit, Finding, Fix, Report, Span, Step


def rebased(report: Report, folder: str) -> Report:
    """A report from a folder, with names relative to the one that contains it; `folder` is the way back, such as `src/pkg`.

    Names that are no paths below the working folder stay: absolute ones, and that of stdin.
    """

    def named(file: str) -> str:
        is_elsewhere = posixpath.isabs(file) or file[1:2] == ":" or file.startswith("<")
        return file if is_elsewhere else posixpath.normpath(posixpath.join(folder, file))

    return replace(
        report,
        findings=tuple(_finding(each, named) for each in report.findings),
        unread=tuple(map(named, report.unread)),
        lines={named(file): text for file, text in report.lines.items()},
    )


def _finding(finding: Finding, named: Callable[[str], str]) -> Finding:
    def moved(span: Span) -> Span:
        return span._replace(file=named(span.file))

    trail = tuple(Step(moved(each.span), each.function) for each in finding.trail)
    fix = finding.fix and _fix(finding.fix, moved)
    return replace(finding, span=moved(finding.span), trail=trail, fix=fix)


def _fix(fix: Fix, moved: Callable[[Span], Span]) -> Fix:
    return replace(fix, edits=tuple(Edit(moved(each.span), each.text) for each in fix.edits))
