"""Findings in the format of reviewdog; its lines and columns count from 1, columns in UTF-8 bytes."""

from __future__ import annotations

import json

from graphlint import notebook
from graphlint.report import links
from graphlint.report.positions import cell, in_cells
from graphlint.types import Effect, Finding, Report, Span

SEVERITIES = {Effect.BREAKS: "ERROR", Effect.STALE: "ERROR", Effect.DEFEATS: "WARNING", Effect.NOTE: "INFO"}


def render(report: Report) -> str:
    """One object; ends in a newline."""
    found = [_diagnostic(each) for each in report.findings]
    return json.dumps({"source": {"name": "graphlint", "url": links.DOCS}, "diagnostics": found}, indent=1) + "\n"


def _diagnostic(finding: Finding) -> dict[str, object]:
    told: dict[str, object] = {
        "message": cell(finding.span) + (f"{finding.message}; {finding.help}" if finding.help else finding.message),
        "location": _location(finding.span),
        "severity": SEVERITIES[finding.effect],
        "code": {"value": finding.code, **({"url": page} if (page := links.page(finding.code)) else {})},
    }
    if finding.trail:
        told["relatedLocations"] = [
            {"message": f"{cell(step.span)}called from here", "location": _location(step.span)} for step in finding.trail
        ]
    if finding.fix is not None and not in_cells(finding.fix):
        told["suggestions"] = [{"range": _range(edit.span), "text": edit.text} for edit in finding.fix.edits]
    return told


def _location(span: Span) -> dict[str, object]:
    path = notebook.split(span.file)[0]
    return {"path": path} if cell(span) else {"path": path, "range": _range(span)}


def _range(span: Span) -> dict[str, dict[str, int]]:
    return {
        "start": {"line": span.line, "column": span.column + 1},
        "end": {"line": span.end_line, "column": span.end_column + 1},
    }
