"""One outcome of all ranks: the worst of their results, every refused line, and a section on what differed or hung."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from graphlint.confirm import codec, frames
from graphlint.confirm.outcome import NOWHERE, Difference, Outcome
from graphlint.confirm.ranks import sequences
from graphlint.confirm.ranks.agreement import Disagreement, disagreements
from graphlint.confirm.ranks.journal import Account, Call
from graphlint.confirm.ranks.sequences import Mismatch, named, sentence

WORST = ("not-run", "refused", "stale", "captures")
KILLED = (-9, -15)
SAID = 2
"""Collectives without partners that a sentence about a hang names."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a process ended that did not end well; negative statuses are signals."""

    status: int


@dataclass(frozen=True, slots=True)
class Run:
    """Everything that ranks left behind; `limit` is in seconds and 0 unless they were ended for hanging.

    `failure` says why they were ended otherwise.
    """

    backend: str
    accounts: Mapping[int, Account]
    traces: Mapping[int, str]
    ended: Mapping[int, Ended]
    limit: float = 0.0
    why: str = ""
    library: str = ""
    failure: str = ""


@dataclass(frozen=True, slots=True)
class Stand:
    """Where a rank stood when it was ended: its phase, line and what it waited for."""

    rank: int
    stage: str
    file: str = ""
    line: int = 0
    function: str = ""
    call: Call | None = None


def outcome(target: str, run: Run, folder: Path) -> Outcome:
    """The merged outcome; `sections["ranks"]` has each rank's part."""
    outcomes = {rank: codec.decode(each.outcome) for rank, each in run.accounts.items() if each.outcome}
    hang = _hang(run) if run.limit else None
    captured = {rank: each.captured for rank, each in run.accounts.items()}
    told = {rank: calls for rank, calls in captured.items() if calls is not None}
    whole = len(told) == len(run.accounts) and not any(each.refusals for each in outcomes.values())
    unfit = sequences.mismatches(told) if whole else ()
    differ = disagreements(folder, sorted(run.accounts))
    found = _worst(target, run, outcomes, hang, unfit, differ)
    section = {
        "ranks": len(run.accounts), "backend": run.backend, "library": run.library,
        "by_rank": [_row(rank, run, outcomes.get(rank)) for rank in sorted(run.accounts)],
        "mismatches": [_mismatch(each) for each in unfit or _met(run, outcomes)], "hang": hang,
        "disagreements": [codec.flat(each) for each in differ],
    }  # fmt: skip
    return replace(found, sections={**found.sections, "ranks": section})


def _met(run: Run, outcomes: Mapping[int, Outcome]) -> list[Mismatch]:
    """What ranks that looked ahead have found before a capture."""
    here = {rank: each.phases.get(each.phase, []) for rank, each in run.accounts.items()}
    return [
        found for found in sequences.mismatches(here) if any(sentence(found) in each.reason for each in outcomes.values())
    ]


def _worst(
    target: str, run: Run, outcomes: Mapping[int, Outcome], hang: Mapping[str, Any] | None,
    unfit: Sequence[Mismatch], differ: Sequence[Disagreement],
) -> Outcome:  # fmt: skip
    """Results, lines and differences of all ranks in one; a graph that hangs or differs among ranks replays wrong."""
    every = [outcomes[rank] for rank in sorted(outcomes)]
    machine = next((each.machine for each in every if each.machine.kind != "none"), NOWHERE)
    results = [each.result for each in every if not _is_follow_up(each)]
    if _lost_ranks(run, outcomes) and hang is None and not any("error" in each.replays for each in every):
        results.append("not-run")
    if hang is not None:
        results.append("stale" if hang["captured"] else "refused" if "refused" in results else "not-run")
    if (unfit or differ) and "captures" in results:
        results.append("stale")
    result = min(results, key=WORST.index, default="not-run")
    return Outcome(
        target, result, machine, _distinct(each for one in every for each in one.refusals),
        tuple(_of_rank(rank, each) for rank in sorted(outcomes) for each in outcomes[rank].differences) + _gaps(differ),
        _distinct(each for one in every for each in one.state_changes), _lines(every),
        complete=len(every) == len(run.accounts) and all(each.complete for each in every),
        reason=_reason(run, outcomes, hang, unfit, result),
        unknown_ops=_distinct(each for one in every for each in one.unknown_ops), replays=_words(every),
        stage=next((each.stage for each in run.accounts.values() if each.stage), ""),
        notes=_distinct(each for one in every for each in one.notes),
    )  # fmt: skip


