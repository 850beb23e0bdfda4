"""The process of the agent: starts the ranks with torchrun's elastic agent, ends them at the limit, reads their journals.

The agent restarts nothing (`max_restarts=0`) and ends all ranks when one of them fails.  A rank that hangs fails at
nothing, so an overseer beside the agent asks all ranks for their stacks at the limit and ends them.
"""

from __future__ import annotations

import json
import logging
import os
import signal
import sys
import threading
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
import torch.distributed as dist
from torch.distributed.elastic.multiprocessing.errors import ChildFailedError
from torch.distributed.launcher.api import LaunchConfig, elastic_launch

from graphlint.confirm import plan as plans
from graphlint.confirm.descent import end_group, resident
from graphlint.confirm.outcome import Outcome
from graphlint.confirm.plan import Options, Plan
from graphlint.confirm.ranks import journal, merged
from graphlint.confirm.ranks.merged import Ended, Run
from graphlint.errors import UsageError

LEAD = 5.0
"""Seconds before the target's own limit at which ranks are ended, so that there is time to say where they stood.

A quarter of a limit that is short.
"""
LATE = 30.0
"""Seconds that ranks are given once one of them is done: all do the same work."""
TICK = 0.25
DUMPING = 0.5
OFF = {"NCCL_NVLS_ENABLE": "0"}
"""NVLink multicast can leave GPUs that are shared unusable."""


def confirm(plan: Plan, kind: str, stage: Callable[[str], object], begun: float, groups: Path) -> Outcome:
    """One outcome of `plan.options.ranks` processes on "cuda" or "emulated" devices; raises `UsageError`.

    `begun` is when the target's time began, of `time.monotonic()`; `groups` is a file that names the processes to end
    should this one be ended, and ranks leave what they tell beside it.
    """
    world = plan.options.ranks
    if kind == "cuda" and torch.cuda.device_count() < world:
        here = torch.cuda.device_count()
        raise UsageError(f"{world} ranks need a GPU each and {here} are visible", "`--device emulated` runs them without")
    backend = "nccl" if kind == "cuda" else "gloo"
    if not dist.is_available() or (backend == "gloo" and not dist.is_gloo_available()):
        raise UsageError(f"this torch has no {backend}, over which the ranks would talk", "leave `--ranks` out")
    with TemporaryDirectory(prefix="ranks-", dir=groups.parent) as folder:
        lead = min(LEAD, plan.options.timeout / 4)
        limit = max(plan.options.timeout - lead - (time.monotonic() - begun), 1.0)
        run = _run(plan, backend, Path(folder), stage, limit, groups)
        return merged.outcome(plan.target, run, Path(folder))


def _run(plan: Plan, backend: str, folder: Path, stage: Callable[[str], object], limit: float, groups: Path) -> Run:
    world = plan.options.ranks
    order = {
        "plan": plans.encode(plan), "backend": backend, "deadline": time.time() + limit, "agent": os.getpid(),
        "groups": str(groups),
    }  # fmt: skip
    (folder / "order.json").write_text(json.dumps(order), encoding="utf-8")
    overseer = Overseer(folder, plan.options, limit, stage)
    thread = threading.Thread(target=overseer.watch, daemon=True)
    thread.start()
    ended = _launched(folder, world)
    overseer.stop.set()
    thread.join()
    _swept(groups)
    accounts = {rank: overseer.account(rank) for rank in range(world)}
    traces = {rank: _text(folder / f"trace-{rank}.txt") for rank in range(world)}
    limit = overseer.limit if overseer.why else 0.0
    return Run(backend, accounts, traces, ended, limit, overseer.why, _library(backend), overseer.failure)


def _swept(groups: Path) -> None:
    """End what ranks have started and left behind."""
    for leader in _text(groups).split():
        end_group(int(leader))
    groups.write_text("")


def _library(backend: str) -> str:
    """Such as "NCCL 2.28.9"."""
    version = torch.cuda.nccl.version() if backend == "nccl" else None
    return f"NCCL {'.'.join(map(str, version))}" if isinstance(version, tuple) else backend


