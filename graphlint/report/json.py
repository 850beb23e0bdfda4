"""A report as one JSON object whose diagnostics are those of the language server protocol.

One diagnostic stands on a line, so that two reports can be compared by line; positions are 0-based and in UTF-16.
"""

from __future__ import annotations

import json

from graphlint import notebook
from graphlint.later import by_effect
from graphlint.report import links
from graphlint.report.positions import Lines, end, start
from graphlint.report.totals import FAULTS
from graphlint.types import Edit, Effect, Finding, Fix, RegionReport, Report, Span, Step

VERSION = 1
SEVERITIES = {Effect.BREAKS: 1, Effect.STALE: 1, Effect.DEFEATS: 2, Effect.NOTE: 3}


def render(report: Report, version: str) -> str:
    """The whole report; ends in a newline."""
    tool = json.dumps({"name": "graphlint", "version": version})
    found = _rows([diagnostic(each, report.lines) for each in report.findings])
    regions = _rows([region(each) for each in report.regions])
    return (
        f'{{"version": {VERSION},\n "tool": {tool},\n "diagnostics": {found},\n "regions": {regions},\n'
        f' "summary": {json.dumps(summary(report))}}}\n'
    )


def _rows(rows: list[dict[str, object]]) -> str:
    return "[" + ",".join("\n  " + json.dumps(row) for row in rows) + "]"


def diagnostic(finding: Finding, lines: Lines) -> dict[str, object]:
    """A finding as a diagnostic; in a notebook, positions are those of the cell that `data` names."""
    file, cell = notebook.split(finding.span.file)
    return {
        "file": file,
        "range": span_range(finding.span, lines),
        "severity": SEVERITIES[finding.effect],
        "code": finding.code,
        **({"codeDescription": {"href": page}} if (page := links.page(finding.code)) else {}),
        "source": "graphlint",
        "message": finding.message,
        "relatedInformation": [_related(step, lines) for step in finding.trail],
        "data": _data(finding, lines) | ({} if cell is None else {"cell": cell}),
    }


def _data(finding: Finding, lines: Lines) -> dict[str, object]:
    return {
        "rule": finding.rule,
        "effect": finding.effect.value,
        "targets": {target: effect.value for target, effect in finding.effects},
        "confidence": finding.confidence.word,
        "region": finding.region,
        "regions": len(finding.regions),
        "help": finding.help,
        "fix": _fix(finding.fix, lines) if finding.fix else None,
        "fingerprint": finding.fingerprint,
        **({"evidence": finding.evidence} if finding.evidence else {}),
    }


def span_range(span: Span, lines: Lines) -> dict[str, object]:
    """A span as a range of the language server protocol."""
    return {"start": start(span, lines)._asdict(), "end": end(span, lines)._asdict()}


def _related(step: Step, lines: Lines) -> dict[str, object]:
    location = {**_where(step.span), "range": span_range(step.span, lines)}
    return {"location": location, "message": "called from here"}


def _fix(fix: Fix, lines: Lines) -> dict[str, object]:
    return {"title": fix.title, "safety": fix.safety, "edits": [_edit(each, lines) for each in fix.edits]}


def _edit(edit: Edit, lines: Lines) -> dict[str, object]:
    return {**_where(edit.span), "range": span_range(edit.span, lines), "newText": edit.text}


def _where(span: Span) -> dict[str, object]:
    file, cell = notebook.split(span.file)
    return {"file": file} if cell is None else {"file": file, "cell": cell}


def region(report: RegionReport) -> dict[str, object]:
    """What is predicted for a region; its line is 1-based, as in its file or cell."""
    file, cell = notebook.split(report.region.span.file)
    return {
        "name": report.region.name,
        "kind": report.region.kind,
        "file": file,
        **({} if cell is None else {"cell": cell}),
        "line": report.region.span.line,
        "verdict": report.verdict,
        "findings": report.findings,
        "unknown_calls": report.unknown_calls,
        **({"elsewhere": dict(report.elsewhere)} if report.elsewhere else {}),
    }


def summary(report: Report) -> dict[str, int]:
    """The numbers of a run."""
    numbers = by_effect(report.findings)
    return {
        "files": report.files,
        "regions": len(report.regions),
        **{effect.value: numbers[effect.value] for effect in FAULTS},
        "notes": numbers[Effect.NOTE.value],
        "suppressed": report.suppressed,
        "hidden": report.hidden,
        "unread": len(report.unread),
        "limits": report.limits,
    }
