"""State that `make_graphed_callables` moves: it calls what it graphs with the samples before it captures.

Measured on an H200 with torch 2.11: running statistics had the samples in them after it had returned.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from graphlint.events import Event
from graphlint.site.acts import Act, Verb
from graphlint.site.construct import argument, constant
from graphlint.site.graphed import MAKES, graphed_region
from graphlint.site.story import Story, tell
from graphlint.site.things import Kind, Thing
from graphlint.site.warmup import is_parameter, is_twin, moved_state, puts_state_back
from graphlint.site_events import WarmupMovesState
from graphlint.types import Region


def moved(story: Story) -> Iterator[tuple[Region, Event]]:
    """Where making a graphed callable moves statistics or counters that its calls move on."""
    seen: set[int] = set()
    for index, act in story.between(-1, len(story.acts), Verb.CALL):
        if act.thing.kind is not Kind.GRAPHED or act.thing.base is None or id(act.thing) in seen:
            continue
        seen.add(id(act.thing))
        made = _making(story, index, act.thing)
        what = "" if made is None else next(filter(None, map(moved_state, _below(story, index))), "")
        if made is not None and what and not _is_made_up_for(story, made, index):
            making = story.acts[made]
            told = tell(WarmupMovesState, making, callee=making.text, what=what)
            yield graphed_region(making, act.thing), told


def _making(story: Story, index: int, graphed: Thing) -> int | None:
    """Where a callable was graphed, with calls before the capture."""
    for at, act in story.between(-1, index, Verb.CALL):
        if act.node is graphed.node and act.thing.kind is Kind.OUTSIDE and act.thing.name.endswith(MAKES):
            return None if constant(argument(act.thing, "num_warmup_iters", 2)) == 0 else at
    return None


def _below(story: Story, index: int) -> Iterator[Act]:
    """What a call leads to."""
    call = story.acts[index]
    for act in story.acts[index + 1 :]:
        if act.frame is call.frame and act.node is not call.node:
            return
        yield act


def _is_made_up_for(story: Story, made: int, index: int) -> bool:
    """Whether state is put back behind the making, or a module to compare with goes through as many calls."""
    base, frame = story.acts[index].thing.base, story.acts[made].frame
    for at, act in story.between(-1, index, Verb.METHOD, Verb.WRITE, Verb.CALL):
        if at > made and (puts_state_back(act) or (act.verb is Verb.WRITE and is_parameter(act.thing))):
            return True
        if act.frame is frame and base is not None and _is_other(act, base) and (at < made or _is_repeated(act)):
            return True
    return False


def _is_other(act: Act, base: Thing) -> bool:
    """Whether an act calls another module of the same make."""
    is_called = act.verb is Verb.CALL and act.thing.kind is Kind.MODULE
    return is_called and act.thing is not base and is_twin(base, act.thing)


def _is_repeated(act: Act) -> bool:
    return any(isinstance(layer.node, (ast.For, ast.While)) for layer in act.layers)
