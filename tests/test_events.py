"""Events share the methods of `Event`; to everybody else they are frozen dataclasses."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Iterator
from dataclasses import FrozenInstanceError, fields, replace

import pytest

from graphlint import site_events
from graphlint.events import Event, FrozenScalar, GraphBreak, HostBranch, HostFormat
from graphlint.types import Confidence, Span, Step, Target

SPAN = Span("model.py", 1, 0, 1, 8)
EVENT = FrozenScalar(span=SPAN, text="x.scale", targets=Target.GRAPH, trail=(Step(SPAN, "step"),), what="x.scale")


def kinds(base: type[Event] = Event) -> Iterator[type[Event]]:
    for kind in base.__subclasses__():
        yield kind
        yield from kinds(kind)


def test_every_kind_keeps_what_it_is_told_and_no_more() -> None:
    assert site_events.__name__ in {kind.__module__ for kind in kinds()}
    for kind in kinds():
        told = {each.name: f"a {each.name}" for each in fields(kind)}
        event = kind(**told)  # type: ignore[arg-type]
        assert {each.name: getattr(event, each.name) for each in fields(event)} == told
        assert not hasattr(event, "__dict__")


def test_what_is_not_said_has_its_default() -> None:
    assert (EVENT.recorded, EVENT.confidence) == ("value", Confidence.CERTAIN)
    with pytest.raises(TypeError, match="`FrozenScalar` needs `what`"):
        FrozenScalar(span=SPAN, text="")  # type: ignore[call-arg]
    with pytest.raises(AttributeError, match="construc"):
        HostBranch(span=SPAN, text="", construct="if", construc="while")  # type: ignore[call-arg]


def test_nothing_of_an_event_can_be_set_or_deleted() -> None:
    with pytest.raises(FrozenInstanceError):
        EVENT.text = "y"  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        del EVENT.text


@pytest.mark.parametrize("made", [copy.copy, copy.deepcopy, lambda event: pickle.loads(pickle.dumps(event)), replace])
def test_a_copy_is_the_same_event(made: Callable[[Event], Event]) -> None:
    same = made(EVENT)
    assert (same, hash(same), repr(same)) == (EVENT, hash(EVENT), repr(EVENT))


def test_events_that_differ_in_a_field_or_their_kind_are_not_equal() -> None:
    assert replace(EVENT, recorded="address") != EVENT
    branch, text = HostBranch(span=SPAN, text="x", construct="if"), HostFormat(span=SPAN, text="x", construct="if")
    assert branch != text and branch == replace(branch)
    assert GraphBreak(span=SPAN, text="x", construct="if", why="") != branch
