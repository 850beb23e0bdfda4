"""One line that says what is going on: only on a terminal, only after a second, and gone when it is done."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

DELAY = 1.0
CLEAR = "\r\033[K"


@contextmanager
def told(doing: str) -> Iterator[None]:
    """Say what is done while it is done."""
    if not sys.stderr.isatty():
        yield
        return
    from threading import Timer  # here because a run that nobody watches does not need it

    shown: list[str] = []

    def say() -> None:
        shown.append(doing)
        sys.stderr.write(f"{doing} ...")
        sys.stderr.flush()

    timer = Timer(DELAY, say)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        if shown:
            sys.stderr.write(CLEAR)
            sys.stderr.flush()
