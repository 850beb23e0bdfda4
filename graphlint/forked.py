"""Batches in forked processes, which find what a sample of the files made known.

    this process  <-results-  one ahead, which works through the sample  <-results-  a process a batch

Memory is why there is one ahead: what the sample made known is no burden for the process that reports.  It runs no
threads, so that what it forks never waits for a lock that somebody else held.
"""

from __future__ import annotations

import pickle
import signal
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkProcess
from typing import Any, TypeVar

from graphlint.discover import Found
from graphlint.errors import Killed

R = TypeVar("R")
Group = Sequence[Found]
Job = Callable[[Group], R]

CONTEXT = get_context("fork")
KILLED = ("a process that reads files was ended from outside", "if memory ran out, check fewer files at once")


def forked(groups: Sequence[Group], sample: Group, job: Job[R], processors: int) -> Generator[R]:
    """The result of `job` for every group, in order; raises `Killed` if a process is killed."""
    receiving, sending = CONTEXT.Pipe(duplex=False)
    ahead = CONTEXT.Process(target=_ahead, args=(groups, sample, job, processors, sending, receiving))
    ahead.start()
    sending.close()
    left = len(groups)
    try:
        while left:
            yield _received(receiving, ahead)
            left -= 1
    finally:
        receiving.close()
        if left:
            ahead.terminate()
        ahead.join()


def _received(receiving: Connection, sender: ForkProcess) -> Any:
    if receiving not in wait([receiving, sender.sentinel]):
        raise Killed(*KILLED)
    try:
        result = pickle.loads(receiving.recv_bytes())
    except EOFError:
        raise Killed(*KILLED) from None
    if isinstance(result, Exception):
        raise result
    return result


def _end(*_: object) -> None:
    raise SystemExit


def _ahead(
    groups: Sequence[Group], sample: Group, job: Job[R], processors: int, sending: Connection, other: Connection
) -> None:
    """Work through the sample, then fork a process a batch, on one processor too.

    What a batch used goes back at once, without a collector walking over trees.
    """
    other.close()  # else nobody would notice that the reader has gone
    # An interrupt is for the process that waits: it ends the others, and says so once.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _end)  # ends the others on the way
    try:
        job(sample)
        for packed in _in_order(groups, job, processors):
            sending.send_bytes(packed)
    except OSError:
        pass  # the reader has gone
    except Exception as error:
        sending.send_bytes(pickle.dumps(error))


def _in_order(groups: Sequence[Group], job: Job[R], processors: int) -> Iterator[bytes]:
    """The packed results of all groups, of which some are worked on at once."""
    running: dict[Connection, tuple[int, ForkProcess]] = {}
    done: dict[int, bytes] = {}
    begun = told = 0
    while told < len(groups):
        while begun < len(groups) and len(running) < processors:
            receiving, process = _begun(groups[begun], job)
            running[receiving] = begun, process
            begun += 1
        ready = wait(list(running))
        for receiving in [each for each in running if each in ready]:
            number, process = running.pop(receiving)
            done[number] = _ended(receiving, process)
        while told in done:
            yield done.pop(told)
            told += 1


def _begun(group: Group, job: Job[R]) -> tuple[Connection, ForkProcess]:
    receiving, sending = CONTEXT.Pipe(duplex=False)
    process = CONTEXT.Process(target=_work, args=(group, job, sending, receiving), daemon=True)
    process.start()
    sending.close()
    return receiving, process


def _ended(receiving: Connection, process: ForkProcess) -> bytes:
    try:
        return receiving.recv_bytes()
    except EOFError:
        raise Killed(*KILLED) from None
    finally:
        receiving.close()
        process.join()


def _work(group: Group, job: Job[R], sending: Connection, other: Connection) -> None:
    other.close()  # else it would wait for ever if the process ahead is gone
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    try:
        packed = pickle.dumps(job(group))
    except Exception as error:
        packed = pickle.dumps(error)
    with suppress(OSError):  # nobody waits for it any more
        sending.send_bytes(packed)
