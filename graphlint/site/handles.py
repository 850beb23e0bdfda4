"""Graph objects that are used in ways they refuse, and captures that end on another stream than they began on."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from graphlint.events import Event
from graphlint.modules import once_a_module
from graphlint.project import Module
from graphlint.site.acts import Act, Verb
from graphlint.site.story import Captured, Story, region, tell
from graphlint.site.things import Kind, Thing
from graphlint.site_events import GraphMisused
from graphlint.syntax import TRIES, stands_in, walk
from graphlint.types import Region

Told = Iterator[tuple[Region, Event]]
CHOICES: tuple[type[ast.stmt | ast.expr], ...] = (ast.If, ast.IfExp, *TRIES, ast.While, ast.Match)
BEGINS = "capture_begin"


def misused(story: Story) -> Told:
    """Captures into a graph that holds one, replays of one that was reset, captures on the default stream."""
    for captured in story.captures:
        act = story.acts[captured.begin]
        for why, cure in (_held(story, captured, act), _on_default_stream(story, captured, act), _unbuffered(act)):
            if why:
                yield region(captured, story.acts), tell(GraphMisused, act, why=why, cure=cure)
                break
        yield from _emptied(story, captured)
        yield from _within(story, captured)


def _within(story: Story, captured: Captured) -> Told:
    """Replays inside a capture, its own pool asked for, and a stream that is made current in it and stays so.

    Measured on an H200 with torch 2.11: "Called CUDAGraph::pool() without a preceding successful capture".
    """
    where, begin = region(captured, story.acts), story.acts[captured.begin]
    for _, act in story.between(captured.begin, captured.end, Verb.METHOD):
        if act.frame is not begin.frame and is_choice(story, begin):
            continue  # what is handed to a helper that may capture it
        if act.name == "replay" and act.thing.kind is Kind.GRAPH:
            why = "a stream that is capturing takes no graph to launch"
            yield where, tell(GraphMisused, act, why=why, cure="replay it outside the capture")
        elif act.name == "pool" and act.thing is captured.graph:
            why = "a graph has no pool to share before its capture has ended"
            cure = "ask for it behind the capture, or give each one the same `torch.cuda.graph_pool_handle()`"
            yield where, tell(GraphMisused, act, why=why, cure=cure)
        elif act.name == "reset" and act.thing.kind is Kind.GRAPH and act.thing is not captured.graph:
            yield where, tell(GraphMisused, act, why=DROPPED, cure=KEEP)
    for _, act in story.between(captured.begin, captured.end, Verb.BIND):
        if _lets_go(story, captured, act):
            yield where, tell(GraphMisused, act, why=DROPPED, cure=KEEP)
    changes = [act for _, act in story.between(captured.begin, captured.end, Verb.CALL) if act.thing.name in CHANGES]
    if len(changes) == 1:
        why = "the capture must end on the stream it began on"
        cure = "change the stream with `with torch.cuda.stream(...)`, which goes back to the first one"
        yield where, tell(GraphMisused, changes[0], why=why, cure=cure)


DROPPED, KEEP = "a graph cannot be destroyed while another is captured", "let go of it before or behind the capture"


def _lets_go(story: Story, captured: Captured, bind: Act) -> bool:
    """Whether an act takes the last name of another graph away.  Measured: H200, torch 2.11, in each of three ways."""
    graph = bind.other
    if graph is None or graph.kind is not Kind.GRAPH or graph in (captured.graph, bind.thing) or bind.is_maybe:
        return False
    held = [act for act in story.acts[: captured.begin] if act.thing is graph and act.verb in (Verb.BIND, Verb.KEEP)]
    return all(act.slot == bind.slot for act in held) and any(each.graph is graph for each in story.captures)


CHANGES = ("torch.cuda.set_stream", "torch.accelerator.set_stream")


NOTHING = ("", "")


def _held(story: Story, captured: Captured, act: Act) -> tuple[str, str]:
    """Why a graph cannot take another capture, and the cure."""
    earlier = [each for each in story.captures if each.graph is captured.graph and each.end < captured.begin]
    if not earlier or captured.graph.kind is not Kind.GRAPH or _is_many(act, captured.graph) or is_choice(story, act):
        return NOTHING
    before = earlier[-1]
    if is_choice(story, story.acts[before.begin]) or _is_reset(story, captured, before.end, captured.begin):
        return NOTHING
    return "the graph holds an earlier capture", "make a `CUDAGraph` for each capture, or `reset()` this one first"


def _is_many(act: Act, graph: Thing) -> bool:
    """Whether a graph is what a comprehension makes: each of `graphs[i]` is another one."""
    made = (each for each in walk(act.frame.module.source.tree) if isinstance(each, COMPREHENSIONS))
    return any(part is graph.node for each in made for part in walk(each))


COMPREHENSIONS = (ast.ListComp, ast.DictComp, ast.GeneratorExp)


def _is_reset(story: Story, captured: Captured, first: int, last: int) -> bool:
    return any(act.name == "reset" and act.thing is captured.graph for _, act in story.between(first, last, Verb.METHOD))


@once_a_module
def _choices(module: Module) -> list[ast.stmt | ast.expr]:
    return [each for each in walk(module.source.tree) if isinstance(each, CHOICES)]


def is_choice(story: Story, act: Act) -> bool:
    """Whether an act, or a call on the way to it, stands behind a condition."""
    if act.is_maybe:
        return True
    frame, node, module = act.frame, act.node, act.frame.module
    while True:
        if any(stands_in([each], node) for each in _choices(module)):
            return True
        if frame.caller is None or frame.node is None:
            return False
        node, frame = frame.node, frame.caller
        module = frame.module


def _on_default_stream(story: Story, captured: Captured, act: Act) -> tuple[str, str]:
    """Why `capture_begin` is refused where no other stream was made current, and the cure."""
    if captured.capture.name != BEGINS or any(
        each.thing is not None and each.thing.kind is Kind.STREAM_BLOCK for each in act.layers
    ):
        return NOTHING
    if any(_changes_stream(each) for each in story.acts[: captured.begin]):
        return NOTHING
    if act.frame.caller is None and story.acts[captured.end].frame is not act.frame:
        return NOTHING  # it captures for others, who may have made a stream current
    cure = "put it under `with torch.cuda.stream(...)`, or capture with `torch.cuda.graph`"
    return "the default stream cannot be captured", cure


SWITCH, VARIABLE = "caching_allocator_enable", "PYTORCH_NO_CUDA_MEMORY_CACHING"
OFF = "the caching allocator is off, and nothing else can allocate while capturing"


def _unbuffered(act: Act) -> tuple[str, str]:
    """Why a capture is refused in a file that turns the caching allocator off, and the cure."""
    text = act.frame.module.source.text
    if SWITCH not in text and VARIABLE not in text:
        return NOTHING
    off = any(_turns_off(each) for each in walk(act.frame.module.source.tree))
    return (OFF, f"leave `{VARIABLE}` unset, and the allocator on") if off else NOTHING


def _turns_off(node: ast.AST) -> bool:
    match node:
        case ast.Assign(targets=[ast.Subscript(slice=ast.Constant(value=key))], value=ast.Constant(value=value)):
            return key == VARIABLE and value != "0"
        case ast.Call(func=ast.Attribute(attr=name), args=[ast.Constant(value=False)]):
            return name == SWITCH
    return False


def _changes_stream(act: Act) -> bool:
    if act.verb is Verb.METHOD and act.name == "__enter__":
        return act.thing.kind is Kind.STREAM_BLOCK
    return act.verb is Verb.CALL and act.thing.name.endswith("set_stream")


def _emptied(story: Story, captured: Captured) -> Told:
    """Replays of a graph that was reset."""
    for index, act in story.between(captured.end, len(story.acts), Verb.METHOD):
        if act.name != "reset" or act.thing is not captured.graph or is_choice(story, act):
            continue
        again = min((each.begin for each in story.captures if each.begin > index), default=len(story.acts))
        for at in story.replays(captured, index):
            if at < again and story.acts[at].frame is act.frame:
                why = "the graph was reset and holds nothing to replay"
                cure = "replay before `reset()`, or capture again first"
                yield region(captured, story.acts), tell(GraphMisused, story.acts[at], why=why, cure=cure)
                break
