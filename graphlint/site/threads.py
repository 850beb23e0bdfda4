"""Captures beside threads that the site starts, and captures in several threads at the same time."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from graphlint.events import Event
from graphlint.record import NamedTuple
from graphlint.site.acts import Act, Layer, Verb, text
from graphlint.site.construct import argument, constant
from graphlint.site.graphed import MAKES, graphed_region
from graphlint.site.handles import BEGINS
from graphlint.site.spawning import HANDING, Beside, beside, leads_to, waits, work
from graphlint.site.story import Captured, Story, region, tell
from graphlint.site.things import Kind, Thing
from graphlint.site.thread_acts import GLOBAL, LOCAL, refused
from graphlint.site_events import LoaderThread
from graphlint.syntax import last, walk
from graphlint.types import Confidence, Region

Told = Iterator[tuple[Region, Event]]
SEVERAL = HANDING - {"submit", "apply_async"}
"""Methods of pools that run a function for each of some items."""


def beside_captures(story: Story) -> Told:
    """A capture while a thread of the site is under way that does what the mode of the capture refuses."""
    if not any(act.verb is Verb.SPAWN for act in story.acts):
        return
    for captured in story.captures:
        mode = _mode(captured.capture)
        act = story.acts[captured.begin]
        for each in beside(story, captured.begin, captured.end) if mode in (GLOBAL, LOCAL) else ():
            found = _told(story, act, each, mode)
            if found is not None:
                yield region(captured, story.acts), found


def _mode(capture: Thing) -> str:
    """The `capture_error_mode` of a capture; empty if it is given and not known."""
    given = argument(capture, "capture_error_mode", 3)
    mode = GLOBAL if given is None else constant(given)
    return mode if isinstance(mode, str) else ""


def _told(story: Story, act: Act, each: Beside, mode: str) -> LoaderThread | None:
    bodies = _bodies(story, each)
    found, always = refused(bodies, mode), refused(bodies, LOCAL)
    if (found is None and mode == LOCAL) or _share_a_lock(act.layers, bodies):
        return None
    does = text(act.frame.module, found) if found is not None else ""
    sure = Confidence.LIKELY if found is not None else Confidence.POSSIBLE
    thread = f"the thread `{each.name}`"
    return tell(LoaderThread, act, sure=sure, loader=each.name, thread=thread, does=does, in_both_modes=always is not None)


def _bodies(story: Story, each: Beside) -> list[ast.AST]:
    """The functions that a thread runs, as far as they were walked or stand beside the first one."""
    found = {id(body): body for body in work(each.function)}
    spawned = story.acts[each.started]
    for act in story.acts[each.started + 1 :]:
        if not leads_to(spawned, act.frame):
            break
        if act.frame.body is not None:
            found.setdefault(id(act.frame.body), act.frame.body)
    return list(found.values())


def _share_a_lock(layers: list[Layer], bodies: list[ast.AST]) -> bool:
    """Whether a capture stands in a block of the same name as one that a thread enters."""
    held = {name for layer in layers for name in _entered(layer.node)}
    return any(not held.isdisjoint(_entered(each)) for body in bodies for each in walk(body)) if held else False


def _entered(node: ast.AST) -> list[str]:
    """The names of what a `with` enters, but for what it calls."""
    items = node.items if isinstance(node, (ast.With, ast.AsyncWith)) else []
    return [last(item.context_expr) for item in items if last(item.context_expr)]


class Recording(NamedTuple):
    """A capture in a thread: where it begins, its region, and the act that started the thread."""

    begin: int
    region: Region
    started: int
    is_sure: bool


def at_the_same_time(story: Story) -> Told:
    """Captures in threads of which none is waited for before the next one starts.

    Measured on an H200 with torch 2.11: of four threads that captured 20 graphs each, none came to its end, in a pool or
    not, in the mode `global` or `thread_local`; nor did two threads that each had a GPU of its own.
    """
    found = list(_recordings(story))
    for each in found:
        started = story.acts[each.started]
        if _is_several(started) or any(_overlap(story, each.started, other.started) for other in found):
            act = story.acts[each.begin]
            sure = Confidence.LIKELY if each.is_sure else Confidence.POSSIBLE
            yield each.region, tell(LoaderThread, act, sure=sure, loader="", at_once=True)


def _recordings(story: Story) -> Iterator[Recording]:
    """The captures that threads of the site make."""
    spawned = [index for index, _ in story.between(-1, len(story.acts), Verb.SPAWN)]
    if not spawned:
        return
    for captured in story.captures:
        yield from _recording(story, spawned, captured.begin, region(captured, story.acts), _is_measured(captured))
    for index, act in story.between(spawned[0], len(story.acts), Verb.CALL):
        if act.thing.kind is Kind.OUTSIDE and act.thing.name.endswith(MAKES):
            yield from _recording(story, spawned, index, graphed_region(act, act.thing), True)


def _is_measured(captured: Captured) -> bool:
    mode = _mode(captured.capture)
    return mode == GLOBAL or (mode == LOCAL and captured.capture.name != BEGINS)


def _recording(story: Story, spawned: list[int], begin: int, where: Region, is_sure: bool) -> Iterator[Recording]:
    act = story.acts[begin]
    own = next((each for each in reversed(spawned) if each < begin and leads_to(story.acts[each], act.frame)), None)
    if own is not None and not _is_locked(story, own, begin):
        yield Recording(begin, where, own, is_sure)


def _is_locked(story: Story, own: int, begin: int) -> bool:
    """Whether something is entered or acquired in a thread, before it captures, that may let in one thread at a time."""
    outer = {id(layer) for layer in story.acts[own].layers}
    entered = [layer.thing for layer in story.acts[begin].layers if id(layer) not in outer and _is_block(layer)]
    if any(thing is not None and _may_lock(thing) for thing in entered):
        return True
    inside = (act for _, act in story.between(own, begin, Verb.METHOD) if leads_to(story.acts[own], act.frame))
    return any(act.name in ("acquire", "wait") and act.thing.kind is not Kind.EVENT for act in inside)


def _is_block(layer: Layer) -> bool:
    return isinstance(layer.node, (ast.With, ast.AsyncWith))


def _may_lock(thing: Thing) -> bool:
    return thing.kind in (Kind.UNKNOWN, Kind.ANY_ITEM, Kind.INSTANCE) and not thing.name.startswith("torch.")


def _is_several(spawned: Act) -> bool:
    """Whether an act makes several threads of a pool run the same function."""
    items = spawned.call.args[1] if spawned.call is not None and len(spawned.call.args) > 1 else None
    is_one = isinstance(items, (ast.List, ast.Tuple)) and len(items.elts) < 2
    return spawned.name in SEVERAL and not is_one and not _has_one_worker(spawned.thing)


def _has_one_worker(pool: Thing) -> bool:
    return 1 in (constant(argument(pool, name, 0)) for name in ("max_workers", "processes"))


def _overlap(story: Story, one: int, other: int) -> bool:
    """Whether two threads run at the same time."""
    first, second = sorted((one, other))
    before, after = story.acts[first], story.acts[second]
    if first == second or (before.thing is after.thing and _has_one_worker(before.thing)):
        return False
    between = story.acts[first + 1 : second]
    return not any(waits(act, before) or _is_told(act, before) for act in between)


def _is_told(act: Act, spawned: Act) -> bool:
    """Whether whoever started a thread waits for a word of it."""
    return act.verb is Verb.METHOD and act.name in ("wait", "get") and act.frame is spawned.frame
