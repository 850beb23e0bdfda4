"""Data loaders around a capture."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from graphlint.events import Event
from graphlint.site.acts import Act, Verb
from graphlint.site.construct import argument, constant
from graphlint.site.graphed import MAKES, graphed_region
from graphlint.site.story import Story, region, tell
from graphlint.site.things import Kind, Thing
from graphlint.site_events import LastBatch, LoaderThread
from graphlint.syntax import last, last_called
from graphlint.types import Region

Told = Iterator[tuple[Region, Event]]


def threads(story: Story) -> Told:
    """A capture inside a loop over a loader that pins memory in a thread."""
    for captured in story.captures:
        act = story.acts[captured.begin]
        if constant(argument(captured.capture, "capture_error_mode", 3)) in ("thread_local", "relaxed"):
            continue
        for loader in _alive(story, act, captured.begin, captured.end):
            yield region(captured, story.acts), tell(LoaderThread, act, loader=loader.name)


def beside_graphed(story: Story) -> Told:
    """Callables that are graphed while such a loader is alive: the mode of those captures cannot be chosen."""
    for index, act in enumerate(story.acts):
        if act.verb is Verb.CALL and act.thing.kind is Kind.OUTSIDE and act.thing.name.endswith(MAKES):
            for loader in _alive(story, act, index, index):
                yield graphed_region(act, act.thing), tell(LoaderThread, act, loader=loader.name)


def _alive(story: Story, act: Act, begin: int, end: int) -> list[Thing]:
    """Loaders whose pinning threads run while something is captured."""
    loops = [layer.thing for layer in act.layers if layer.thing is not None and layer.thing.kind is Kind.LOADER]
    return [loader for loader in (*loops, *_begun(story, begin, end), *_opened(story, begin, end)) if _pins(loader)]


def _opened(story: Story, begin: int, end: int) -> list[Thing]:
    """Loaders of which an iterator is made before a capture, and a loop goes over it behind that."""
    made = [act for _, act in story.between(-1, begin, Verb.BIND) if act.thing.kind is Kind.LOADER and _is_iterator(act)]
    if not made:
        return []
    loops = {id(layer.node): layer.node for act in story.acts[end:] for layer in act.layers}
    sources = {last(node.iter) for node in loops.values() if isinstance(node, ast.For)}
    return [act.thing for act in made if act.slot is not None and act.slot.key in sources]


def _is_iterator(bind: Act) -> bool:
    value = bind.node.value if isinstance(bind.node, ast.Assign) else None
    return isinstance(value, ast.Call) and last_called(value) == "iter"


def _pins(loader: Thing) -> bool:
    has_workers = constant(argument(loader, "num_workers", 5)) not in (0, ...) or _is_named(loader, "num_workers")
    return constant(argument(loader, "pin_memory")) is True and has_workers


def _begun(story: Story, begin: int, end: int) -> list[Thing]:
    """Loaders that are read through an iterator before the capture and go on behind it."""
    before = {id(act.thing): act.thing for _, act in story.between(-1, begin, Verb.READ) if _is_next(act)}
    after = {id(act.thing) for _, act in story.between(end, len(story.acts), Verb.READ) if _is_next(act)}
    return [loader for key, loader in before.items() if key in after]


def _is_next(act: Act) -> bool:
    """Whether an act is `next(it)` of an iterator that outlives the call."""
    read = act.node.args[:1] if isinstance(act.node, ast.Call) else []
    lasts = any(isinstance(each, (ast.Name, ast.Attribute)) for each in read)
    return act.name == "builtins.next" and act.thing.kind is Kind.LOADER and lasts


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
