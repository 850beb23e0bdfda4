"""Predictions against an outcome: each finding confirmed, refuted or not exercised; each failure without one missed.

breaks    confirmed where a capture refused its line or a call on it; refuted where the line ran and none did
stale     confirmed where it wrote state the replay did not, or ran in a step whose replay differs from eager
defeats   confirmed where a compiled run broke there, or a script that wanted a graph made none
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graphlint.confirm.outcome import Outcome, Refusal
from graphlint.confirm.predictions import Predicted, same

CONFIRMED, REFUTED, IDLE = "confirmed", "refuted", "not exercised"
UNCAPTURED, UNJOINED = "uncaptured work", "unjoined work"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was observed about one finding; `why` is the evidence in a few words."""

    finding: Predicted
    verdict: str
    why: str = ""


@dataclass(frozen=True, slots=True)
class Missed:
    """Something that happened and that no finding foretold."""

    effect: str
    file: str
    line: int
    why: str


@dataclass(frozen=True, slots=True)
class Reconciled:
    """Both lists, in the order of their places."""

    verdicts: tuple[Verdict, ...] = ()
    missed: tuple[Missed, ...] = ()

    def count(self, verdict: str) -> int:
        return sum(each.verdict == verdict for each in self.verdicts)


def reconcile(findings: Sequence[Predicted], outcome: Outcome) -> Reconciled:
    """Hold every finding against one outcome; a run that did not happen says nothing."""
    if outcome.result == "not-run" and outcome.figures.get("graphs") != 0:
        idle = (_unfit(each, outcome) or Verdict(each, IDLE, "the target did not run") for each in findings)
        return Reconciled(tuple(idle))
    verdicts = tuple(_verdict(each, outcome) for each in findings)
    return Reconciled(verdicts, tuple(_missed(verdicts, outcome)))


def _verdict(finding: Predicted, outcome: Outcome) -> Verdict:
    seen = [_JUDGES[effect](finding, outcome) for effect in _observable(finding, outcome)]
    for word in (CONFIRMED, REFUTED):
        for each in seen:
            if each.verdict == word:
                return each
    return seen[0] if seen else Verdict(finding, IDLE, "one capture does not show this")


def _observable(finding: Predicted, outcome: Outcome) -> list[str]:
    """The effects that this outcome can show: those under raw capture, and those under compilation where that was run.

    A script that compiles shows what it does by its end; a case is compiled in a section of its own.
    """
    effects = finding.effects or (("graph", finding.effect),)
    script = "graphs" in outcome.figures
    raw = {effect for target, effect in effects if target == "graph"} & {"breaks", "stale"}
    compiled = {effect for target, effect in effects if target == "compile"} & (set(_JUDGES) if script else {"defeats"})
    return sorted(raw | compiled)


def _breaks(finding: Predicted, outcome: Outcome) -> Verdict:
    for refusal in outcome.refusals:
        if finding.covers(refusal.file, [refusal.line]):
            return Verdict(finding, CONFIRMED, f"`{refusal.op}`: {refusal.message}")
        if any(finding.covers(step.span.file, [step.span.line]) for step in refusal.trail):
            return Verdict(finding, CONFIRMED, f"through `{refusal.function}`, line {refusal.line}: {refusal.message}")
    if not _ran(finding, outcome):
        return Verdict(finding, IDLE, "the line did not run with these inputs")
    later = next((each for each in outcome.refusals if _explains(finding, each)), None)
    if later is not None:
        return Verdict(finding, CONFIRMED, f"noticed at line {later.line}: {later.message}")
    end = next((each for each in outcome.refusals if not outcome.complete and same(finding.file, each.file)), None)
    if end is not None and end.line < finding.line:
        # A script's lines are noted where they ran, and the warm-up ran them all.
        return Verdict(finding, IDLE, f"the capture ended at line {end.line}")
    return Verdict(finding, REFUTED, "the line ran under capture and nothing was refused")


def _explains(finding: Predicted, refusal: Refusal) -> bool:
    """Streams are noticed where they meet and not where they went astray: a finding above is the reason."""
    if not same(finding.file, refusal.file):
        return False
    return UNJOINED in refusal.message or (UNCAPTURED in refusal.message and finding.line <= refusal.line)


def _apart(outcome: Outcome) -> list[dict[str, Any]]:
    """Where ranks issued collectives that do not fit, if several ran."""
    section = outcome.sections.get("ranks") or {}
    stuck = (section.get("hang") or {}).get("mismatch")
    return [*section.get("mismatches", ()), *([stuck] if stuck else [])]


def _unfit(finding: Predicted, outcome: Outcome) -> Verdict | None:
    """Confirmed where a rank stood at the finding's line with a collective that its partners did not issue."""
    for each in _apart(outcome):
        if finding.has("stale") and any(call and finding.covers(call["file"], [call["line"]]) for call in each["calls"]):
            return Verdict(finding, CONFIRMED, str(each["sentence"]))
    return None


