"""Which lines ran: `sys.monitoring` where Python has it (3.12), `sys.settrace` elsewhere.

Monitoring also sees the autograd engine's threads; tracing sees this thread only.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import Any

from graphlint.confirm.frames import hidden

Lines = dict[str, set[int]]


@contextmanager
def executed(into: Lines) -> Iterator[None]:
    """Adds the user lines that run inside to `into`."""
    watch = _monitored if sys.version_info >= (3, 12) and _free_tool() is not None else _traced
    with watch(into):
        yield


def _free_tool() -> int | None:
    monitoring: Any = getattr(sys, "monitoring", None)
    return next((each for each in (4, 3, 2) if monitoring.get_tool(each) is None), None)


@contextmanager
def _monitored(into: Lines) -> Iterator[None]:
    monitoring: Any = sys.monitoring  # type: ignore[attr-defined,unused-ignore]  # since 3.12
    tool, event = _free_tool(), monitoring.events.LINE

    def line(code: CodeType, number: int) -> object:
        if not hidden(code.co_filename):
            into.setdefault(code.co_filename, set()).add(number)
        return monitoring.DISABLE

    monitoring.use_tool_id(tool, "graphlint")
    monitoring.register_callback(tool, event, line)
    monitoring.restart_events()
    monitoring.set_events(tool, event)
    try:
        yield
    finally:
        monitoring.set_events(tool, 0)
        monitoring.free_tool_id(tool)


@contextmanager
def _traced(into: Lines) -> Iterator[None]:
    def local(frame: FrameType, event: str, argument: object) -> object:
        if event == "line":
            into[frame.f_code.co_filename].add(frame.f_lineno)
        return local

    def enter(frame: FrameType, event: str, argument: object) -> object:
        if hidden(frame.f_code.co_filename):
            return None
        into.setdefault(frame.f_code.co_filename, set())
        return local

    before = sys.gettrace()
    sys.settrace(enter)  # type: ignore[arg-type]  # typeshed wants the exact event literals
    try:
        yield
    finally:
        sys.settrace(before)


def frozen(lines: Lines) -> dict[str, tuple[int, ...]]:
    """The same, sorted and without empty files."""
    return {file: tuple(sorted(numbers)) for file, numbers in sorted(lines.items()) if numbers}
