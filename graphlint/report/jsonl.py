"""A report as JSON lines: every diagnostic, then every region, then the summary, each an object with its `type`."""

from __future__ import annotations

import json
from collections.abc import Iterator

from graphlint.report.json import diagnostic, region, summary
from graphlint.types import Report


def render(report: Report) -> str:
    """One object a line, so that a reader can begin before the end."""
    return "".join(json.dumps(each) + "\n" for each in _objects(report))


def _objects(report: Report) -> Iterator[dict[str, object]]:
    for finding in report.findings:
        yield {"type": "diagnostic", **diagnostic(finding, report.lines)}
    for each in report.regions:
        yield {"type": "region", **region(each)}
    yield {"type": "summary", **summary(report)}
