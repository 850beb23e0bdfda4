"""Data loaders around a capture."""

from __future__ import annotations

from collections.abc import Iterator

from graphlint.events import Event
from graphlint.site.acts import Verb
from graphlint.site.construct import argument, constant
from graphlint.site.story import Story, region, tell
from graphlint.site.things import Kind, Thing
from graphlint.site_events import LastBatch, LoaderThread
from graphlint.types import Region

Told = Iterator[tuple[Region, Event]]


def threads(story: Story) -> Told:
    """A capture inside a loop over a loader that pins memory in a thread."""
    for captured in story.captures:
        act = story.acts[captured.begin]
        mode = constant(argument(captured.capture, "capture_error_mode", 3))
        for layer in act.layers:
            loader = layer.thing
            if loader is None or loader.kind is not Kind.LOADER or mode in ("thread_local", "relaxed"):
                continue
            has_workers = constant(argument(loader, "num_workers", 5)) not in (0, ...) or _is_named(loader, "num_workers")
            if constant(argument(loader, "pin_memory")) is True and has_workers:
                yield region(captured, story.acts), tell(LoaderThread, act, loader=loader.name)


def _is_named(loader: Thing, name: str) -> bool:
    """Whether an argument is given, and not as a constant."""
    given = loader.arguments.get(name)
    return given is not None and constant(given) is ...


def last_batches(story: Story) -> Told:
    """A loop over a loader whose last batch can be smaller than the input it fills."""
    for captured in story.captures:
        for _, act in story.between(captured.end, len(story.acts), Verb.WRITE):
            loader = next(
                (layer.thing for layer in act.layers if layer.thing is not None and layer.thing.kind is Kind.LOADER), None
            )
            if loader is None or act.is_partial or id(act.thing.owner) not in captured.reads:
                continue
            if constant(argument(loader, "drop_last")) is not True and "batch_sampler" not in loader.arguments:
                told = tell(LastBatch, act, loader=act.text)
                yield region(captured, story.acts), told
