"""Confirming on the emulated device: from a case, or from what the command line names, to an outcome."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from graphlint.case import as_case
from graphlint.confirm import build as building
from graphlint.confirm import chance, engine, frames, pursuit, shapes, site
from graphlint.confirm.lines import executed, frozen
from graphlint.confirm.outcome import Outcome, Refusal
from graphlint.confirm.plan import Options, Plan
from graphlint.confirm.target import Factory
from graphlint.confirm.trial import Setting, Trial
from graphlint.emulate.device import Emulated
from graphlint.emulate.session import UNJOINED, Session
from graphlint.emulate.tape import Tape
from graphlint.emulate.world import emulated_cuda
from graphlint.errors import UsageError

NOTE = "emulated on the host: no GPU was used, and figures of time or memory are not known"


def emulate(
    build: Callable[[], object],
    *,
    target: str = "",
    replays: int = 3,
    seed: int = 0,
    warmup: int = 3,
    stage: Callable[[str], object] = lambda word: None,
) -> Outcome:
    """What a capture of a case does, without a GPU.

    `build()` makes the case anew, equally seeded, in any form that `graphlint.case.as_case` takes; it is called twice
    or more, with `torch.cuda.is_available()` true and `cuda` meaning the emulated device.  What it raises is raised.
    """
    options = Options(device="emulated", replays=replays, seed=seed, warmup=warmup)
    with emulated_cuda() as session:
        return _captured(session, Setting(target, lambda: as_case(build()), Emulated(session), options, stage))


def emulate_script(script: Callable[[], object], *, target: str = "") -> Outcome:
    """What a program does that captures by itself; it runs once, and an `AssertionError` says that its replay is wrong."""
    with emulated_cuda() as session:
        outcome, _ = site.run(target, script, Emulated(session).machine)
        if outcome is None:
            raise UsageError(f"`{target}` returned something instead of capturing", "give `emulate` a factory")
        return watched(session, outcome)


def confirm(plan: Plan, stage: Callable[[str], object]) -> Outcome:
    """What a capture does with a target of the command line; errors of user code are raised."""
    with emulated_cuda() as session:
        device = Emulated(session)
        stage("importing the target")
        loaded = building.load(plan)
        make = partial(building.make, plan, loaded, "cuda", shapes.first(plan))
        stage("building the case")
        chance.seed(device, plan.options.seed)
        outcome, made = site.run(plan.target, make, device.machine)
        if outcome is not None:
            return watched(session, outcome)
        factory = Factory(make, made, chance.taken(device), device)
        outcome = _captured(session, Setting(plan.target, factory, device, plan.options, stage))
        return replace(outcome, notes=(*outcome.notes, *_left_out(plan.options)))


def _left_out(options: Options) -> list[str]:
    """What was asked for and only a GPU can answer."""
    asked = {"--shapes": options.shapes, "--compile": options.compile, "--graphed": options.graphed}
    return [f"`{name}` needs a GPU and was left out" for name, value in asked.items() if value]


def watched(session: Session, outcome: Outcome) -> Outcome:
    """The outcome of a target that captures by itself, with every refused line instead of the first one's error."""
    if session.refusals:
        outcome = replace(outcome, result="refused", refusals=tuple(session.refusals.values()), complete=True)
    elif outcome.result == "not-run" and session.compiled:
        notes = (*outcome.notes, "`torch.compile` ran without compiling: graph breaks and skips are not emulated")
        outcome = replace(outcome, result="captures", reason="", notes=notes)
    return judged(session, outcome)


def _captured(session: Session, setting: Setting) -> Outcome:
    trial = engine.warmed(setting)
    setting.stage("capturing")
    trial.prepare()
    session.unknown.clear()
    try:
        with executed(trial.lines):
            captured = setting.device.capture(trial.step)
    except Exception as error:
        return judged(session, refused(session, setting, trial, error))
    session.allocator.is_counting = False
    if tape_of(setting).is_full:
        note = "the capture's results take too much memory here to be replayed"
        outcome = Outcome(setting.target, "captures", setting.device.machine, executed=frozen(trial.lines), notes=(note,))
        return judged(session, outcome)
    outcome = engine.replayed(setting, trial, captured)
    orphans = tape_of(setting).orphans()
    if orphans:
        note = f"{orphans} tensors that the graph reads have no owner any more: their memory may be given to others"
        outcome = replace(outcome, notes=(*outcome.notes, note))
    return judged(session, outcome)


def tape_of(setting: Setting) -> Tape:
    """What the setting's device captured."""
    assert isinstance(setting.device, Emulated) and setting.device.tape is not None
    return setting.device.tape


def refused(session: Session, setting: Setting, trial: Trial, error: Exception) -> Outcome:
    """Every refusal that was noted; an error that only capture brought is one too."""
    place = engine.place(trial.case.fn)
    refusals = tuple(_placed(each, place) for each in session.refusals.values())
    raised = not isinstance(error, RuntimeError) or type(error).__name__ != "CaptureRefused"
    if raised:
        refusals += (pursuit.refusal(error, place),)
    reason = f"{type(error).__name__}: {frames.words(error)}" if raised else ""
    return Outcome(
        setting.target, "refused", setting.device.machine, refusals, executed=frozen(trial.lines),
        complete=not raised, reason=reason,
    )  # fmt: skip


def _placed(refusal: Refusal, place: frames.Frame) -> Refusal:
    """What is refused at the end of a capture belongs to the captured callable, not to whoever began it."""
    if refusal.op != UNJOINED:
        return refusal
    return replace(refusal, file=place.file, line=place.line, function=place.function, trail=(place.step,), text="")


def judged(session: Session, outcome: Outcome) -> Outcome:
    """Say what the emulation could not know: it lowers the confidence of the verdict."""
    unknown = tuple(session.unknown)
    notes = (*outcome.notes, NOTE)
    if unknown:
        notes += (f"{len(unknown)} operations are not known to the emulation and were taken to be captured",)
    return replace(outcome, unknown_ops=unknown, notes=notes)
