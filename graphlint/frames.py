"""Room for the frames of calls that nest deeply.

CPython keeps frames in chunks of 16 KiB and gives a chunk back to the system as soon as the last frame in it ends (since
3.11: `_PyThreadState_PopFrame` in `Python/pystate.c`).  Code that goes up and down across the edge of a chunk maps and
unmaps memory at every step, which took a fifth of the time of a check.  A chunk is made as large as the frame that begins
it asks for, so a frame that asks for much more than it uses leaves the rest to all those above it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

R = TypeVar("R")

SLOTS = 1 << 18
"""Of 8 bytes each; what is not used is never touched and takes no memory."""


def with_room(work: Callable[[], R]) -> R:
    """What `work` gives, run where thousands of calls find room in one chunk."""
    return work()


with_room.__code__ = with_room.__code__.replace(co_stacksize=SLOTS)
