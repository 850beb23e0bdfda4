"""One case on one device: build, warm up, capture, then replay against a twin or find every refused line.

The first capture is undisturbed and decides the result.  What follows depends on it: a capture that went through is
replayed with new inputs and compared with a second, equally seeded build that runs eagerly through the same history;
a refused one goes to `pursuit`, which captures again and again until nothing is refused.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace

import torch

from graphlint.confirm import chance, compare, frames, state, values, writers
from graphlint.confirm.compare import Step
from graphlint.confirm.device import Captured
from graphlint.confirm.lines import executed, frozen
from graphlint.confirm.outcome import Difference, Outcome
from graphlint.confirm.pursuit import Found, pursue
from graphlint.confirm.trial import Inputs, Setting, Trial

REPLAY_SEED = 1000


def confirm(setting: Setting) -> tuple[Outcome, Trial, Captured | None]:
    """The outcome, and what it was seen on, for those who measure more; errors of the case itself are raised."""
    trial = warmed(setting)
    host = chance.taken()
    setting.stage("capturing")
    trial.prepare()
    try:
        with executed(trial.lines):
            captured = setting.device.capture(trial.step)
    except Exception as error:
        return refused(setting, trial, error, host), trial, None
    return replayed(setting, trial, captured), trial, captured


def warmed(setting: Setting, inputs: Inputs | None = None) -> Trial:
    """A seeded build after its warm-ups; inputs are made between the two without moving any generator."""
    setting.stage("building the case")
    chance.seed(setting.device, setting.options.seed)
    case = setting.build()
    if inputs is None:
        kept = chance.taken(setting.device)
        inputs = values.clone(values.fresh(case, setting.options.replays, 1 + setting.options.seed))
        kept.restore(setting.device)
    setting.stage("warming up")
    trial = Trial(case, inputs, state.Snapshot())
    with setting.device.warming():
        for _ in range(setting.options.warmup):
            trial.prepare()
            trial.step()
    trial.before = state.snapshot(state.roots(case.fn, case.args, case.kwargs))
    return trial


def refused(setting: Setting, trial: Trial, error: Exception, host: chance.Chance) -> Outcome:
    """Every refused line, by capturing on."""
    setting.stage("finding every refused line")
    found: Found = pursue(setting.device, trial, error, host, place(trial.case.fn))
    return Outcome(
        setting.target, "refused", setting.device.machine, found.refusals, executed=frozen(trial.lines),
        complete=found.complete, reason=found.reason, unknown_ops=found.unknown,
    )  # fmt: skip


def place(fn: Callable[..., object]) -> frames.Frame:
    """Where the captured callable is defined, for errors that no line of its own raised."""
    body = inspect.unwrap(type(fn).forward if isinstance(fn, torch.nn.Module) else fn)
    code = getattr(body, "__code__", None)
    return frames.Frame(code.co_filename, code.co_firstlineno, code.co_name) if code else frames.Frame("", 0, "")


def replayed(setting: Setting, trial: Trial, captured: Captured) -> Outcome:
    """Replays against the eager twin."""
    after = state.snapshot(state.roots(trial.case.fn, trial.case.args, trial.case.kwargs))
    lines = frozen(trial.lines)
    # Gradients are replaced whenever `zero_grad` sets them to None, which a captured step may do; values are compared.
    paths = [each for each in state.changed(trial.before, after) if not each.endswith(".grad")]
    changes = writers.written(paths, lines)
    outcome = Outcome(setting.target, "captures", setting.device.machine, executed=lines, state_changes=changes)
    watched = written_tensors(trial.before, after)
    try:
        got = replays(setting, trial, captured, watched)
    except RuntimeError as error:
        return replace(outcome, result="stale", reason=f"a replay raised: {frames.words(error)}", replays=("error",))
    return _judged(outcome, got[:-1], got[-1], setting, trial, list(watched))


def written_tensors(before: state.Snapshot, after: state.Snapshot) -> dict[str, torch.Tensor]:
    """State tensors that the captured call wrote in place or replaced, by path."""
    return {path: each for path, each in after.tensors.items() if _wrote(before, path, each)}


def _wrote(before: state.Snapshot, path: str, tensor: torch.Tensor) -> bool:
    old = before.tensors.get(path)
    return old is not tensor or before.versions[path] != state.version(tensor)


def replays(setting: Setting, trial: Trial, captured: Captured, watched: dict[str, torch.Tensor]) -> list[Step]:
    """Copy new inputs in, replay, and take what is there; the last inputs twice, to see whether a replay repeats itself."""
    setting.stage("replaying")
    case, taken = trial.case, []
    static = values.leaves(tuple(case.args), dict(case.kwargs))
    for place_, (args, kwargs) in [*enumerate(trial.inputs), *list(enumerate(trial.inputs))[-1:]]:
        values.copy_in(static, values.leaves(args, kwargs))
        if case.restore is not None:
            case.restore()
        setting.device.seed(REPLAY_SEED + place_)
        drawn = setting.device.draws()
        captured.replay()
        setting.device.synchronize()
        taken.append(_seen(captured.output, watched, setting.device.draws() - drawn))
    return taken


def _seen(output: object, watched: dict[str, torch.Tensor], draws: int) -> Step:
    named = {f"output{path}" if path != "output" else path: each for path, each in values.tensors(output)}
    return Step({name: each.detach().clone() for name, each in (named | watched).items()}, draws)


def twin(setting: Setting, inputs: Inputs, watched: list[str]) -> list[Step]:
    """The same history and inputs in eager, on a second build."""
    trial, taken = warmed(setting, inputs), []
    setting.stage("running the eager twin")
    for place_, (args, kwargs) in enumerate(values.clone(inputs)):
        trial.prepare()
        setting.device.seed(REPLAY_SEED + place_)
        drawn = setting.device.draws()
        output = trial.case.fn(*args, **kwargs)
        setting.device.synchronize()
        now = state.snapshot(state.roots(trial.case.fn, args, kwargs)).tensors
        kept = {path: now[path] for path in watched if path in now}
        taken.append(_seen(output, kept, setting.device.draws() - drawn))
    return taken


def _judged(outcome: Outcome, got: list[Step], again: Step, setting: Setting, trial: Trial, watched: list[str]) -> Outcome:
    """Compare; eager's own noise is looked at only where something differs."""
    expected = twin(setting, trial.inputs, watched)
    setting.seen(got, expected)
    found = _gaps(got, expected, {})
    if setting.together(any(found)):
        noise = compare.noise(expected, twin(setting, trial.inputs, watched))
        found = _gaps(got, expected, compare.shared(noise, expected[-1], got[-1], again))
    words = tuple(_word(each) for each in found)
    real = tuple(each for part in found for each in part if each.why != "random")
    notes = (*_draw_notes(got, expected), *(_host_notes(got) if real else ()))
    return replace(outcome, result="stale" if real else "captures", differences=real, replays=words, notes=notes)


