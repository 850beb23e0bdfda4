"""A report as SARIF 2.1.0, which code scanning services read."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from graphlint import notebook
from graphlint.report import links
from graphlint.report.fenced import fenced
from graphlint.report.positions import Lines, cell, end, in_cells, start
from graphlint.types import Edit, Effect, Finding, Fix, Report, Span, Step

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
LEVELS = {Effect.BREAKS: "error", Effect.STALE: "error", Effect.DEFEATS: "warning", Effect.NOTE: "note"}
LONGEST = 1024
"""Characters of a description that GitHub takes; `help` may be longer."""


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
        "fullDescription": {"text": _shortened(rule.page.partition("\n\nFails:")[0].strip())},
        "help": {"text": rule.page.strip(), "markdown": fenced(rule.page)},
        **({"helpUri": page} if (page := links.page(rule.code)) else {}),
    }


def _shortened(text: str) -> str:
    """A description within the length that code scanning takes, cut between two words."""
    return text if len(text) <= LONGEST else text[: text.rfind(" ", 0, LONGEST - 4)] + " ..."


def _result(finding: Finding, lines: Lines) -> dict[str, object]:
    text = cell(finding.span) + (f"{finding.message}; {finding.help}" if finding.help else finding.message)
    result: dict[str, object] = {
        "ruleId": finding.code,
        "level": LEVELS[finding.effect],
        "message": {"text": text},
        "locations": [{"physicalLocation": _physical(finding.span, lines)}],
        "partialFingerprints": {"graphlint/v1": finding.fingerprint},
        "properties": {"confidence": finding.confidence.word, "region": finding.region},
    }
    if finding.fix is not None and not in_cells(finding.fix):
        result["fixes"] = [_fix(finding.fix, lines)]
    if finding.trail:
        result["codeFlows"] = [{"threadFlows": [{"locations": _flow(finding, lines)}]}]
    return result


def _fix(fix: Fix, lines: Lines) -> dict[str, object]:
    changes = [
        {
            "artifactLocation": _artifact(file),
            "replacements": [_replacement(each, lines) for each in fix.edits if each.span.file == file],
        }
        for file in sorted({each.span.file for each in fix.edits})
    ]
    return {"description": {"text": f"{fix.title} ({fix.safety})"}, "artifactChanges": changes}


def _replacement(edit: Edit, lines: Lines) -> dict[str, object]:
    return {"deletedRegion": _region(edit.span, lines), "insertedContent": {"text": edit.text}}


def _flow(finding: Finding, lines: Lines) -> list[dict[str, object]]:
    steps = [*finding.trail, Step(finding.span, "")]
    said = [f"{cell(step.span)}called from here" for step in finding.trail] + [cell(finding.span) + finding.message]
    return [
        {"location": {"physicalLocation": _physical(step.span, lines), "message": {"text": text}}}
        for step, text in zip(steps, said)
    ]


def _physical(span: Span, lines: Lines) -> dict[str, object]:
    if cell(span):
        return {"artifactLocation": _artifact(span.file)}
    region = _region(span, lines)
    if (region["startLine"], region["startColumn"]) == (region["endLine"], region["endColumn"]):
        del region["endLine"], region["endColumn"]  # then the whole line is meant
    return {"artifactLocation": _artifact(span.file), "region": region}


def _artifact(file: str) -> dict[str, object]:
    """Files outside the working folder have absolute names, and a URI without a scheme is taken for a relative one."""
    path = notebook.split(file)[0]
    return {"uri": Path(path).as_uri() if os.path.isabs(path) else quote(path)}


def _region(span: Span, lines: Lines) -> dict[str, int]:
    first, last = start(span, lines), end(span, lines)
    return {
        "startLine": first.line + 1,
        "startColumn": first.character + 1,
        "endLine": last.line + 1,
        "endColumn": last.character + 1,
    }
