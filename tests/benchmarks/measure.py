"""One command as a whole process, by the operating system's own accounting of it and of all that it started."""

from __future__ import annotations

import os
import statistics
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Cost:
    """CPU and wall seconds of one run, and MiB of the largest single process in it."""

    cpu: float
    wall: float
    peak: float


@dataclass(frozen=True, slots=True)
class Contestant:
    """A command under a name; `before` is run ahead of each run and is not counted; no `cores` means all there are."""

    name: str
    command: Sequence[str]
    before: Callable[[], None] | None = None
    environment: Mapping[str, str] | None = None
    cores: int = 0


def cost(each: Contestant) -> Cost:
    """Run a command to its end; what it prints is thrown away, its status does not count."""
    if each.before is not None:
        each.before()
    environment = {**os.environ, **(each.environment or {})}
    start = time.perf_counter()
    nowhere = subprocess.DEVNULL
    process = subprocess.Popen(
        each.command,
        stdin=nowhere,
        stdout=nowhere,
        stderr=nowhere,
        env=environment,
        preexec_fn=partial(_keep_to, each.cores),
    )
    _, _, used = os.wait4(process.pid, 0)
    wall = time.perf_counter() - start
    process.returncode = 0  # reaped here, which `subprocess` cannot know
    return Cost(used.ru_utime + used.ru_stime, wall, used.ru_maxrss * 1024 / MIB)


def _keep_to(cores: int) -> None:
    if cores and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])


def in_turn(contestants: Sequence[Contestant], rounds: int, warm_up: bool = True) -> dict[str, list[Cost]]:
    """Costs by name: A B C, A B C, ..., so that a machine that slows down slows all of them."""
    if warm_up:
        for each in contestants:
            cost(each)
    found: dict[str, list[Cost]] = {each.name: [] for each in contestants}
    for _ in range(rounds):
        for each in contestants:
            found[each.name].append(cost(each))
    return found


def median(costs: Sequence[Cost]) -> Cost:
    """The median of each figure; memory by its maximum."""
    cpu = statistics.median(each.cpu for each in costs)
    return Cost(cpu, statistics.median(each.wall for each in costs), max(each.peak for each in costs))


def ratio(ours: Sequence[Cost], theirs: Sequence[Cost]) -> float:
    """The median, over the rounds, of their CPU time by ours."""
    return statistics.median(their.cpu / own.cpu for own, their in zip(ours, theirs))