def _lost_ranks(run: Run, outcomes: Mapping[int, Outcome]) -> list[int]:
    """Ranks that ended before they knew what came out."""
    return [rank for rank, each in run.accounts.items() if not _is_known(each, outcomes.get(rank))]


def _is_known(account: Account, found: Outcome | None) -> bool:
    return found is not None and (account.done or bool(found.refusals))


def _is_follow_up(outcome: Outcome) -> bool:
    """Whether a rank failed only because a partner was gone."""
    return outcome.result == "not-run" and any(word in outcome.reason for word in ("Connection closed by peer", "Absent"))


def _distinct(every: Iterable[Any]) -> tuple[Any, ...]:
    kept: list[Any] = []
    for each in every:
        if each not in kept:
            kept.append(each)
    return tuple(kept)


def _of_rank(rank: int, difference: Difference) -> Difference:
    return replace(difference, output=f"rank {rank}: {difference.output}")


def _gaps(differ: Sequence[Disagreement]) -> tuple[Difference, ...]:
    return tuple(Difference(each.output, each.replay, each.size, each.tolerance, "ranks") for each in differ)


def _lines(every: Sequence[Outcome]) -> dict[str, tuple[int, ...]]:
    found: dict[str, set[int]] = {}
    for each in every:
        for file, lines in each.executed.items():
            found.setdefault(file, set()).update(lines)
    return {file: tuple(sorted(lines)) for file, lines in sorted(found.items())}


def _words(every: Sequence[Outcome]) -> tuple[str, ...]:
    """The worst word of each replay over all ranks."""
    order = ("error", "values", "random", "match")
    length = max((len(each.replays) for each in every), default=0)
    columns = ([each.replays[place] for each in every if place < len(each.replays)] for place in range(length))
    return tuple(min(each, key=order.index) for each in columns)


def _reason(
    run: Run, outcomes: Mapping[int, Outcome], hang: Mapping[str, Any] | None, unfit: Sequence[Mismatch], result: str
) -> str:
    if hang is not None:
        return str(hang["message"])
    apart = [sentence(each) for each in unfit[:1]]
    if unfit and result != "not-run":
        return apart[0]
    if result != "not-run":
        return "; ".join(_distinct(each.reason for each in outcomes.values() if each.reason))
    lost = _lost_ranks(run, outcomes)
    crashed = [f"rank {rank}: {_death(run, rank)}" for rank in lost if rank in run.ended and not _was_killed(run, rank)]
    told = {rank: each.reason for rank, each in outcomes.items() if each.reason and not _is_follow_up(each)}
    failed = [*crashed, *_by_ranks(told, len(run.accounts))] or [run.failure] * bool(run.failure)
    return "; ".join(failed + apart) or "; ".join(_by_ranks(dict.fromkeys(lost, "no result"), len(run.accounts)))


def _by_ranks(told: Mapping[int, str], world: int) -> list[str]:
    """What ranks say, each once and after the ranks that say it; what all of them say stands alone."""
    found = {said: [rank for rank, each in told.items() if each == said] for said in told.values()}
    return [said if len(ranks) == world else f"{named(ranks)}: {said}" for said, ranks in found.items()]


def _was_killed(run: Run, rank: int) -> bool:
    return run.ended[rank].status in KILLED


def _death(run: Run, rank: int) -> str:
    status, account = run.ended[rank].status, run.accounts[rank]
    how = f"signal {-status}" if status < 0 else f"status {status}"
    where = stand(rank, account, run.traces.get(rank, ""))
    at = f", at {where.file}:{where.line}" if where.line else ""
    return f"the process ended with {how} while {account.stage or 'starting'}{at}"