def _stale(finding: Predicted, outcome: Outcome) -> Verdict:
    unfit = _unfit(finding, outcome)
    if unfit is not None:
        return unfit
    for change in outcome.state_changes:
        if finding.covers(change.file, [change.line]):
            return Verdict(finding, CONFIRMED, f"the call changed `{change.what}`, which no replay does")
    if not _ran(finding, outcome):
        return Verdict(finding, IDLE, "the line did not run with these inputs")
    if outcome.result in ("refused", "not-run"):
        return Verdict(finding, IDLE, "nothing was captured, so there is no replay to compare")
    if outcome.result == "stale":
        return Verdict(finding, CONFIRMED, _difference(outcome))
    held = f"{len(outcome.replays)} replays were equal to eager" if outcome.replays else "the target's own checks held"
    return Verdict(finding, REFUTED, f"the line ran and {held}")


def _defeats(finding: Predicted, outcome: Outcome) -> Verdict:
    section = outcome.sections.get("compile") or {}
    for each in section.get("breaks", ()):
        if finding.covers(each["file"], [each["line"]]):
            return Verdict(finding, CONFIRMED, f"the graph breaks here: {each['reason']}")
    if section.get("skips") and _ran(finding, outcome):
        return Verdict(finding, CONFIRMED, next((each for each in section["said"] if "skip" in each), "graphs are skipped"))
    if section.get("graphs") and section.get("launches") == 0 and _ran(finding, outcome):
        return Verdict(finding, CONFIRMED, "it was compiled, and no graph was launched")
    if section.get("result") == "whole" and section.get("launches", 0) > 1 and _ran(finding, outcome):
        return Verdict(finding, CONFIRMED, f"one call launches {section['launches']} graphs")
    if section.get("host_copies", 0) > 0 and _ran(finding, outcome):
        return Verdict(finding, CONFIRMED, "each call copies between host and device beside its graph")
    if outcome.figures.get("graphs") == 0 and _ran(finding, outcome):
        return Verdict(finding, CONFIRMED, "the script ran to its end without one graph")
    if section.get("result") in ("whole", "breaks") and _ran(finding, outcome):
        return Verdict(finding, REFUTED, "the line was compiled without a break or a skip")
    return Verdict(finding, IDLE, "try `--compile`" if not section else "the line was not compiled")


_JUDGES = {"breaks": _breaks, "stale": _stale, "defeats": _defeats}


def _ran(finding: Predicted, outcome: Outcome) -> bool:
    return any(finding.covers(file, lines) for file, lines in outcome.executed.items())


def _difference(outcome: Outcome) -> str:
    if not outcome.differences:
        return outcome.reason or "the replay differs from eager"
    first = outcome.differences[0]
    return first.why if first.size == 0 else f"replay {first.replay} is off by {first.size:.3g} in `{first.output}`"


def _missed(verdicts: Sequence[Verdict], outcome: Outcome) -> list[Missed]:
    told = [each.finding for each in verdicts if each.verdict == CONFIRMED]
    found = [_refusal(each) for each in outcome.refusals if not any(_foretold(one, each) for one in told)]
    if outcome.result == "stale" and not any(one.has("stale") for one in told):
        calls = [call for each in _apart(outcome) for call in each["calls"] if call]
        written = [(each.file, each.line) for each in outcome.state_changes if each.file]
        file, line = next(iter([(each["file"], each["line"]) for each in calls] + written), ("", 0))
        found.append(Missed("stale", file, line, outcome.reason if calls else _difference(outcome)))
    for each in (outcome.sections.get("compile") or {}).get("breaks", ()):
        if not any(one.covers(each["file"], [each["line"]]) for one in told):
            found.append(Missed("defeats", each["file"], each["line"], each["reason"]))
    return found


def _foretold(finding: Predicted, refusal: Refusal) -> bool:
    places = ((refusal.file, refusal.line), *((step.span.file, step.span.line) for step in refusal.trail))
    covered = any(finding.covers(file, [line]) for file, line in places)
    return finding.has("breaks") and (covered or _explains(finding, refusal))


def _refusal(refusal: Refusal) -> Missed:
    return Missed("breaks", refusal.file, refusal.line, f"`{refusal.text or refusal.op}`: {refusal.message}")


def files(outcome: Outcome, target: str) -> list[str]:
    """The files to check: the target's own, and those that ran and speak of torch."""
    every = [*outcome.executed, *(each.file for each in outcome.refusals), *([target] if target else [])]
    kept: list[str] = []
    for each in every:
        if each and not any(same(each, other) for other in kept) and (each == target or _speaks_of_torch(each)):
            kept.append(each)
    return sorted(kept)


def _speaks_of_torch(file: str) -> bool:
    try:
        return b"torch" in Path(file).read_bytes()
    except OSError:
        return False
