"""Findings as a GitLab code quality report: a list of issues, each with a fingerprint that is its own."""

from __future__ import annotations

import json

from graphlint import notebook
from graphlint.notices import top
from graphlint.report.positions import cell, character, line_at
from graphlint.types import Effect, Finding, Report

SEVERITIES = {Effect.BREAKS: "critical", Effect.STALE: "critical", Effect.DEFEATS: "major", Effect.NOTE: "info"}


def render(report: Report) -> str:
    """The list; ends in a newline."""
    return json.dumps([_issue(each, report) for each in report.findings], indent=1) + "\n"


def _issue(finding: Finding, report: Report) -> dict[str, object]:
    span = finding.span if not cell(finding.span) else top(notebook.split(finding.span.file)[0])
    first = character(line_at(report.lines, span.file, span.line), span.column) + 1
    last = character(line_at(report.lines, span.file, span.end_line), span.end_column) + 1
    positions = {"begin": {"line": span.line, "column": first}, "end": {"line": span.end_line, "column": last}}
    return {
        "description": f"{finding.code}: {cell(finding.span)}{finding.message}",
        "check_name": finding.rule,
        "fingerprint": finding.fingerprint,
        "severity": SEVERITIES[finding.effect],
        "location": {"path": notebook.split(span.file)[0], "positions": positions},
    }
