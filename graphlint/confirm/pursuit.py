"""Capture-and-continue: every refused line, each refused by a real capture.

An eager pass that believes to be captured is recorded.  Then captures are tried: the first operation that a capture
refuses is noted with its line; the next attempt answers it from the recording; until one goes through.
"""

from __future__ import annotations

import gc
import traceback
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial

from graphlint.confirm import chance, frames, recording
from graphlint.confirm.device import Device, spare, stream
from graphlint.confirm.lines import executed
from graphlint.confirm.outcome import Refusal
from graphlint.confirm.recording import Answerer, Failure, Mark, Recorder, Recording
from graphlint.confirm.trial import Trial

ATTEMPTS = 80
"""The longest chain measured over 900 models was 23."""
UNJOINED = "unjoined work"
FOLLOW_UPS = ("previous error during capture", "_STATUS_")
DOUBTS = 2


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
    doubts: Counter[Mark] = Counter()
    if recorded is not None:
        gc.freeze()
        for _ in range(ATTEMPTS):
            if not _attempt(device, trial, host, recorded, found, place, doubts):
                break
        gc.unfreeze()
    if not found.refusals:
        found.add(_unjoined(device, trial, host, recorded, first) or refusal(first, place))
    trial.before.restore()
    device.repair()
    return found


def _recorded(device: Device, trial: Trial, host: chance.Chance, found: Found) -> Recording | None:
    """A recording of an eager pass; in a thread of its own where a refused call spoilt this thread's library handle."""
    errors: list[Exception] = []
    for around in (_here, _elsewhere):
        recorder = Recorder(spare())
        try:
            _rewind(device, trial, host)
            around(partial(_pass, device, trial, recorder))
        except Exception as error:
            errors.append(error)
        else:
            return recorder.recording
    first = frames.cause(errors[0])
    at = [f" (line {each.line} of {each.file})" for each in frames.trail(first)[-1:]]
    found.reason = f"the recording pass failed: {type(first).__name__}: {frames.words(first)}{''.join(at)}"
    return None


def _pass(device: Device, trial: Trial, recorder: Recorder) -> None:
    with device.believing(), recording.watching(recorder):
        trial.step()
    device.synchronize()


def _here(work: Callable[[], None]) -> None:
    work()


def _elsewhere(work: Callable[[], None]) -> None:
    with ThreadPoolExecutor(max_workers=1) as pool:
        pool.submit(work).result()


def _rewind(device: Device, trial: Trial, host: chance.Chance) -> None:
    """Everything a call of the step starts from, as it was before the first capture."""
    device.repair()
    trial.before.restore()
    trial.prepare()
    host.restore(device)


def _attempt(
    device: Device, trial: Trial, host: chance.Chance, recorded: Recording, found: Found, place: frames.Frame,
    doubts: Counter[Mark],
) -> bool:  # fmt: skip
    """One capture; whether another is worth trying."""
    answerer = Answerer(recorded, found.marks)
    try:
        _rewind(device, trial, host)
        with executed(trial.lines):
            device.capture(partial(_watched, answerer, trial))
    except Exception as error:
        more = _noted(error, answerer.failure, found, place, doubts)
        _forget(error)
        return more
    found.complete = True
    return False


def _unjoined(
    device: Device, trial: Trial, host: chance.Chance, recorded: Recording | None, first: Exception
) -> Refusal | None:
    """A stream left unjoined is noticed at the end of a capture: the line is that of its last operator."""
    if recorded is None or UNJOINED not in str(first):
        return None
    answerer, origin = Answerer(recorded, set(), stream), list[int]()
    with suppress(Exception):
        _rewind(device, trial, host)
        device.capture(partial(_streamed, answerer, trial, origin))
    strays = [trail for number, trail in answerer.last.items() if number not in origin and trail]
    if not strays:
        return None
    trail, root = strays[-1], frames.cause(first)
    last, steps = trail[-1], tuple(each.step for each in trail)
    return Refusal(last.file, last.line, last.function, "?", type(root).__name__, frames.words(root), steps, last.text)


def _streamed(answerer: Answerer, trial: Trial, origin: list[int]) -> object:
    origin.append(stream())
    return _watched(answerer, trial)


def _forget(error: BaseException) -> None:
    """Let go of the frames an error holds, and with them of tensors in the refused graph's pool."""
    each: BaseException | None = error
    while each is not None:
        traceback.clear_frames(each.__traceback__)
        each.__traceback__, each = None, each.__context__


def _watched(answerer: Answerer, trial: Trial) -> object:
    with recording.watching(answerer):
        return trial.step()


def _noted(error: Exception, failure: Failure | None, found: Found, place: frames.Frame, doubts: Counter[Mark]) -> bool:
    """Take down what was refused; whether it can be answered."""
    missing = _missing(error)
    if missing is not None:
        found.reason = str(missing)
        return False
    if failure is None:
        if UNJOINED not in str(error):
            found.add(refusal(error, place))
        found.reason = f"not an operation: {frames.words(frames.cause(error))}"
        return False
    if _is_doubtful(failure.error) and doubts[failure.mark] < DOUBTS:
        doubts[failure.mark] += 1
        return True
    found.add(_refused(failure, place))
    if failure.mark in found.marks:
        found.reason = f"`{failure.mark.name}` is refused in spite of its answer"
        return False
    found.marks.add(failure.mark)
    return True


def _is_doubtful(error: BaseException) -> bool:
    """Whether a message speaks of something that went wrong before: such a line must be refused again to count."""
    return any(word in str(error) for word in FOLLOW_UPS)


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
