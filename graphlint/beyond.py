"""What regions lead to in files that a run does not check: counted, so that no such region is called clean."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from graphlint import suppress
from graphlint.errors import Unreadable
from graphlint.events import Event, LimitReached
from graphlint.merge import merged
from graphlint.outline import outlined
from graphlint.registry import Registry
from graphlint.source import content, may_hold, text_of
from graphlint.types import Finding

NO_MARKS = suppress.Marks((), ())


class Beyond:
    """Judges events in other files; the comments of each are read once."""

    def __init__(self, registry: Registry, need_reasons: bool) -> None:
        self._registry = registry
        self._need_reasons = need_reasons
        self._marks: dict[str, suppress.Marks] = {}

    def found(self, events: Iterable[Event], region: str) -> tuple[Finding, ...]:
        """One finding a place, without those that a comment there accepts."""
        faults = (event for event in events if not isinstance(event, LimitReached))
        every = merged(self._registry.judge(faults, region))
        files = {each.span.file for each in every}
        return suppress.apply(every, {file: self._marks_of(file) for file in files}).findings

    def _marks_of(self, file: str) -> suppress.Marks:
        if file not in self._marks:
            self._marks[file] = self._read(file)
        return self._marks[file]

    def _read(self, file: str) -> suppress.Marks:
        try:
            if may_hold(text_of(content(Path(file)), file)):
                return suppress.marks(outlined(Path(file), file), self._registry.words, self._need_reasons)
        except Unreadable:
            pass  # it was read a moment ago, so somebody is writing it
        return NO_MARKS
