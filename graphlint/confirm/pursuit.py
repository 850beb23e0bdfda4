"""Capture-and-continue: every refused line, each refused by a real capture.

An eager pass that believes to be captured is recorded.  Then captures are tried: the first operation that a capture
refuses is noted with its line; the next attempt answers it from the recording; until one goes through.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial

from graphlint.confirm import chance, frames, recording
from graphlint.confirm.device import Device
from graphlint.confirm.lines import executed
from graphlint.confirm.outcome import Refusal
from graphlint.confirm.recording import Answerer, Failure, Mark, Recorder, Recording
from graphlint.confirm.trial import Trial

ATTEMPTS = 80
"""The longest chain measured over 900 models was 23."""


@dataclass
class Found:
    """Refusals in the order they were met; `reason` says why the search stopped short, if it did."""

    refusals: tuple[Refusal, ...] = ()
    complete: bool = False
    reason: str = ""
    unknown: tuple[str, ...] = ()
    marks: set[Mark] = field(default_factory=set)

    def add(self, new: Refusal) -> None:
        known = {(each.file, each.line, each.op) for each in self.refusals}
        if (new.file, new.line, new.op) not in known:
            self.refusals += (new,)


def pursue(device: Device, trial: Trial, first: Exception, host: chance.Chance, place: frames.Frame) -> Found:
    """All refused lines after `first`, which is what the undisturbed capture raised."""
    found = Found()
    recorded = _recorded(device, trial, host, found)
    if recorded is not None:
        for _ in range(ATTEMPTS):
            if not _attempt(device, trial, host, recorded, found, place):
                break
    if not found.refusals:
        found.add(refusal(first, place))
    trial.before.restore()
    return found


def _recorded(device: Device, trial: Trial, host: chance.Chance, found: Found) -> Recording | None:
    recorder = Recorder()
    try:
        _rewind(device, trial, host)
        with device.believing(), recording.watching(recorder):
            trial.step()
        device.synchronize()
    except Exception as error:
        found.reason = f"the recording pass failed: {type(error).__name__}: {frames.words(frames.cause(error))}"
        return None
    return recorder.recording


def _rewind(device: Device, trial: Trial, host: chance.Chance) -> None:
    """Everything a call of the step starts from, as it was before the first capture."""
    device.repair()
    trial.before.restore()
    trial.prepare()
    host.restore(device)


def _attempt(
    device: Device, trial: Trial, host: chance.Chance, recorded: Recording, found: Found, place: frames.Frame
) -> bool:
    """One capture; whether another is worth trying."""
    answerer = Answerer(recorded, found.marks)
    try:
        _rewind(device, trial, host)
        with executed(trial.lines):
            device.capture(partial(_watched, answerer, trial))
    except recording.Missing as missing:
        found.reason = str(missing)
        return False
    except Exception as error:
        return _noted(error, answerer.failure, found, place)
    found.complete = True
    return False


def _watched(answerer: Answerer, trial: Trial) -> object:
    with recording.watching(answerer):
        return trial.step()


def _noted(error: Exception, failure: Failure | None, found: Found, place: frames.Frame) -> bool:
    """Take down what was refused; whether it can be answered."""
    missing = _missing(error)
    if missing is not None:
        found.reason = str(missing)
        return False
    if failure is None:
        found.add(refusal(error, place))
        found.reason = f"not an operation: {frames.words(frames.cause(error))}"
        return False
    found.add(_refused(failure, place))
    if failure.mark in found.marks:
        found.reason = f"`{failure.mark.name}` is refused in spite of its answer"
        return False
    found.marks.add(failure.mark)
    return True


def _missing(error: BaseException) -> recording.Missing | None:
    each: BaseException | None = error
    while each is not None and not isinstance(each, recording.Missing):
        each = each.__cause__ or each.__context__
    return each


def refusal(error: BaseException, place: frames.Frame, op: str = "?") -> Refusal:
    """What an error says by itself: its cause, at its innermost user line."""
    root = frames.cause(error)
    trail = frames.trail(root) or (place,)
    last = trail[-1]
    steps = tuple(each.step for each in trail)
    return Refusal(last.file, last.line, last.function, op, type(root).__name__, frames.words(root), steps, last.text)


def _refused(failure: Failure, place: frames.Frame) -> Refusal:
    trail = failure.trail or frames.trail(failure.error) or (place,)
    last = trail[-1]
    steps = tuple(each.step for each in trail)
    error = failure.error
    return Refusal(
        last.file, last.line, last.function, failure.mark.name, type(error).__name__, frames.words(error), steps, last.text
    )
