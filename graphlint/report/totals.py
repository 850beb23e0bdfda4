"""The numbers under a report: how many findings of each effect, and in how much code."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable

from graphlint.later import beyond, by_effect, clean, codes
from graphlint.report.positions import visible
from graphlint.types import Effect, RegionReport, Report

FAULTS = (Effect.BREAKS, Effect.STALE, Effect.DEFEATS)


def count(number: int, noun: str) -> str:
    """`1 finding`, `2 findings`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def faults_of(number: int, effect: str) -> str:
    """`1 break`, `2 breaks`, `3 stale`."""
    noun = {"breaks": "break", "defeats": "defeat"}.get(effect)
    return count(number, noun) if noun else f"{number:,} {effect}"


def same_named(regions: Iterable[RegionReport]) -> frozenset[str]:
    """Names that several regions have: a function that captures twice is two."""
    count = Counter(each.region.name for each in regions)
    return frozenset(name for name, number in count.items() if number > 1)


def region_name(report: RegionReport, several: Collection[str]) -> str:
    """The name of a region, with its place if several have that name."""
    span = report.region.span
    place = f" at {span.file}:{span.line}" if report.region.name in several else ""
    return visible(f"`{report.region.name}`{place}")


def sentences(report: Report) -> list[str]:
    """What a run found and read, and what it leaves out, one sentence a line."""
    said = [f"{_found(report)} in {_read(report)}"]
    if report.unread:
        said.append(f"{count(len(report.unread), 'file')} could not be read and checked")
    if report.suppressed:
        said.append(f"{count(report.suppressed, 'finding')} suppressed")
    if report.hidden:
        said.append(f"{count(report.hidden, 'less certain finding')} hidden; `--min-confidence possible` shows all")
    if number := beyond(report.regions):
        lead = "region leads" if number == 1 else "regions lead"
        said.append(f"{number:,} {lead} to findings in files that were not given; `--around` shows them")
    if report.templates:
        said.append(f"{count(report.templates, 'template')} left to the files that were generated from them")
    if report.limits and "GL904" not in codes(report.findings):
        said.append(f"the analysis stopped short at {count(report.limits, 'place')}; `--select GL904` lists them")
    if report.files > len(report.unread) and not report.regions:
        said.append("no captured region was found; `# graphlint: region` above a `def` marks one")
    return said


def _found(report: Report) -> str:
    numbers = by_effect(report.findings)
    kinds = ", ".join(faults_of(numbers[effect.value], effect.value) for effect in FAULTS if numbers[effect.value])
    notes = count(numbers[Effect.NOTE.value], "note") if numbers[Effect.NOTE.value] else ""
    faults = count(sum(numbers[effect.value] for effect in FAULTS), "finding")
    if kinds:
        return f"{faults} ({kinds}){' and ' + notes if notes else ''}"
    return notes or "no findings"


def _read(report: Report) -> str:
    spotless = clean(report.regions)
    regions = count(len(report.regions), "region")
    if report.regions:
        regions += " (all clean)" if spotless == len(report.regions) else f" ({spotless:,} clean)"
    return f"{count(report.files, 'file')}, {regions}"


def statistics(report: Report) -> str:
    """Findings by code, the commonest first, as a table."""
    counted = Counter((each.code, each.rule) for each in report.findings)
    ordered = sorted(counted.items(), key=lambda item: (-item[1], item[0]))
    return "".join(f"{number:7,}  {code}  {rule}\n" for (code, rule), number in ordered)