def _gaps(got: list[Step], expected: list[Step], noise: dict[str, float]) -> list[list[Difference]]:
    return [_gap(place_, one, other, noise) for place_, (one, other) in enumerate(zip(got, expected), 1)]


def _gap(place_: int, got: Step, expected: Step, noise: dict[str, float]) -> list[Difference]:
    found = compare.differences(place_, got.tensors, expected.tensors, noise)
    if got.draws == expected.draws:
        return found
    return [replace(each, why="random") if _alike(each.output, got, expected) else each for each in found]


def _alike(name: str, got: Step, expected: Step) -> bool:
    return compare.alike(got.tensors[name], expected.tensors[name])


def _word(found: list[Difference]) -> str:
    if not found:
        return "match"
    return "random" if all(each.why == "random" for each in found) else "values"


def _host_notes(got: list[Step]) -> list[str]:
    """The commonest reason why replays compute nothing new."""
    if any(each.device.type == "cuda" for step in got for each in step.tensors.values()):
        return []
    return ["all results are on the host, so the graph recorded none of them: put the module and its inputs on the device"]


def _draw_notes(got: list[Step], expected: list[Step]) -> list[str]:
    pairs = [(one.draws, other.draws) for one, other in zip(got, expected)]
    if all(one == other for one, other in pairs):
        return []
    one, other = next(pair for pair in pairs if pair[0] != pair[1])
    return [f"a replay moves the device generator by {one}, an eager call by {other}: random values cannot be compared"]
