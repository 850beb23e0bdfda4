"""Findings as workflow commands, which GitHub shows beside the lines of a pull request."""

from __future__ import annotations

from graphlint import notebook
from graphlint.report.positions import character, line_at
from graphlint.types import Effect, Finding, Report

LEVELS = {Effect.BREAKS: "error", Effect.STALE: "error", Effect.DEFEATS: "warning", Effect.NOTE: "notice"}


def render(report: Report) -> str:
    """One command a finding."""
    return "".join(_command(each, report) + "\n" for each in report.findings)


def _command(finding: Finding, report: Report) -> str:
    span = finding.span
    first = character(line_at(report.lines, span.file, span.line), span.column) + 1
    last = character(line_at(report.lines, span.file, span.end_line), span.end_column)
    file = _property(notebook.split(span.file)[0])
    place = f"file={file},line={span.line},endLine={span.end_line},col={first},endColumn={max(first, last)}"
    title = _property(f"{finding.code} {finding.rule}")
    text = f"{finding.message}; {finding.help}" if finding.help else finding.message
    return f"::{LEVELS[finding.effect]} {place},title={title}::{_data(text)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
