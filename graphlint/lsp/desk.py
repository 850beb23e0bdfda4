"""The open buffers of an editor, and what a check of them with the project around them finds.

A thorough check reads the whole project, if it is small enough, so that regions in other files are seen too; a quick
one reads only what is open, and follows calls into other files as every check does.
"""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from graphlint import config, notebook, registry
from graphlint.check import check
from graphlint.config import Config
from graphlint.discover import Found, discover, excludes
from graphlint.fix.marks import Form
from graphlint.frames import with_room
from graphlint.interp import interpreter
from graphlint.interp.standing import Standing
from graphlint.judge import Interpreter, RegionEvents
from graphlint.ledger import Ledger
from graphlint.registry import Registry
from graphlint.source import Source
from graphlint.types import Finding, Report

SMALL, FEW = 2 << 20, 120
"""Bytes and files of a project above which a check reads only what is open."""
UNNOTICED = 0.1
"""Seconds that a check may take to be made at every change at once."""
QUICK = 0.5
"""Seconds within which a thorough check is also made while someone types."""


class Stopped(BaseException):
    """A check was given up because a newer one is due; no handler of ordinary failures may take it for one."""


@dataclass
class Desk:
    """What is open in one editor; paths are absolute."""

    root: Path
    open: dict[str, bytes] = field(default_factory=dict)
    report: Report = field(default_factory=lambda: Report(()))
    took: float = 0.0
    quick: float = 1.0
    standing: Standing = field(default_factory=Standing)
    _near: list[str] = field(default_factory=list)
    _settings: tuple[object, Config] | None = None
    _known: dict[tuple[object, ...], Registry] = field(default_factory=dict)

    def settings(self) -> Config:
        """The configuration that holds, read again when one of its files has changed."""
        files = [str(folder / name) for folder in config.folders(self.root) for name in config.FILES]
        looks = tuple((each, _written(each)) for each in files)
        if self._settings is None or self._settings[0] != looks:
            self._settings = looks, config.load(self.root)
        return self._settings[1]

    def rules(self, settings: Config) -> Registry:
        """The rules of a configuration, imported once."""
        key = (settings.rules, settings.root, settings.packs)
        if key not in self._known:
            self._known[key] = registry.load(settings.rules, settings.root, settings.packs)
        return self._known[key]

    def form(self, reason: str) -> Form:
        """How a suppression is written here."""
        settings = self.settings()
        return Form(self.rules(settings).words, reason, settings.require_reasons)

    def checked(self, texts: Mapping[str, bytes], thorough: bool, is_stale: Callable[[], bool] = lambda: False) -> Report:
        """Check given contents with the project around them; raises `Stopped` when that is no longer wanted."""
        return self._checked(self.settings(), texts, thorough, is_stale, None)

    def kept_up(self, texts: Mapping[str, bytes], thorough: bool, is_stale: Callable[[], bool] = lambda: False) -> Report:
        """Check what is open, from what is known of it and of all that it uses; raises `Stopped`."""
        started = time.monotonic()
        # What the standing project holds is no garbage, and a collector would walk all of it again and again.
        gc.disable()
        try:
            report = self._checked(self.settings(), texts, thorough, is_stale, self.standing)
        finally:
            gc.freeze()
            gc.enable()
        self.quick = time.monotonic() - started
        return report

    def _checked(
        self,
        settings: Config,
        texts: Mapping[str, bytes],
        thorough: bool,
        is_stale: Callable[[], bool],
        standing: Standing | None,
    ) -> Report:
        wanted = [each for each in texts if not excludes(Found(Path(each), each), settings.exclude, settings.root)]
        if thorough:
            self._near = self._around(settings)
        around = self._near if thorough or self.took < QUICK else []
        paths = sorted({*wanted, *around})
        if not paths:
            return Report(())
        started = time.monotonic()
        interpret = _stoppable(interpreter(settings, texts, standing), is_stale)
        # At once, as others would be checked by processes, which a server with threads had better not start.
        report = with_room(lambda: check(paths, settings, self.rules(settings), interpret, texts, at_once=True))
        self.took = time.monotonic() - started if around else self.took
        return report

    @property
    def is_quick(self) -> bool:
        """Whether the last check ended before anybody would notice."""
        return self.quick < UNNOTICED

    def _around(self, settings: Config) -> list[str]:
        """The files of the project, if they are few."""
        found = [os.path.abspath(each.path) for each in discover([str(self.root)], settings.exclude, settings.root).files]
        return found if len(found) < FEW and sum(_size(each) for each in found) < SMALL else []

    def findings(self, path: str) -> list[Finding]:
        """What was found last in a file, or in all cells of a notebook."""
        return [each for each in self.report.findings if os.path.abspath(notebook.split(each.span.file)[0]) == path]


def _written(path: str) -> tuple[int, int]:
    """When a file was last written, and how long it is; zeros for one that is not there."""
    try:
        status = os.stat(path)
    except OSError:
        return 0, 0
    return status.st_mtime_ns, status.st_size


def _size(path: str) -> int:
    try:
        return os.path.getsize(path)
    except OSError:
        return 0


def _stoppable(interpret: Interpreter, is_stale: Callable[[], bool]) -> Interpreter:
    """An interpreter, given up between two regions when its result is no longer wanted."""

    def run(
        sources: Sequence[Source],
        named: Collection[str] = (),
        names: Mapping[str, str] = MappingProxyType({}),
        ledger: Ledger | None = None,
    ) -> Iterator[RegionEvents]:
        for each in interpret(sources, named, names, ledger):
            if is_stale():
                raise Stopped
            yield each

    return run
