"""`graphlint check --around`: the part of a report about a whole project that concerns some of its files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace

from graphlint import notebook
from graphlint.config import Config
from graphlint.discover import discover
from graphlint.registry import worst
from graphlint.types import Effect, Finding, RegionReport, Report


class Part:
    """Given files and the project around them; raises `UsageError` for a path that is not there."""

    def __init__(self, paths: Sequence[str], settings: Config) -> None:
        self.names = {each.name for each in discover(paths, settings.exclude, settings.root).files}
        self.paths = (os.path.relpath(settings.root), *paths)

    def of(self, report: Report) -> Report:
        """Findings in the given files, and those that regions of theirs lead to."""
        own = {each.region.name for each in report.regions if self._has(each.region.span.file)}
        findings = tuple(each for each in report.findings if self._has(each.span.file) or own & _regions(each))
        reached = own.union(*(_regions(each) for each in findings))
        # Of their own regions every finding is shown; of others, only what is here.
        regions = tuple(
            each if self._has(each.region.span.file) else _counted(each, findings)
            for each in report.regions
            if each.region.name in reached
        )
        unread = tuple(name for name in report.unread if self._has(name))
        shown = replace(report, findings=findings, regions=regions, unread=unread, files=len(self.names))
        return replace(shown, hidden=0, limits=0)  # which were counted for the whole project

    def _has(self, file: str) -> bool:
        return notebook.split(file)[0] in self.names


def _regions(finding: Finding) -> set[str]:
    return {name for name in (finding.region, *finding.regions) if name}


def _counted(report: RegionReport, findings: Sequence[Finding]) -> RegionReport:
    """What is predicted for a region as far as it is shown."""
    own = [each.effect for each in findings if report.region.name in _regions(each) and each.effect is not Effect.NOTE]
    counts = tuple((effect.value, own.count(effect)) for effect in Effect if effect in own)
    return replace(report, verdict=worst(own).value if own else "clean", findings=len(own), counts=counts)
