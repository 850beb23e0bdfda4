"""Data loaders around a capture."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from graphlint.events import Event
from graphlint.site.acts import Act, Verb
from graphlint.site.construct import argument, constant
from graphlint.site.spawning import beside, work
from graphlint.site.story import Captured, Story, region, tell
from graphlint.site.things import Kind, Thing
from graphlint.site_events import LastBatch, LoaderThread
from graphlint.types import Confidence, Region

Told = Iterator[tuple[Region, Event]]


def threads(story: Story) -> Told:
    """A capture inside a loop over a loader that pins memory in a thread."""
    for captured in story.captures:
        act = story.acts[captured.begin]
        if constant(argument(captured.capture, "capture_error_mode", 3)) in ("thread_local", "relaxed"):
            continue
        loops = [layer.thing for layer in act.layers if layer.thing is not None and layer.thing.kind is Kind.LOADER]
        for loader in [*loops, *_begun(story, captured)]:
            if _pins(loader):
                yield region(captured, story.acts), tell(LoaderThread, act, loader=loader.name)
        for name, function in beside(story, captured.begin, captured.end):
            sure = Confidence.LIKELY if _touches_device(work(function)) else Confidence.POSSIBLE
            told = tell(LoaderThread, act, sure=sure, loader=name, thread=f"the thread `{name}`")
            yield region(captured, story.acts), told


def _pins(loader: Thing) -> bool:
    has_workers = constant(argument(loader, "num_workers", 5)) not in (0, ...) or _is_named(loader, "num_workers")
    return constant(argument(loader, "pin_memory")) is True and has_workers


def _begun(story: Story, captured: Captured) -> list[Thing]:
    """Loaders that are read through an iterator before the capture and go on behind it."""
    before = {id(act.thing): act.thing for _, act in story.between(-1, captured.begin, Verb.READ) if _is_next(act)}
    after = {id(act.thing) for _, act in story.between(captured.end, len(story.acts), Verb.READ) if _is_next(act)}
    return [loader for key, loader in before.items() if key in after]


def _is_next(act: Act) -> bool:
    """Whether an act is `next(it)` of an iterator that outlives the call."""
    read = act.node.args[:1] if isinstance(act.node, ast.Call) else []
    lasts = any(isinstance(each, (ast.Name, ast.Attribute)) for each in read)
    return act.name == "builtins.next" and act.thing.kind is Kind.LOADER and lasts


def _touches_device(work: list[ast.AST]) -> bool:
    """Whether functions, as far as they show it, work on the device."""
    return any(word in text for text in map(ast.unparse, work) for word in ("cuda", ".to(", "pin_memory", "copy_("))


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
