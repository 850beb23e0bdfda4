"""Child processes: one for each target, one GPU each, with a time and a memory limit, none left behind.

A child that is given several plans runs them one after another; when it dies, the plan it was at gets the blame and a
new child takes the rest.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from graphlint.confirm import codec, frames, plan
from graphlint.confirm.descent import end_group, resident
from graphlint.confirm.outcome import NOWHERE, Outcome
from graphlint.confirm.plan import Plan
from graphlint.errors import UsageError

TAIL = 1 << 16
"""Bytes kept of what user code printed."""
GRACE = 3.0
"""Seconds above its time limit after which a child is killed: it writes its stack shortly before the limit."""
TICK = 0.05
NAMES = {
    "SIGSEGV": "a segmentation fault", "SIGABRT": "an abort", "SIGBUS": "a bus error", "SIGFPE": "an arithmetic error",
    "SIGILL": "an illegal instruction", "SIGKILL": "a kill from outside, perhaps for memory",
}  # fmt: skip

Progress = Callable[[Plan, str], object]


@dataclass(frozen=True, slots=True)
class Result:
    """A plan's outcome, the last of what it printed, and how long it took in seconds."""

    plan: Plan
    outcome: Outcome
    printed: str = ""
    seconds: float = 0.0


def run(
    plans: Sequence[Plan], gpus: Sequence[str] = (), shared: bool = False,
    environ: Mapping[str, str] | None = None, progress: Progress = lambda plan, stage: None,
) -> list[Result]:  # fmt: skip
    """Every plan's result, in order.

    `gpus` are values for CUDA_VISIBLE_DEVICES, one child at a time on each (none: leave the variable alone).  `shared`
    runs all plans of one GPU in one process, which saves importing torch but lets one target disturb the next.
    """
    lanes, stop = list(gpus) or [""], threading.Event()
    jobs: queue.SimpleQueue[list[tuple[int, Plan]]] = queue.SimpleQueue()
    for each in _parts(list(enumerate(plans)), len(lanes) if shared else max(len(plans), 1)):
        jobs.put(each)
    found: dict[int, Result] = {}
    failed: list[OSError] = []

    def work(gpu: str) -> None:
        while not stop.is_set():
            try:
                for place, result in _part(jobs.get_nowait(), _environment(environ, gpu), stop, progress):
                    found[place] = result
            except queue.Empty:
                return
            except OSError as error:  # no folder for what children write, or no process
                failed.append(error)
                stop.set()

    _joined([threading.Thread(target=work, args=(gpu,), daemon=True) for gpu in lanes], stop)
    if failed:
        raise UsageError(f"a target cannot be started: {failed[0]}", "is there room in `$TMPDIR`, and may it be written?")
    return [found[place] for place in sorted(found)]


def _joined(threads: Sequence[threading.Thread], stop: threading.Event) -> None:
    """Wait for all; an interrupt stops the children first."""
    for thread in threads:
        thread.start()
    try:
        with _terminable():
            while any(thread.is_alive() for thread in threads):
                time.sleep(TICK)
    except BaseException:
        stop.set()
        for thread in threads:
            thread.join()
        raise


@contextmanager
def _terminable() -> Iterator[None]:
    """Here a request to terminate raises `SystemExit`, unless somebody else has seen to it."""
    mine = threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    if mine:
        signal.signal(signal.SIGTERM, _terminated)
    try:
        yield
    finally:
        if mine:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _terminated(number: int, frame: object) -> None:
    sys.exit(128 + number)


def _parts(plans: list[tuple[int, Plan]], count: int) -> Iterable[list[tuple[int, Plan]]]:
    return (part for part in (plans[start::count] for start in range(count)) if part)


def _environment(environ: Mapping[str, str] | None, gpu: str) -> dict[str, str]:
    given = environ or os.environ
    # A torch without numpy warns whenever it is imported, which would be the last that a target printed.
    warnings = ",".join(filter(None, (given.get("PYTHONWARNINGS"), "ignore:Failed to initialize NumPy")))
    return {**given, "PYTHONWARNINGS": warnings, **({"CUDA_VISIBLE_DEVICES": gpu} if gpu else {})}


def _part(
    part: list[tuple[int, Plan]], environ: Mapping[str, str], stop: threading.Event, progress: Progress
) -> Iterable[tuple[int, Result]]:
    left = list(part)
    while left and not stop.is_set():
        with tempfile.TemporaryDirectory(prefix="graphlint-") as folder:
            child = _Child([each for _, each in left], Path(folder), environ, progress)
            results = child.finish(stop)
        if not results:
            return
        for (place, _), result in zip(left, results):
            yield place, result
        left = left[len(results) :]


