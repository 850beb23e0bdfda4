"""Data loaders around a capture."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import islice

from graphlint.events import Event
from graphlint.project import ClassDecl
from graphlint.site.acts import Act, Verb
from graphlint.site.construct import argument, constant
from graphlint.site.story import Captured, Story, region, tell
from graphlint.site.things import Kind, Thing
from graphlint.site_events import LastBatch, LoaderThread
from graphlint.syntax import last, last_called, walk
from graphlint.types import Confidence, Region

Told = Iterator[tuple[Region, Event]]
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


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
        run = _run_by(story, act.thing) if act.name == "start" else None
        if run is None:
            continue
        since = story.between(index, captured.begin, Verb.METHOD)
        if not any(each.thing is act.thing and each.name == "join" for _, each in since):
            name, work = run
            yield name, Confidence.LIKELY if _touches_device(work) else Confidence.POSSIBLE


def _run_by(story: Story, thread: Thing) -> tuple[str, list[ast.AST]] | None:
    """What a thread runs, by name, and those functions of it that are in sight; None for what is no thread."""
    if thread.decl is not None:
        return (thread.decl.name, _behind_run(thread.decl)) if _is_thread(thread.decl) else None
    if thread.name != "threading.Thread" or not isinstance(thread.node, ast.Call):
        return None
    target = next((word.value for word in thread.node.keywords if word.arg == "target"), ast.Name(""))
    found = (each for each in walk(story.module.source.tree) if isinstance(each, FUNCTIONS) and each.name == last(target))
    return ast.unparse(target), [*islice(found, 1)]


def _is_thread(decl: ClassDecl) -> bool:
    return any(last(base) == "Thread" for base in decl.node.bases)


def _behind_run(decl: ClassDecl) -> list[ast.AST]:
    """The method `run` of a class, and those of the class that it calls."""
    own: dict[str, ast.AST] = {each.name: each for each in decl.node.body if isinstance(each, FUNCTIONS)}
    run = own.get("run")
    called = {last_called(each) for each in walk(run)} if run is not None else set()
    return [each for name, each in own.items() if name == "run" or name in called]


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
