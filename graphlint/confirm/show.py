"""Outcomes and verdicts as text, as JSON and as a table; every function is pure."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from graphlint.confirm import codec
from graphlint.confirm.outcome import Difference, Outcome, Refusal, StateChange
from graphlint.confirm.ranks import shown
from graphlint.confirm.reconcile import CONFIRMED, IDLE, REFUTED, Reconciled
from graphlint.report.totals import count

WORDS = {
    "captures": "captures, and replays are equal to eager", "refused": "refused",
    "stale": "captures, but replays are wrong", "not-run": "not run",
}  # fmt: skip
SHOWN, CHANGES = 3, 6


def status(outcomes: Iterable[Outcome]) -> int:
    """The exit status: 2 when a target could not be run, 1 when one does not capture or replays wrong, 0 otherwise."""
    results = {each.result for each in outcomes}
    return 2 if "not-run" in results else int(bool(results & {"refused", "stale"}))


def text(outcome: Outcome, found: Reconciled, printed: str, root: Path) -> str:
    """Everything about one target."""
    lines = [f"{outcome.target}: {WORDS[outcome.result]}{_where(outcome)}"]
    if outcome.reason:
        lines.append(f"  {outcome.reason.replace(f'{root}{os.sep}', '')}")
    lines += [line for each in outcome.refusals for line in _refusal(each, root)]
    lines += _differences(outcome.differences)
    lines += _changes(outcome.state_changes, root)
    lines += [f"  {each}" for each in outcome.notes]
    lines += [line for name, section in outcome.sections.items() for line in _section(name, section, root)]
    lines += _verdicts(found, root)
    if outcome.result == "not-run" and printed.strip():
        lines += ["  the last it printed:", *(f"  | {line}" for line in printed.strip().splitlines()[-5:])]
    return "\n".join(lines)


def _where(outcome: Outcome) -> str:
    machine = outcome.machine
    if machine.kind == "none":
        return ""
    name = "emulated, not a GPU" if machine.kind == "emulated" else machine.name
    return f" ({name}, torch {machine.torch})"


def _at(file: str, line: int, root: Path) -> str:
    return f" at {short(file, root)}:{line}" if file else ""


def _head(file: str, line: int, root: Path) -> str:
    """A place before what is said of it; nothing where none is known."""
    return f"{short(file, root)}:{line}: " if file else ""


def short(file: str, root: Path) -> str:
    """A path as a reader at `root` would write it."""
    try:
        shown = os.path.relpath(file, root)
    except ValueError:
        return file
    return file if shown.startswith(os.pardir) else shown


def _refusal(refusal: Refusal, root: Path) -> list[str]:
    what = f"`{refusal.text}`" if refusal.text else f"`{refusal.op}`"
    lines = [f"  {short(refusal.file, root)}:{refusal.line}: {what} is refused: {refusal.message}"]
    calls = [f"{each.function} ({short(each.span.file, root)}:{each.span.line})" for each in refusal.trail[:-1]]
    return [*lines, f"    called from {' > '.join(calls[-4:])}"] if calls else lines


def _differences(differences: Sequence[Difference]) -> list[str]:
    lines = [_difference(each) for each in differences[:SHOWN]]
    more = len(differences) - SHOWN
    return [*lines, f"  and {count(more, 'more difference')}"] if more > 0 else lines


def _difference(each: Difference) -> str:
    if each.size == 0:
        return f"  `{each.output}` is wrong after replay: {each.why}"
    return f"  replay {each.replay}: `{each.output}` is off by {each.size:.3g} ({each.tolerance:.1g} would be rounding)"


def _changes(changes: Sequence[StateChange], root: Path) -> list[str]:
    lines = [f"  state: the call changes `{each.what}`{_at(each.file, each.line, root)}" for each in changes[:CHANGES]]
    more = len(changes) - CHANGES
    return [*lines, f"  and {count(more, 'more state change')}"] if more > 0 else lines


def _verdicts(found: Reconciled, root: Path) -> list[str]:
    if not found.verdicts and not found.missed:
        return []
    lines = ["  predicted and observed:"]
    for each in found.verdicts:
        if each.verdict != IDLE:
            place = f"{short(each.finding.file, root)}:{each.finding.line}"
            lines.append(f"    {each.verdict:<9}  {each.finding.code}  {place}: {each.finding.message} ({each.why})")
    for missed in found.missed:
        head = _head(missed.file, missed.line, root)
        lines.append(f"    missed     {missed.effect:<6} {head}{missed.why.replace(f'{root}{os.sep}', '')}")
    if found.missed and not found.verdicts:
        lines.append("    `# graphlint: region` above a `def` tells `check` that it is captured, if nothing else does")
    idle = found.count(IDLE)
    return [*lines, f"    {idle} not exercised by these inputs"] if idle else lines


def _section(name: str, section: Mapping[str, Any], root: Path) -> list[str]:
    return SECTIONS.get(name, _plain)(section, root)


def _plain(section: Mapping[str, Any], root: Path) -> list[str]:
    return [f"  {key}: {value}" for key, value in section.items()]


def _compile(section: Mapping[str, Any], root: Path) -> list[str]:
    if section["result"] == "not-run":
        return [f"  compile: {section['reason']}"]
    head = f"  compile: {count(section['graphs'], 'graph')}, {count(len(section['breaks']), 'break')}"
    launches = "1 graph launch" if section["launches"] == 1 else f"{section['launches']} graph launches"
    lines = [f"{head}, {launches} a step, {section['compiled_ms']:.2f} ms"]
    for each in section["breaks"]:
        end = ", and the whole function falls back to eager" if each["falls_back"] else ""
        lines.append(f"    {short(each['file'], root)}:{each['line']}: breaks: {each['reason']}{end}")
    return lines + [f"    {each}" for each in section["said"][:4]]


def _shapes(section: Mapping[str, Any], root: Path) -> list[str]:
    lines = [
        f"  shapes: `{section['name']}` in {len(section['buckets'])} buckets: {', '.join(map(str, section['buckets']))}"
    ]
    for key, words in (("shared_pool", "one shared pool"), ("pool_each", "a pool each")):
        part = section[key]
        if "reason" in part:
            lines.append(f"    {words}: refused at {part['refused_at']}: {part['reason']}")
        else:
            lines.append(f"    {words}: {part['reserved_mib']:.0f} MiB reserved, captured in {part['capture_ms']:.0f} ms")
    lines.append(f"    padding: {section['mean_waste']:.0%} on average, {section['worst_waste']:.0%} at worst")
    gaps = [each["gap"] for each in section["gaps"] if "gap" in each]
    return [*lines, f"    largest gap from eager: {max(gaps, default=0.0):.3g}", f"    {section['advice']}"]


def _graphed(section: Mapping[str, Any], root: Path) -> list[str]:
    return [
        f"  make_graphed_callables: {section['result']} {section.get('reason') or section.get('message') or ''}".rstrip()
    ]


SECTIONS = {"compile": _compile, "shapes": _shapes, "graphed": _graphed, "ranks": shown.section}


def summary(rows: Sequence[tuple[Outcome, Reconciled, float]]) -> str:
    """One line a target: result, refused lines, verdict counts, seconds."""
    width = max(len(outcome.target) for outcome, _, _ in rows)
    lines = [f"{'target':<{width}}  result    lines  confirmed  refuted  missed  seconds"]
    for outcome, found, seconds in rows:
        counts = f"{found.count(CONFIRMED):>9}  {found.count(REFUTED):>7}  {len(found.missed):>6}"
        lines.append(
            f"{outcome.target:<{width}}  {outcome.result:<8}  {len(outcome.refusals):>5}  {counts}  {seconds:>7.1f}"
        )
    return "\n".join(lines)


def plain(outcome: Outcome, found: Reconciled, printed: str, seconds: float) -> dict[str, Any]:
    """The JSON object of one target: its outcome and what became of every finding."""
    return {
        **codec.encode(outcome),
        "seconds": round(seconds, 3),
        "printed": printed,
        "verdicts": [{**codec.flat(each.finding), "verdict": each.verdict, "why": each.why} for each in found.verdicts],
        "missed": [codec.flat(each) for each in found.missed],
    }