class _Child:
    """One process and the files it writes."""

    def __init__(self, plans: list[Plan], folder: Path, environ: Mapping[str, str], progress: Progress) -> None:
        self.plans = plans
        self.progress = progress
        self.files = {name: folder / name for name in ("results", "stages", "traces", "groups")}
        self.printed: deque[bytes] = deque()
        self.started = time.monotonic()
        self.times: list[float] = []
        self.at, self.stage, self.since = 0, "starting", self.started
        for path in self.files.values():
            path.touch()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "graphlint.confirm.child"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, env=dict(environ), start_new_session=True,
        )  # fmt: skip
        order: dict[str, Any] = {"plans": [plan.encode(each) for each in plans], "parent": os.getpid()}
        order |= {name: str(path) for name, path in self.files.items()}
        self.reader = threading.Thread(target=_drain, args=(self.process.stdout, self.printed), daemon=True)
        self.reader.start()
        _told(self.process, json.dumps(order))

    def finish(self, stop: threading.Event) -> list[Result]:
        """Wait for the end, or end it; a result for every plan that was begun, none after an interrupt."""
        why = ""
        while self.process.poll() is None and not why and not stop.is_set():
            time.sleep(TICK)
            self._look()
            why = self._over()
        _kill(self.process, self.files["groups"])
        self.reader.join(timeout=1.0)
        self._look()
        return [] if stop.is_set() else self._results(why)

    def _look(self) -> None:
        """Read how far it is."""
        lines = self.files["stages"].read_text().splitlines()
        if not lines:
            return
        last = json.loads(lines[-1])
        if last["plan"] != self.at:
            self.since, self.at = time.monotonic(), last["plan"]
        if last["stage"] != self.stage:
            self.stage = last["stage"]
            self.progress(self.plans[self.at], self.stage)

    def _over(self) -> str:
        """Why it must end now, or an empty string."""
        options = self.plans[self.at].options
        if time.monotonic() - self.since > options.timeout + GRACE:
            return f"still {self.stage} after {options.timeout:g} s, which is the time limit"
        if options.memory and resident(self.process.pid) > options.memory * 2**30:
            return f"used more than {options.memory:g} GiB of memory while {self.stage}"
        return ""

    def _results(self, why: str) -> list[Result]:
        printed = b"".join(self.printed)[-TAIL:].decode(errors="replace")
        spent = (time.monotonic() - self.started) / max(len(self.plans), 1)
        done = [json.loads(line) for line in self.files["results"].read_text().splitlines()]
        results = [Result(one, codec.decode(each["outcome"]), printed, spent) for one, each in zip(self.plans, done)]
        ended_early = len(results) < len(self.plans) and (not done or done[-1]["healthy"])
        if ended_early:
            one = self.plans[len(results)]
            reason = (why or self._death()) + _where(self.files["traces"].read_text())
            outcome = Outcome(one.target, "not-run", NOWHERE, reason=reason, stage=self.stage)
            results.append(Result(one, outcome, printed, spent))
        return results

    def _death(self) -> str:
        status = self.process.returncode
        if status is not None and status < 0:
            name = signal.Signals(-status).name
            return f"crashed with {NAMES.get(name, 'a signal')} ({name}) while {self.stage}"
        return f"the process ended with status {status} and no result while {self.stage}"


def _told(process: subprocess.Popen[bytes], order: str) -> None:
    assert process.stdin is not None  # it is a pipe
    try:
        process.stdin.write(order.encode())
        process.stdin.close()
    except BrokenPipeError:
        pass  # it died before reading; its status says more


def _drain(pipe: IO[bytes] | None, kept: deque[bytes]) -> None:
    """Read all and keep the end, so that a child that prints without end is never blocked and fills no memory."""
    if pipe is None:
        return
    size = 0
    while block := os.read(pipe.fileno(), TAIL):
        kept.append(block)
        size += len(block)
        while size - len(kept[0]) > TAIL:
            size -= len(kept.popleft())
    pipe.close()


def _kill(process: subprocess.Popen[Any], groups: Path) -> None:
    """End a child and everything it started, in groups of their own or not."""
    if os.name == "posix":
        end_group(process.pid)
    else:
        process.kill()
    process.wait()
    for leader in groups.read_text().split():
        end_group(int(leader))


def _where(trace: str) -> str:
    """The innermost user line of what `faulthandler` wrote, whose stacks have the most recent call first."""
    for line in trace.splitlines():
        words = line.strip()
        if words.startswith('File "') and '", line ' in words:
            file, _, rest = words[6:].partition('", line ')
            number, _, function = rest.partition(" in ")
            if not frames.hidden(file):
                return f", at {file}:{number} in `{function}`"
    return ""
