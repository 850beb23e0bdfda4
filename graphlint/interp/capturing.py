"""Captures that statements open and close: `graph.capture_begin()`, a stack of contexts, functions that do so for others.

What such a function leaves open goes on in the code that called it, and ends where that calls its counterpart.
"""

from __future__ import annotations

import ast

from graphlint.captors import BEGINS
from graphlint.interp.frame import Frame, Opened, Summary
from graphlint.record import NamedTuple

STACK = "contextlib.ExitStack"


class Suspended(NamedTuple):
    """A capture that one arm of an `if` has opened, while the other arm runs."""

    opened: tuple[Opened, ...]
    recording: bool
    summary: Summary


def close_to(frame: Frame, opened: tuple[Opened, ...]) -> None:
    """End every capture that was opened since then."""
    while len(frame.opened) > len(opened):
        close(frame)


def close(frame: Frame) -> None:
    """End the latest capture; one that the caller has begun ends for the rest of this function, and then for the caller."""
    if frame.opened:
        *rest, last = frame.opened
        frame.opened = tuple(rest)
        last.leave()
    else:
        frame.summary.switches -= 1
        frame.recording = False


def leave_open(frame: Frame) -> None:
    """A function ends within a capture: what it captured so far is a region if anything happened there."""
    captures = frame.machine.captures
    before = len(captures)
    close_to(frame, ())
    frame.summary.switches += len(captures) - before
    captures[before:] = [each for each in captures[before:] if _has_content(each.summary)]


def _has_content(root: Summary) -> bool:
    return any(link.summary.events or link.summary.links for link in root.links)


def step_out(frame: Frame, opened: tuple[Opened, ...]) -> Suspended | None:
    """Behind an arm of an `if` that opened a capture: it goes on behind the `if`, but not in the other arm."""
    if len(frame.opened) <= len(opened):
        return None
    if not frame.live:
        close_to(frame, opened)
        return None
    found = Suspended(frame.opened, frame.recording, frame.summary)
    first = frame.opened[len(opened)]
    frame.opened, frame.recording, frame.summary = opened, first.recording, first.summary
    return found


def step_in(frame: Frame, suspended: Suspended) -> None:
    frame.opened, frame.recording, frame.summary = suspended


def begins(body: ast.AST) -> bool:
    """Whether code calls `capture_begin`."""
    return any(isinstance(each, ast.Attribute) and each.attr == BEGINS for each in ast.walk(body))
