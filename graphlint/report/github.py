"""Findings as workflow commands, which GitHub shows beside the lines of a pull request."""

from __future__ import annotations

from graphlint import notebook
from graphlint.notices import is_unread
from graphlint.report.positions import cell, character, line_at
from graphlint.types import Effect, Finding, Report, Span

LEVELS = {Effect.BREAKS: "error", Effect.STALE: "error", Effect.DEFEATS: "warning", Effect.NOTE: "notice"}


def render(report: Report) -> str:
    """One command a finding."""
    return "".join(_command(each, report) + "\n" for each in report.findings)


def _command(finding: Finding, report: Report) -> str:
    file = _property(notebook.split(finding.span.file)[0])
    title = _property(f"{finding.code} {finding.rule}")
    text = cell(finding.span) + (f"{finding.message}; {finding.help}" if finding.help else finding.message)
    level = "error" if is_unread(finding, report.unread) else LEVELS[finding.effect]
    return f"::{level} file={file},{_place(finding.span, report)},title={title}::{_data(text)}"


def _place(span: Span, report: Report) -> str:
    """Columns are refused where there are several lines."""
    if cell(span):
        return "line=1"
    if span.line != span.end_line:
        return f"line={span.line},endLine={span.end_line}"
    first = character(line_at(report.lines, span.file, span.line), span.column) + 1
    last = character(line_at(report.lines, span.file, span.end_line), span.end_column)
    return f"line={span.line},endLine={span.end_line},col={first},endColumn={max(first, last)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