def stand(rank: int, account: Account, trace: str) -> Stand:
    """A rank's user line by its stack, or that of the collective it waits in where the stack has none."""
    stage = account.phase if account.stage == "replaying" and account.phase else account.stage or "starting"
    for file, line, function in frames.traced(trace):
        return Stand(rank, stage, file, line, function, account.last)
    last = account.last
    if last is not None:
        return Stand(rank, stage, last.file, last.line, last.function, last)
    return Stand(rank, stage)


def _hang(run: Run) -> dict[str, Any]:
    """Where each rank stood, which partner is missing from which collective, and a sentence that says so."""
    going = [rank for rank, each in run.accounts.items() if not each.done]
    every = _lost(run)
    lost = every[0] if every else None
    stands = [_in_graph(stand(rank, run.accounts[rank], run.traces.get(rank, "")), run, every) for rank in going]
    message = f"hangs: after {run.limit:.0f} s ({run.why}) " + ", ".join(_standing(each) for each in stands)
    message += "".join(f"; {sentence(each)}" for each in every[:SAID])
    return {
        "seconds": run.limit, "message": message, "missing": lost.missing if lost else -1,
        "mismatch": _mismatch(lost) if lost else None, "stands": [_plain(each) for each in stands],
        "captured": all(each.has_captured for each in run.accounts.values()),
    }  # fmt: skip


def _in_graph(found: Stand, run: Run, lost: Sequence[Mismatch]) -> Stand:
    """A rank whose host waits for a replay stands, as far as anyone can tell, at the collective that does not fit."""
    if found.line or not found.stage.startswith("replay"):
        return found
    unfit = [call for each in lost for rank, call in zip(each.ranks, each.calls) if rank == found.rank and call is not None]
    calls = unfit or run.accounts[found.rank].captured or []
    return (
        replace(found, file=calls[0].file, line=calls[0].line, function=calls[0].function, call=calls[0])
        if calls
        else found
    )


def _lost(run: Run) -> tuple[Mismatch, ...]:
    """The collectives without their partners: of the phase that ranks wait in, or of what they captured."""
    phases = [each.phase for each in run.accounts.values()]
    names = [each for each in dict.fromkeys(phases) if not each.startswith("replay")]
    captured = {rank: each.captured or [] for rank, each in run.accounts.items()}
    if not names:
        return sequences.mismatches(captured)
    if len(names) == 1:
        here = {rank: each.phases.get(names[0], []) for rank, each in run.accounts.items()}
    else:
        here = {rank: [call for calls in each.phases.values() for call in calls] for rank, each in run.accounts.items()}
    return sequences.mismatches(here) or sequences.mismatches(captured)


def _standing(each: Stand) -> str:
    where = f" at {each.file}:{each.line}" if each.line else ""
    return f"rank {each.rank} is {'in ' if each.stage.startswith('replay ') else ''}{each.stage}{where}"


def _mismatch(each: Mismatch) -> dict[str, Any]:
    calls = [None if call is None else {"call": str(call), "file": call.file, "line": call.line} for call in each.calls]
    return {
        "ranks": list(each.ranks), "index": each.index, "why": each.why, "missing": each.missing, "calls": calls,
        "sentence": sentence(each),
    }  # fmt: skip


def _plain(each: Stand) -> dict[str, Any]:
    return {**codec.flat(each), "call": str(each.call) if each.call else ""}


def _row(rank: int, run: Run, found: Outcome | None) -> dict[str, Any]:
    account = run.accounts[rank]
    result = found.result if found is not None and _is_known(account, found) else "no result"
    refusals = [_refusal(each) for each in found.refusals] if found is not None else []
    return {
        "rank": rank, "result": result, "stage": account.stage, "reason": found.reason if found else "",
        "replays": list(found.replays) if found else [], "refusals": refusals,
        "captured": [_call(each) for each in account.captured or ()],
    }  # fmt: skip


def _refusal(each: Any) -> dict[str, Any]:
    return {"file": each.file, "line": each.line, "op": each.op, "message": each.message}


def _call(each: Call) -> dict[str, Any]:
    return {"call": str(each), "group": list(each.group), "file": each.file, "line": each.line}
