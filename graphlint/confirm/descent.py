"""Processes and what they start: none is left behind, whatever ends the one that started it."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from contextlib import suppress

DIE_WITH_PARENT = 1
ORPHANED = 3


def follow(parent: int) -> None:
    """Die with `parent`, which started this process (Linux), or at once if it is gone already."""
    if sys.platform.startswith("linux"):
        with suppress(AttributeError, OSError):
            ctypes.CDLL(None).prctl(DIE_WITH_PARENT, signal.SIGKILL)
    # A parent that died before has left this process to another; its id may still be that of a zombie.
    if os.name == "posix" and os.getppid() != parent:
        os._exit(ORPHANED)


def end_group(leader: int) -> None:
    """End a process that leads a group, and everything it started."""
    if hasattr(os, "killpg"):
        with suppress(ProcessLookupError, PermissionError):  # the whole group may be gone already
            os.killpg(leader, signal.SIGKILL)


def resident(pid: int) -> int:
    """Bytes of host memory a process holds, 0 where the platform does not say."""
    try:
        with open(f"/proc/{pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError, ValueError):
        return 0
