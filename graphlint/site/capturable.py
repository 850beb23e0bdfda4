"""Optimizers that are made for captures and are never captured."""

from __future__ import annotations

from collections.abc import Iterator

from graphlint.events import Event
from graphlint.gradient_events import CapturableUnused
from graphlint.site.acts import Act, Verb
from graphlint.site.construct import argument, constant
from graphlint.site.story import Story, region, tell
from graphlint.site.things import Kind
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
    return "torch.compile" in step.frame.module.source.text
