"""What one rank does with a target: build, warm up, capture, tell the others, then replay or look for refused lines.

Ranks go on together or not at all: replays of a graph whose partners have none would wait for ever.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import torch
import torch.distributed as dist

from graphlint.confirm import build, chance, codec, compare, engine, pursuit, shapes_form, site
from graphlint.confirm.device import Captured, Cuda, Device
from graphlint.confirm.lines import executed, frozen
from graphlint.confirm.outcome import Outcome
from graphlint.confirm.ranks import sequences
from graphlint.confirm.ranks.journal import CAPTURE, decode, encode
from graphlint.confirm.ranks.meeting import Meeting, PartnersDiffer
from graphlint.confirm.ranks.phases import Phases
from graphlint.confirm.ranks.post import Post, seeded
from graphlint.confirm.target import Factory
from graphlint.confirm.trial import Setting, Trial

SOON = 15.0
"""Seconds that replays of graphs that do not fit are given: time enough to see whether they hang."""
WAITING = "waiting for the other ranks"
KEPT = 1 << 18
"""Elements of one tensor that are compared across ranks; of larger ones every n-th."""

Stage = Callable[[str], object]
Refused = Callable[[Setting, Trial, Exception, chance.Chance], Outcome]


def confirm(post: Post, stage: Stage) -> Outcome:
    """This rank's outcome on its GPU."""
    dist.all_reduce(torch.zeros(1, device="cuda"))
    torch.cuda.synchronize()
    return observed(post, Cuda(post.plan.options.mode), stage, engine.refused, Phases(post))


def observed(post: Post, device: Device, stage: Stage, refused: Refused, phases: Phases) -> Outcome:
    """Everything after the group was entered, on any device."""
    plan = seeded(post)
    stage("importing the target")
    loaded = build.load(plan)
    given = {"rank": post.rank, "world_size": post.world, **shapes_form.first(plan)}
    make = partial(build.make, plan, loaded, "cuda", given)
    stage("building the case")
    chance.seed(device, plan.options.seed)
    with phases("building the case"):
        outcome, made = site.run(plan.target, make, device.machine)
    if outcome is not None:
        return outcome
    factory = Factory(make, made, chance.taken(device), device)
    setting = Setting(plan.target, factory, device, plan.options, stage)
    meeting = phases.meeting
    return _captured(post, setting, meeting, refused, phases)


def _captured(post: Post, setting: Setting, meeting: Meeting, refused: Refused, phases: Phases) -> Outcome:
    with phases("warming up"):
        trial = engine.warmed(setting)
    host = chance.taken()
    setting.stage(WAITING)
    meeting.exchanged("warm", True)
    setting.stage("capturing")
    trial.prepare()
    captured, error = _attempt(setting, trial, phases)
    setting.stage(WAITING)
    apart = isinstance(error, PartnersDiffer)
    said = {"error": error is not None, "apart": apart, "calls": [encode(each) for each in phases.calls]}
    told = meeting.exchanged(CAPTURE, said)
    others = [rank for rank, each in told.items() if each["error"]]
    if apart:
        return Outcome(setting.target, "stale", setting.device.machine, executed=frozen(trial.lines), reason=str(error))
    if captured is None:
        assert error is not None
        return _refused(post, setting, trial, error, host, len(others) == post.world, refused)
    if others:
        return _alone(setting, trial, others, any(told[rank]["apart"] for rank in others))
    if sequences.mismatches({rank: [decode(each) for each in said["calls"]] for rank, said in told.items()}):
        post.journal.say(limit=SOON)
    preliminary = Outcome(setting.target, "captures", setting.device.machine, executed=frozen(trial.lines), complete=False)
    post.journal.say(outcome=codec.encode(preliminary))
    return _replayed(post, setting, trial, captured, phases)


def _attempt(setting: Setting, trial: Trial, phases: Phases) -> tuple[Captured | None, Exception | None]:
    try:
        with phases(CAPTURE), executed(trial.lines):
            return setting.device.capture(trial.step), None
    except Exception as error:
        return None, error


def _refused(
    post: Post, setting: Setting, trial: Trial, error: Exception, host: chance.Chance, everywhere: bool, refused: Refused
) -> Outcome:
    """The first refused line is told at once; the others are looked for where all ranks look together."""
    first = pursuit.refusal(error, engine.place(trial.case.fn))
    outcome = Outcome(
        setting.target, "refused", setting.device.machine, (first,), executed=frozen(trial.lines), complete=False,
        reason="" if everywhere else "other ranks captured, so later lines were not looked for",
    )  # fmt: skip
    post.journal.say(outcome=codec.encode(outcome))
    if not everywhere:
        return outcome
    found = refused(setting, trial, error, host)
    return found if found.refusals else outcome


def _alone(setting: Setting, trial: Trial, others: list[int], apart: bool) -> Outcome:
    ranks = f"rank{'s' * (len(others) > 1)} {', '.join(map(str, others))}"
    note = f"not replayed, since {ranks} captured something else" if apart else f"not replayed, since {ranks} was refused"
    return Outcome(setting.target, "captures", setting.device.machine, executed=frozen(trial.lines), notes=(note,))


def _replayed(post: Post, setting: Setting, trial: Trial, captured: Captured, phases: Phases) -> Outcome:
    """Replays and the eager twin, each a phase of its own in the journal; a second twin runs on all ranks or on none."""
    counted, tell = iter(range(1, 1 << 30)), setting.stage

    def replay() -> object:
        phases.begin(f"replay {next(counted)}")
        return captured.replay()

    def stage(word: str) -> None:
        tell(word)
        if word != "replaying":
            phases.begin(f"twin, {word}")

    def together(mine: bool) -> bool:
        return any(phases.meeting.exchanged("noise", mine).values())

    setting = replace(setting, stage=stage, seen=partial(_keep, post, trial.case.agree), together=together)
    with phases("replaying"):
        return engine.replayed(setting, trial, replace(captured, replay=replay))


def _keep(post: Post, agree: tuple[str, ...], got: list[compare.Step], expected: list[compare.Step]) -> None:
    """Leave behind what was computed, for whoever compares the ranks."""
    parts = {"got": got, "expected": expected}
    kept: dict[str, Any] = {
        name: [{key: _cut(each) for key, each in step.tensors.items()} for step in part] for name, part in parts.items()
    }
    kept["agree"] = list(agree)
    torch.save(kept, post.folder / f"values-{post.rank}.pt")


def _cut(tensor: torch.Tensor) -> torch.Tensor:
    flat = tensor.detach().reshape(-1)
    return flat[:: max(flat.numel() // KEPT, 1)].cpu()
