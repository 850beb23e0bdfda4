"""Weights that get other memory between two calls of what is compiled with graphs: it is recorded once more for them.

Measured on an H200 with torch 2.11: the trees of graphs compare the addresses of parameters and buffers at every call, and
keep a graph for each address (`tests/data/threads_h200.jsonl`).
"""

from __future__ import annotations

from collections.abc import Iterator

from graphlint.events import Event
from graphlint.site.acts import Act, Frame, Verb
from graphlint.site.compiled import of_compiled, runs_graphs
from graphlint.site.inputs import root
from graphlint.site.rehoused import is_kept
from graphlint.site.story import Story, tell
from graphlint.site.things import Kind, Thing
from graphlint.site.weights import PARAMETERS, SPREADING, holds, moved_by, takes
from graphlint.site_events import WeightsMoved
from graphlint.types import Region, Target

VERBS = (Verb.METHOD, Verb.BIND, Verb.CALL)
SWAPS = (".data = ...", "assign=True")
"""What is done to put other weights in, and not to make a module ready."""
MODULES = (Kind.MODULE, Kind.UNKNOWN)


def swapped(story: Story) -> Iterator[tuple[Region, Event]]:
    """Parameters of what is compiled that get other memory before the next call."""
    calls = [(index, act) for index, act in enumerate(story.acts) if runs_graphs(act)]
    for place, (begin, call) in enumerate(calls):
        called = list(_called(story, begin, call))
        again = next((index for index, act in calls[place + 1 :] if act.thing is call.thing), begin)
        between = [act for _, act in story.between(begin, again, *VERBS)]
        is_first = all(act.thing is not call.thing for _, act in calls[:place])
        for act in [*between, *(_by_methods(story, begin, call) if is_first else ())]:
            how = "" if not called or _is_under(act.frame, call) else _how(story, act, called)
            if how and (act in between or how in SWAPS):
                found = tell(WeightsMoved, act, target=act.text, how=how, targets=Target.COMPILE)
                yield of_compiled(call.thing, call), found


def _by_methods(story: Story, begin: int, call: Act) -> Iterator[Act]:
    """What methods of their own do that come before the first call here: whoever has the object runs them at any time."""
    for _, act in story.between(-1, begin, *VERBS):
        frame = root(act.frame)
        if frame is not root(call.frame) and frame.body is not None:
            yield act


def _called(story: Story, begin: int, call: Act) -> Iterator[Thing]:
    """The modules that a compiled callee is or calls."""
    base = call.thing.base
    if base is not None and base.kind in MODULES:
        yield base
    for act in story.acts[begin + 1 :]:
        if act.verb is Verb.CALL and act.thing.kind in MODULES and _is_under(act.frame, call):
            yield act.thing


def _is_under(frame: Frame | None, call: Act) -> bool:
    while frame is not None and frame.node is not call.node:
        frame = frame.caller
    return frame is not None


def _how(story: Story, act: Act, called: list[Thing]) -> str:
    """By what some of the modules get other parameters; empty if they do not."""
    if act.verb is Verb.METHOD:
        return moved_by(act) if holds(act.thing, called) else ""
    if act.verb is Verb.CALL:
        return ".data = ..." if act.thing.name in SPREADING and takes(story, act, called) else ""
    holder = act.slot.holder if act.slot is not None else None
    if not isinstance(holder, Thing) or act.slot is None or act.thing.kind is Kind.NONE:
        return ""
    owner = holder.base if holder.kind is Kind.PARAMETER else holder
    is_inside = any(owner is part for module in called for part in module.family())
    if act.slot.key == "data":
        is_held = is_inside or (owner is not None and holds(owner, called))
        return ".data = ..." if is_held and not is_kept(story, act) else ""
    return "a new parameter" if is_inside and act.thing.name in PARAMETERS else ""
