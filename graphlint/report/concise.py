"""One line a finding, for grep and for editors that read compilers' output."""

from __future__ import annotations

from graphlint.report.positions import shown, visible
from graphlint.report.totals import sentences
from graphlint.types import Confidence, Effect, Finding, Report


def render(report: Report) -> str:
    """The findings, then what the run read."""
    rows = [f"{shown(each.span, report.lines)}: {label(each)} {visible(each.message)}\n" for each in report.findings]
    return "".join(rows) + "".join(f"{sentence}\n" for sentence in sentences(report))


def label(finding: Finding) -> str:
    """`GL101 breaks`, with what restricts it: `GL801 defeats (compile, likely)`."""
    if finding.effect is Effect.NOTE:
        return f"{finding.code} note"
    limits = [finding.effects[0][0]] if len(finding.effects) == 1 else []
    if finding.confidence is not Confidence.CERTAIN:
        limits.append(finding.confidence.word)
    return f"{finding.code} {finding.effect.value}{' (' + ', '.join(limits) + ')' if limits else ''}"
