"""Events that mean something only together with others of their region."""

from __future__ import annotations

from dataclasses import replace

from graphlint.events import (
    BackwardRun,
    Event,
    FrozenScalar,
    GraphBreak,
    HostBranch,
    HostCast,
    HostCompare,
    HostFormat,
    HostMutation,
    HostRead,
    LibraryRead,
    LibraryRefused,
    Synchronize,
)
from graphlint.interp.raising import SEED_SET
from graphlint.interp.untraced import HELD, KEPT_OUT
from graphlint.interp.wrapped import OWN_GRAPHS
from graphlint.site_events import GrowingState
from graphlint.types import Confidence, Target


def grounded(events: tuple[Event, ...]) -> tuple[Event, ...]:
    """Events without those that need another one: reads of a backward pass, numbers that are frozen if they change.

    Nor those that another one says as well: what may lie on either side waits for the device or splits the graph.
    """
    if any(isinstance(event, GraphBreak) and event.why == HELD for event in events):
        events = _told_once(events)
    if not any(isinstance(event, BackwardRun) for event in events):
        events = tuple(event for event in events if not (isinstance(event, LibraryRead) and event.backward))
    if any(isinstance(event, HostMutation) and event.why == SEED_SET for event in events):
        from graphlint.interp.seeding import reseeded  # here because few regions set seeds

        events = reseeded(events)
    if any(isinstance(event, HostMutation) and event.confidence is not Confidence.POSSIBLE for event in events):
        return events
    return tuple(event for event in events if not _is_of_counter(event))


def _is_of_counter(event: Event) -> bool:
    """Whether an event is none where the number stands still that it speaks of."""
    if isinstance(event, FrozenScalar):
        return event.what == "number"
    return isinstance(event, GrowingState) and (event.is_cut or event.is_window)


ASKING = (HostRead, HostCast, HostBranch, HostCompare, HostFormat)
"""Events in which Python asks for what a tensor on the device holds."""


def _told_once(events: tuple[Event, ...]) -> tuple[Event, ...]:
    told = {
        event.span
        for event in events
        if isinstance(event, ASKING) and event.targets & Target.COMPILE and event.confidence is not Confidence.POSSIBLE
    }
    return tuple(
        event for event in events if not (isinstance(event, GraphBreak) and event.why == HELD and event.span in told)
    )


def narrowed(events: tuple[Event, ...], target: Target) -> tuple[Event, ...]:
    """Events of code that is captured in one way only."""
    return tuple(replace(event, targets=event.targets & target) for event in events if event.targets & target)


def supposed(events: tuple[Event, ...]) -> tuple[Event, ...]:
    """Events of a `forward` that nobody was seen capturing or compiling, where its author says how it is run.

    Who compiles a part of it into graphs does not capture it whole, and who keeps a part out of them wants the break.
    Calls that lead to a capture are around a region and not in one.
    """
    around = {each.trail[0].span for each in events if _captures(each)}
    return tuple(
        replace(each, confidence=Confidence.POSSIBLE)
        if _is_meant(each) or (around and each.trail and each.trail[0].span in around)
        else each
        for each in events
    )


def _captures(event: Event) -> bool:
    return isinstance(event, Synchronize) and event.call == "torch.cuda.graph" and bool(event.trail)


def _is_meant(event: Event) -> bool:
    return isinstance(event, (LibraryRefused, GraphBreak)) and event.why in (OWN_GRAPHS, KEPT_OUT)
