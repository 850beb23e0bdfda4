"""A report as Markdown, for the summary of a workflow run or a comment on a change."""

from __future__ import annotations

from collections.abc import Collection

from graphlint.report import links
from graphlint.report.concise import label
from graphlint.report.positions import shown, visible
from graphlint.report.totals import faults_of, region_name, same_named, sentences
from graphlint.types import Finding, RegionReport, Report

LISTED = 100
HEAD = "| place | finding | what happens | help |\n| --- | --- | --- | --- |\n"
REGIONS = "| region | prediction |\n| --- | --- |\n"


def render(report: Report) -> str:
    """A headline, a table of findings and a table of the regions that have some."""
    parts = ["## graphlint\n\n" + "  \n".join(_text(each) for each in sentences(report)) + "\n"]
    if report.findings:
        parts.append(HEAD + "".join(_row(each, report) for each in report.findings[:LISTED]))
    if len(report.findings) > LISTED:
        parts.append(f"and {len(report.findings) - LISTED:,} more\n")
    faulty = [each for each in report.regions if each.counts]
    if faulty:
        several = same_named(report.regions)
        parts.append(REGIONS + "".join(_region(each, several) for each in faulty[:LISTED]))
    return "\n".join(parts)


def _row(finding: Finding, report: Report) -> str:
    code, _, rest = label(finding).partition(" ")
    place, page = f"`{shown(finding.span, report.lines)}`", f"{_linked(code)} {rest}"
    cells = (place, page, finding.message, finding.help)
    return f"| {' | '.join(_text(cell) for cell in cells)} |\n"


def _linked(code: str) -> str:
    page = links.page(code)
    return f"[{code}]({page})" if page else code


def _region(report: RegionReport, several: Collection[str]) -> str:
    told = ", ".join(faults_of(number, effect) for effect, number in report.counts)
    return f"| {_text(region_name(report, several))} | {told} |\n"


def _text(text: str) -> str:
    """Text that cannot end a cell; markup outside code is left, as messages hold none."""
    return visible(text.replace("\n", " ")).replace("|", "\\|")