def _launched(folder: Path, world: int) -> dict[int, Ended]:
    """How ranks ended that did not end well, by rank."""
    for name, value in OFF.items():
        os.environ.setdefault(name, value)
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    logging.getLogger("torch.distributed.elastic").setLevel(logging.CRITICAL)  # what ended a rank is in the outcome
    config = LaunchConfig(
        min_nodes=1, max_nodes=1, nproc_per_node=world, run_id=uuid.uuid4().hex, rdzv_backend="c10d",
        rdzv_endpoint="localhost:0", max_restarts=0, monitor_interval=0.1, local_addr="localhost",
    )  # fmt: skip
    try:
        elastic_launch(config, sys.executable)("-m", "graphlint.confirm.ranks.worker", str(folder))
    except ChildFailedError as error:
        return {rank: Ended(int(each.exitcode)) for rank, each in error.failures.items()}
    return {}


def _text(path: Path) -> str:
    return path.read_text(errors="replace") if path.is_file() else ""


def _is_gone(pid: int) -> bool:
    """Whether a rank has ended and the agent has seen it; the agent ends nothing when one leaves with status 0."""
    if not pid or os.name != "posix":
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def _left(accounts: list[journal.Account], gone: list[bool]) -> str:
    """Which ranks have ended without a word, or an empty string."""
    left = [(rank, each) for rank, (each, ended) in enumerate(zip(accounts, gone)) if ended and not each.done]
    return "; ".join(f"rank {rank}: the process ended with no result while {each.stage}" for rank, each in left)


@dataclass
class Overseer:
    """Reads journals while ranks run; at the limit it asks for stacks and ends them. `why` says that it did.

    `failure` is why they were ended when none hangs: one is gone, or they hold too much memory.
    """

    folder: Path
    options: Options
    limit: float
    stage: Callable[[str], object]
    why: str = ""
    failure: str = ""
    stop: threading.Event = field(default_factory=threading.Event)
    told: str = ""

    def account(self, rank: int) -> journal.Account:
        return journal.read(self.folder / f"rank-{rank}.jsonl")

    def watch(self) -> None:
        """Until the agent is done."""
        begun = time.monotonic()
        since: dict[str, float] = {}
        accounts: list[journal.Account] = []
        while not self.stop.wait(TICK):
            gone = [_is_gone(each.pid) for each in accounts]  # before reading: the last a rank tells is that it is done
            accounts = [self.account(rank) for rank in range(self.options.ranks)]
            self._tell(accounts)
            self.failure = _left(accounts, gone) or self._full(accounts)
            now = time.monotonic()
            if any(each.limit for each in accounts):
                since.setdefault("limit", now)
            if any(each.done for each in accounts):
                since.setdefault("done", now)
            self.why, spent = self._over(accounts, now, begun, since)
            if self.failure:
                self.why = ""
            if self.why or self.failure:
                self.limit = spent
                self._end([each.pid for each in accounts if each.pid and not each.done])
                return

    def _over(
        self, accounts: list[journal.Account], now: float, begun: float, since: dict[str, float]
    ) -> tuple[str, float]:
        """Why all must end now, with how long was waited, or an empty string."""
        short = max((each.limit for each in accounts), default=0.0)
        if all(each.done for each in accounts):
            return "", 0.0
        if "limit" in since and now - since["limit"] > short:
            return "its graphs do not fit", short
        if "done" in since and now - since["done"] > LATE:
            return "others are done", LATE
        within = f"to stay within {self.options.timeout:g} s"
        return (within, self.limit) if now - begun > self.limit else ("", 0.0)

    def _full(self, accounts: list[journal.Account]) -> str:
        """That all ranks together hold more memory than they may, or an empty string."""
        most, pids = self.options.memory, [each.pid for each in accounts if each.pid]
        if not most or sum(map(resident, pids)) <= most * 2**30:
            return ""
        return f"the ranks used more than {most:g} GiB of memory together while {self.told}"

    def _tell(self, accounts: list[journal.Account]) -> None:
        stages = {each.stage for each in accounts if each.stage}
        word = " / ".join(sorted(stages))
        if word and word != self.told:
            self.told = word
            self.stage(word)

    def _end(self, pids: list[int]) -> None:
        """Ask for stacks, which is answered even from within a call that waits, then end them."""
        for signals in (getattr(signal, "SIGUSR1", 0), getattr(signal, "SIGKILL", signal.SIGTERM)):
            for pid in pids if signals else ():
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signals)
            time.sleep(DUMPING)
