"""A finding far from its region shows every call on the way."""

from __future__ import annotations

from pathlib import Path

from graphlint.check import check
from graphlint.config import Config
from graphlint.interp import interpret
from graphlint.registry import Registry
from graphlint.report.positions import line_at
from graphlint.report.text import render

FAR = Path(__file__).parents[1] / "fixtures" / "programs" / "far_read"


def test_a_read_three_calls_and_two_files_away_shows_the_whole_trail(rules: Registry) -> None:
    report = check([str(FAR)], Config(root=FAR), rules, interpret)
    (found,) = report.findings
    assert found.span.file.endswith("counting.py")
    assert found.region.endswith("model.Model.forward")
    calls = [line_at(report.lines, step.span.file, step.span.line).strip() for step in found.trail]
    assert calls == [
        "return self.router.dispatch(h) + h",
        "return h * self.plan(scores)",
        "return largest(scores.argmax(-1))",
    ]
    shown = render(report)
    assert [line for call in calls for line in shown.splitlines() if call in line and "= called at" in line]
    assert shown.count("= called at") == 3
