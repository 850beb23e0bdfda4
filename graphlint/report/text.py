"""A report for people: each finding with its line, the calls that lead there and the cure, then the regions.

src/model.py:41:12: GL101 breaks: `score.max().item()` reads a device value back to the host
   |
41 |         if score.max().item() > 0:
   |            ^^^^^^^^^^^^^^^^^^
   = captured in `model.Model.forward`
   = called at src/model.py:30:9 in `x = self.route(x)`
   = help: keep the decision on the device
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence

from graphlint.later import Findings, Lines, clean, worst
from graphlint.report import links
from graphlint.report.concise import label
from graphlint.report.positions import character, line_at, shown, visible
from graphlint.report.totals import faults_of, region_name, same_named, sentences
from graphlint.types import Effect, Finding, RegionReport, Report, Span

Paint = Callable[[str, str], str]
COLOURS = {Effect.BREAKS: "31", Effect.STALE: "35", Effect.DEFEATS: "33", Effect.NOTE: "36"}
BOLD, FAINT, GREEN = "1", "2", "32"
WIDEST = 110
LONGEST_CALL = 70
LISTED = 25
MADE_BY = {
    "safe": "`--fix` makes it",
    "unsafe": "`--unsafe-fixes` makes it",
    "suggestion": "to be filled in, so only editors offer it",
}


def plain(text: str, colour: str) -> str:
    """Leave text as it is."""
    return text


def coloured(text: str, colour: str) -> str:
    """Colour text for a terminal."""
    return f"\033[{colour}m{text}\033[0m"


def linked(text: str, address: str) -> str:
    """Make text a link, for terminals that know OSC 8; others show the text alone."""
    return f"\033]8;;{address}\033\\{text}\033]8;;\033\\"


def render(report: Report, paint: Paint = plain, link: Paint = plain, known: dict[str, str] | None = None) -> str:
    """The whole report; ends in a newline.

    `known` has the text of pieces that were rendered before in the same way, and takes up those that were not.
    """
    blocks = list(_pieces(report, paint, link, {} if known is None else known))
    regions = _regions(report.regions, paint)
    if regions:
        blocks.append(regions)
    blocks.append("\n".join(sentences(report)))
    return "\n\n".join(blocks) + "\n"


def _pieces(report: Report, paint: Paint, link: Paint, known: dict[str, str]) -> Iterator[str]:
    if not isinstance(report.findings, Findings):
        yield from (_finding(each, report.lines, paint, link) for each in report.findings)
        return
    for each in report.findings.pieces:
        if each.codes and each.key not in known:
            known[each.key] = "\n\n".join(_finding(one, each.lines, paint, link) for one in each.findings)
        if each.codes:
            yield known[each.key]


def _finding(finding: Finding, lines: Lines, paint: Paint, link: Paint) -> str:
    place = paint(shown(finding.span, lines) + ":", BOLD)
    code, _, rest = label(finding).partition(" ")
    page = links.page(code)
    told = f"{link(code, page) if page else code} {rest}:"
    head = f"{place} {paint(told, COLOURS[finding.effect])} {visible(finding.message)}"
    excerpt = _excerpt(finding.span, line_at(lines, finding.span.file, finding.span.line), paint, finding.effect)
    margin = " " * len(str(finding.span.line)) + paint(" = ", FAINT) if excerpt else "  " + paint("= ", FAINT)
    notes = [margin + visible(note) for note in _notes(finding, lines)]
    return "\n".join([head, *excerpt, *notes])


def _excerpt(span: Span, text: str, paint: Paint, effect: Effect) -> list[str]:
    """The line with its span underlined; a span over several lines is underlined to the end of the first."""
    if not text.strip():
        return []
    first = character(text, span.column)
    last = character(text, span.end_column) if span.end_line == span.line else len(text.rstrip())
    text, first, last = _clipped(text, first, last)
    text = visible(text)
    number = str(span.line)
    gutter = " " * len(number) + paint(" |", FAINT)
    mark = " " * _width(text[:first]) + paint("^" * max(_width(text[first:last]), 1), COLOURS[effect])
    return [gutter, f"{paint(number + ' |', FAINT)} {text.rstrip()}", f"{gutter} {mark}"]


def _clipped(text: str, first: int, last: int) -> tuple[str, int, int]:
    """A line of bearable length around what is underlined."""
    if len(text) <= WIDEST:
        return text, first, last
    start = max(0, min(first - 20, len(text) - WIDEST))
    cut = text[start : start + WIDEST]
    if start:
        cut = "…" + cut[1:]
    if start + WIDEST < len(text):
        cut = cut[:-1] + "…"
    return cut, first - start, min(last - start, WIDEST)


def _width(text: str) -> int:
    """Columns that text takes on a terminal."""
    if text.isascii():
        return len(text)
    from unicodedata import east_asian_width  # here because hardly any code needs it

    return sum(2 if east_asian_width(each) in "WF" else 1 for each in text)


def _notes(finding: Finding, lines: Lines) -> list[str]:
    said = [f"captured in `{finding.region}`{_others(finding)}"] if finding.region else []
    for step in finding.trail:
        text = line_at(lines, step.span.file, step.span.line).strip()
        said.append(f"called at {shown(step.span, lines)}{f' in `{_shortened(text)}`' if text else ''}")
    said += [finding.evidence] if finding.evidence else []
    said += [f"help: {finding.help}"] if finding.help else []
    fix = finding.fix
    return said if fix is None else [*said, f"fix: {fix.title} ({MADE_BY[fix.safety]})"]


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST_CALL else text[: LONGEST_CALL - 1] + "…"


def _others(finding: Finding) -> str:
    more = len(finding.regions) - 1
    return f" and {more} more region{'' if more == 1 else 's'}" if more > 0 else ""


def _regions(regions: Sequence[RegionReport], paint: Paint) -> str:
    """One line a region, the worst first; of many, only the worst."""
    some = worst(regions, LISTED)
    several = same_named(some)
    listed = [_region(each, paint, several) for each in some]
    rest = len(regions) - len(some)
    if rest:
        faulty = rest - clean(regions) + clean(some)
        listed.append(f"… and {rest:,} more regions, {faulty:,} of them with findings")
    return "\n".join(listed)


def _region(report: RegionReport, paint: Paint, several: Collection[str]) -> str:
    name = region_name(report, several)
    here, away = (_counts(each, paint) for each in (report.counts, report.elsewhere))
    if not away:
        return f"{name}: {here or paint('clean', GREEN)}"
    return f"{name}: {here or 'clean here'}, and {away} in files that were not given"


def _counts(counts: Sequence[tuple[str, int]], paint: Paint) -> str:
    return ", ".join(paint(faults_of(number, effect), COLOURS[Effect(effect)]) for effect, number in counts)
