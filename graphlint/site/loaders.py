"""Data loaders around a capture."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from graphlint.events import Event
from graphlint.site.acts import Act, Verb
from graphlint.site.construct import argument, constant
from graphlint.site.story import Captured, Story, region, tell
from graphlint.site.things import Kind, Thing
from graphlint.site_events import LastBatch, LoaderThread
from graphlint.syntax import walk
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
        for name, sure in _started(story, captured):
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


def _started(story: Story, captured: Captured) -> Iterator[tuple[str, Confidence]]:
    """Threads that were started and not waited for, and how sure it is that they use the device."""
    if any(act.name == "join" for _, act in story.between(captured.begin, captured.end, Verb.METHOD)):
        # Threads that are waited for inside record their share of the graph.
        return
    for index, act in story.between(-1, captured.begin, Verb.METHOD):
        if act.name != "start" or act.thing.name != "threading.Thread" or not isinstance(act.thing.node, ast.Call):
            continue
        since = story.between(index, captured.begin, Verb.METHOD)
        if any(each.thing is act.thing and each.name == "join" for _, each in since):
            continue
        target = next((word.value for word in act.thing.node.keywords if word.arg == "target"), None)
        name = "" if target is None else ast.unparse(target)
        yield name, Confidence.LIKELY if _touches_device(story, name) else Confidence.POSSIBLE


def _touches_device(story: Story, name: str) -> bool:
    """Whether the function of a thread, as far as the file shows it, works on the device."""
    last = name.rpartition(".")[2]
    for node in walk(story.module.source.tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == last:
            words = ast.unparse(node)
            return any(word in words for word in ("cuda", ".to(", "pin_memory", "copy_("))
    return False


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
