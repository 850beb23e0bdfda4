"""A report as SARIF 2.1.0, which code scanning services read."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import quote

from graphlint import notebook
from graphlint.report import links
from graphlint.report.positions import Lines, end, start
from graphlint.types import Effect, Finding, Report, Span, Step

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
LEVELS = {Effect.BREAKS: "error", Effect.STALE: "error", Effect.DEFEATS: "warning", Effect.NOTE: "note"}


class Described(NamedTuple):
    """A rule as a report describes it."""

    code: str
    name: str
    summary: str
    page: str


def render(report: Report, version: str, rules: Sequence[Described]) -> str:
    """The whole report; only rules with findings are described."""
    codes = sorted({each.code for each in report.findings})
    known = {each.code: each for each in rules}
    driver = {
        "name": "graphlint",
        "semanticVersion": version,
        "informationUri": links.DOCS,
        "rules": [_rule(known[code]) for code in codes if code in known],
    }
    results = [_result(each, report.lines) for each in report.findings]
    run = {"tool": {"driver": driver}, "columnKind": "utf16CodeUnits", "results": results}
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1) + "\n"


def _rule(rule: Described) -> dict[str, object]:
    return {
        "id": rule.code,
        "name": "".join(word.capitalize() for word in rule.name.split("-")),
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": rule.page.strip()},
        "helpUri": links.page(rule.code),
    }


def _result(finding: Finding, lines: Lines) -> dict[str, object]:
    text = f"{finding.message}; {finding.help}" if finding.help else finding.message
    result: dict[str, object] = {
        "ruleId": finding.code,
        "level": LEVELS[finding.effect],
        "message": {"text": text},
        "locations": [{"physicalLocation": _physical(finding.span, lines)}],
        "partialFingerprints": {"graphlint/v1": finding.fingerprint},
        "properties": {"confidence": finding.confidence.word, "region": finding.region},
    }
    if finding.trail:
        result["codeFlows"] = [{"threadFlows": [{"locations": _flow(finding, lines)}]}]
    return result


def _flow(finding: Finding, lines: Lines) -> list[dict[str, object]]:
    steps = [*finding.trail, Step(finding.span, "")]
    said = ["called from here"] * len(finding.trail) + [finding.message]
    return [
        {"location": {"physicalLocation": _physical(step.span, lines), "message": {"text": text}}}
        for step, text in zip(steps, said)
    ]


def _physical(span: Span, lines: Lines) -> dict[str, object]:
    first, last = start(span, lines), end(span, lines)
    region = {"startLine": first.line + 1, "startColumn": first.character + 1}
    if (last.line, last.character) > (first.line, first.character):
        region |= {"endLine": last.line + 1, "endColumn": last.character + 1}
    return {"artifactLocation": {"uri": quote(notebook.split(span.file)[0])}, "region": region}
