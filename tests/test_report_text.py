"""What people read in a terminal."""

from __future__ import annotations

import re
from dataclasses import replace

from graphlint.report import concise, markdown, text, totals
from graphlint.types import Region, RegionReport, Report, Span
from tests.sample import CLEAN, LINES, OTHER, READ, REPORT

SHOWN = """\
src/model.py:4:9: GL404 stale (graph, likely): `self.calls` is a host counter that changes only at capture, never on replay
  |
4 |         self.calls += 1
  |         ^^^^^^^^^^^^^^^
  = captured in `model.Model.forward`

src/old.py:7:1: GL901 note: `src/old.py` does not parse as Python 3.11: invalid syntax
  = help: mend it

src/route.py:2:16: GL101 breaks: `x.max().item()` reads a device value back to the host
  |
2 |     return x[: x.max().item()]
  |                ^^^^^^^^^^^^^^
  = captured in `model.Model.forward` and 1 more region
  = called at src/model.py:3:31 in `note = "größe 𝄞"; y = self.route(x)`
  = help: keep it on the device
  = fix: drop the read (`--unsafe-fixes` makes it)

`model.Model.forward`: 1 break, 1 stale
`model.Other.forward`: clean

2 findings (1 break, 1 stale) and 1 note in 3 files, 2 regions (1 clean)
1 file could not be read and checked
2 findings suppressed
1 less certain finding hidden; `--min-confidence possible` shows all
"""


def test_a_finding_shows_its_line_its_trail_and_its_cure() -> None:
    assert text.render(REPORT) == SHOWN


def test_a_long_call_is_cut_and_says_so() -> None:
    call = f"y = self.route({'x + ' * 30}x)"
    lines = {**LINES, "src/model.py": (*LINES["src/model.py"][:2], call, *LINES["src/model.py"][3:])}
    shown = text.render(replace(REPORT, lines=lines))
    assert f"in `{call[:69]}…`\n" in shown


def test_colours_change_nothing_but_colours() -> None:
    painted = text.render(REPORT, text.coloured)
    assert painted != SHOWN
    assert re.sub(r"\033\[\d+m", "", painted) == SHOWN


def test_a_clean_run_says_so() -> None:
    assert text.render(CLEAN) == "`model.Other.forward`: clean\n\nno findings in 1 file, 1 region (all clean)\n"


def test_a_run_without_regions_says_what_to_do() -> None:
    assert "`# graphlint: region` above a `def` marks one" in text.render(Report((), files=2))


def test_a_file_that_was_not_read_is_never_called_clean() -> None:
    report = Report((REPORT.findings[1],), files=1, unread=("src/old.py",))
    assert "no findings" not in text.render(report)
    assert "could not be read and checked" in concise.render(report)


def test_long_lines_are_clipped_around_the_span() -> None:
    long = "a = [" + "1, " * 400 + "x.item()" + ", 2" * 400 + "]"
    start = long.index("x.item()")
    found = replace(READ, span=Span("long.py", 1, start, 1, start + 8), trail=())
    shown = text.render(Report((found,), lines={"long.py": (long,)})).splitlines()
    assert len(shown[2]) <= text.WIDEST + 8
    assert shown[2][shown[3].index("^") : shown[3].rindex("^") + 1] == "x.item()"


def test_wide_characters_and_tabs_keep_the_underline_in_place() -> None:
    line = "\tname = '宽'; x.item()"
    start = len(line[: line.index("x.item()")].encode())
    found = replace(READ, span=Span("w.py", 1, start, 1, start + 8), trail=())
    shown = text.render(Report((found,), lines={"w.py": (line,)})).splitlines()
    assert shown[2] == "1 |  name = '宽'; x.item()"
    assert shown[3].index("^") == shown[2].index("x.item()") + 1


def test_a_span_over_several_lines_is_underlined_on_the_first() -> None:
    found = replace(READ, span=Span("src/model.py", 4, 8, 5, 16), trail=())
    shown = text.render(Report((found,), lines=LINES)).splitlines()
    assert shown[3] == "  |         ^^^^^^^^^^^^^^^"


def test_of_many_regions_the_worst_are_listed() -> None:
    regions = [RegionReport(Region(f"m.C{n:03}.forward", "module", OTHER.span), "clean", 0, 0) for n in range(200)]
    bad = RegionReport(Region("m.Z.forward", "module", OTHER.span), "stale", 1, 0, (("stale", 1),))
    shown = text.render(Report((), (*regions, bad), files=1))
    assert shown.startswith("`m.Z.forward`: 1 stale\n")
    assert "… and 176 more regions, 0 of them with findings" in shown


def test_regions_of_one_name_are_told_apart_by_their_place() -> None:
    spans = (Span("m.py", 13, 9, 13, 13), Span("m.py", 15, 9, 15, 13))
    twice = [Region("m.capture", "capture", span) for span in spans]
    broken = RegionReport(twice[1], "breaks", 2, 0, (("breaks", 2),))
    report = Report((), (RegionReport(twice[0], "clean", 0, 0), broken, REPORT.regions[0]), files=1)
    shown = text.render(report)
    assert "`m.capture` at m.py:15: 2 breaks\n" in shown
    assert "`m.capture` at m.py:13: clean\n" in shown
    assert "`model.Model.forward`: " in shown
    assert "| `m.capture` at m.py:15 | 2 breaks |" in markdown.render(report)


def test_concise_is_one_line_a_finding() -> None:
    shown = concise.render(REPORT).splitlines()
    assert shown[2] == "src/route.py:2:16: GL101 breaks `x.max().item()` reads a device value back to the host"


def test_statistics_count_by_code() -> None:
    assert totals.statistics(replace(REPORT, findings=(READ, READ, REPORT.findings[0]))) == (
        "      2  GL101  host-read\n      1  GL404  host-mutation\n"
    )
