"""Batches in forked processes, which find what a sample of the files made known.

    this process  <-results-  one ahead, which works through the sample  <-  a process a batch

Memory is why there is one ahead: what the sample made known is no burden for the process that reports.
"""

from __future__ import annotations

import pickle
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from typing import TypeVar

from graphlint.discover import Found

R = TypeVar("R")
Group = Sequence[Found]
Job = Callable[[Group], R]

CONTEXT = get_context("fork")

_job: list[Job[object]] = []
"""What forked processes run; a closure cannot be sent to them, but it is there when they begin."""


def forked(groups: Sequence[Group], sample: Group, job: Job[R], processors: int) -> Iterator[R]:
    """The result of `job` for every group, in order; raises `RuntimeError` if the process ahead is killed."""
    receiving, sending = CONTEXT.Pipe(duplex=False)
    ahead = CONTEXT.Process(target=_ahead, args=(groups, sample, job, min(processors, len(groups)), sending, receiving))
    ahead.start()
    sending.close()
    try:
        for _ in groups:
            if receiving not in wait([receiving, ahead.sentinel]):
                raise RuntimeError("a process that reads files was ended from outside")
            result = pickle.loads(receiving.recv_bytes())
            if isinstance(result, Exception):
                raise result
            yield result
    finally:
        receiving.close()
        ahead.terminate()
        ahead.join()


def _ahead(
    groups: Sequence[Group], sample: Group, job: Job[R], processes: int, sending: Connection, other: Connection
) -> None:
    """Work through the sample, then fork a process a batch, on one processor too.

    What a batch used goes back at once, without a collector walking over trees.
    """
    other.close()  # else nobody would notice that the reader has gone
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())  # ends the others on the way
    _job[:] = [job]
    try:
        job(sample)
        with CONTEXT.Pool(processes, _hold, maxtasksperchild=1) as pool:
            for packed in pool.imap(_run, groups):
                sending.send_bytes(packed)
    except OSError:
        pass  # the reader has gone
    except Exception as error:
        sending.send_bytes(pickle.dumps(error))


def _hold() -> None:
    """Leave an interrupt to the process that waits: it ends the others, and says so once."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _run(group: Group) -> bytes:
    return pickle.dumps(_job[0](group))
