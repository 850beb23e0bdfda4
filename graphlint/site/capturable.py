"""Optimizers that are made for captures and are never captured, or that are told otherwise by a state they load."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from graphlint.around_events import CapturableUnused
from graphlint.events import Event, LibraryRefused
from graphlint.modules import once_a_module
from graphlint.project import Module
from graphlint.site.acts import Act, Verb
from graphlint.site.construct import argument, constant
from graphlint.site.story import Captured, Story, region, tell
from graphlint.site.things import Kind, Thing
from graphlint.spellings import is_compile, spellings
from graphlint.syntax import walk
from graphlint.types import Region


def unused(story: Story) -> Iterator[tuple[Region, Event]]:
    """Steps outside of all regions, of an optimizer with `capturable=True` that nobody else gets."""
    if not story.captures or "capturable" not in story.module.source.text:
        return
    final, told = story.captures[-1], set[int]()
    for _, act in story.between(final.end, len(story.acts), Verb.METHOD):
        if not _steps(act) or id(act.thing) in told or constant(argument(act.thing, "capturable")) is not True:
            continue
        told.add(id(act.thing))
        if not _is_captured(story, act):
            yield region(final, story.acts), tell(CapturableUnused, act, target=act.text)


def _steps(act: Act) -> bool:
    return act.verb is Verb.METHOD and act.name == "step" and act.thing.kind is Kind.OPTIMIZER


def _is_captured(story: Story, step: Act) -> bool:
    """Whether an optimizer, or its twin of the same make, steps in a region, or is handed to whoever may do that."""
    for index, act in enumerate(story.acts):
        if act.thing is step.thing and act.verb in (Verb.READ, Verb.KEEP, Verb.RETURN):
            return True
        if _steps(act) and act.thing.node is step.thing.node and story.is_captured(index):
            return True
    return _compiles(step.frame.module)


@once_a_module
def _compiles(module: Module) -> bool:
    """Whether a file compiles something: that may be the step."""
    by = spellings(module)
    return any(isinstance(each, ast.expr) and is_compile(each, by) for each in walk(module.source.tree))


LOADED = "the state that it loaded says `capturable=False`"


def lost(story: Story) -> Iterator[tuple[Region, Event]]:
    """Captured steps of an optimizer that took its options from one that was made without `capturable=True`.

    `load_state_dict` replaces the options of the groups by those of the state (torch 2.13).
    """
    if "capturable" not in story.module.source.text:
        return
    for captured in story.captures:
        for _, act in story.between(captured.begin, captured.end, Verb.METHOD):
            is_made_for_it = _steps(act) and constant(argument(act.thing, "capturable")) is True
            if is_made_for_it and _is_loaded_plain(story, captured, act.thing):
                yield region(captured, story.acts), tell(LibraryRefused, act, call="step", why=LOADED)


def _is_loaded_plain(story: Story, captured: Captured, optimizer: Thing) -> bool:
    """Whether the last state that an optimizer loads before a capture is one of an optimizer without the option."""
    before = list(story.between(optimizer.born, captured.begin, Verb.METHOD, Verb.BIND))
    loads = [
        (at, each)
        for at, each in before
        if each.verb is Verb.METHOD and each.name == "load_state_dict" and each.thing is optimizer
    ]
    if not loads:
        return False
    at, load = loads[-1]
    turned = any(
        each.slot is not None and "capturable" in each.slot.key
        for index, each in before
        if each.verb is Verb.BIND and index > at
    )
    source = _source(load.other)
    if turned or load.is_maybe or source is None or source.name != optimizer.name:
        return False
    given = argument(source, "capturable")
    return given is None or constant(given) is False


def _source(state: Thing | None) -> Thing | None:
    """The optimizer whose state something is, or a copy of."""
    for _ in range(3):
        if state is None or state.kind is Kind.OPTIMIZER:
            return state
        state = state.made_by[0] if state.made_by else state.base
    return None
