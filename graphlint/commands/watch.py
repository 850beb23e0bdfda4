"""`graphlint check --watch`: check again whenever a file changes, until interrupted.

Files are asked for their times: that works on every file system, and two stats a file and second cost nothing.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence

import click

from graphlint.config import Config
from graphlint.discover import discover
from graphlint.errors import GraphlintError

PAUSE = 0.5
CLEAR = "\033[2J\033[H"
Times = dict[str, tuple[int, int]]


def watched(paths: Sequence[str], settings: Callable[[], Config], again: Callable[[], None]) -> None:
    """Call `again` now and after every change; what is wrong for a moment is told and does not end it."""
    for _ in changes(lambda: times(paths, settings())):
        if sys.stdout.isatty():
            click.echo(CLEAR, nl=False)
        click.echo("graphlint: checking", err=True)
        try:
            again()
        except GraphlintError as error:
            click.echo(f"graphlint: {error}", err=True)
        click.echo("graphlint: watching; Ctrl-C ends it", err=True)
        sys.stdout.flush()


def changes(look: Callable[[], Times]) -> Iterator[Times]:
    """What is there at first, and then whenever it is different."""
    before: Times | None = None
    while True:
        try:
            now = look()
        except GraphlintError:
            now = {}
        if now != before:
            yield now
            before = now
        time.sleep(PAUSE)


def times(paths: Sequence[str], settings: Config) -> Times:
    """When each file was last written, and how long it is; the configuration file is one of them."""
    there = [path for path in paths if os.path.lexists(path)]
    files = [str(each.path) for each in discover(there, settings.exclude, settings.root).files]
    found: Times = {}
    for path in (*files, *([settings.origin] if settings.origin else [])):
        try:
            status = os.stat(path)
        except OSError:
            continue
        found[path] = (status.st_mtime_ns, status.st_size)
    return found
