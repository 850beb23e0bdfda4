"""A report as JUnit XML: a suite a file, a failed case a finding, and a case that passed for every clean region."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from xml.sax.saxutils import escape, quoteattr

from graphlint import notebook
from graphlint.notices import is_unread
from graphlint.report.positions import shown
from graphlint.report.totals import same_named
from graphlint.types import Effect, Finding, RegionReport, Report

FORBIDDEN = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 cannot hold in any spelling."""


def render(report: Report) -> str:
    """The whole document; ends in a newline."""
    findings: dict[str, list[Finding]] = defaultdict(list)
    for each in report.findings:
        findings[notebook.split(each.span.file)[0]].append(each)
    clean: dict[str, list[RegionReport]] = defaultdict(list)
    for one in report.regions:
        if not one.findings:
            clean[notebook.split(one.region.span.file)[0]].append(one)
    suites = [_suite(name, findings[name], clean[name], report) for name in sorted({*findings, *clean})]
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="graphlint">\n{"".join(suites)}</testsuites>\n'


def _suite(name: str, findings: Sequence[Finding], clean: Sequence[RegionReport], report: Report) -> str:
    failures = sum(each.effect is not Effect.NOTE for each in findings)
    errors = sum(is_unread(each, report.unread) for each in findings)
    head = f'tests="{len(findings) + len(clean)}" failures="{failures}" errors="{errors}" skipped="0"'
    cases = [_failed(name, each, report) for each in findings]
    cases += [f"  <testcase{_attributes(classname=name, name=each)}/>\n" for each in _told_apart(clean)]
    return f" <testsuite{_attributes(name=name)} {head}>\n{''.join(cases)} </testsuite>\n"


def _told_apart(clean: Sequence[RegionReport]) -> Iterator[str]:
    """The names of regions, with the line where several share one: of cases with one name readers keep the last."""
    several = same_named(clean)
    for each in clean:
        yield f"{each.region.name}:{each.region.span.line}" if each.region.name in several else each.region.name


def _failed(name: str, finding: Finding, report: Report) -> str:
    """A note is a case that passed and says something, unless it says that nothing was looked at."""
    place = shown(finding.span, report.lines)
    title = _attributes(classname=name, name=f"{finding.code} {finding.rule} {place}")
    text = escape(_legal(f"{place}: {finding.message}" + (f"\nhelp: {finding.help}" if finding.help else "")))
    is_error = is_unread(finding, report.unread)
    if finding.effect is Effect.NOTE and not is_error:
        return f"  <testcase{title}>\n   <system-out>{text}</system-out>\n  </testcase>\n"
    kind = _attributes(type=finding.rule if is_error else finding.effect.value, message=finding.message)
    tag = "error" if is_error else "failure"
    return f"  <testcase{title}>\n   <{tag}{kind}>{text}</{tag}>\n  </testcase>\n"


def _attributes(**values: str) -> str:
    return "".join(f" {name}={quoteattr(_legal(value))}" for name, value in values.items())


def _legal(text: str) -> str:
    return FORBIDDEN.sub("\ufffd", text)
