"""Calls of compiled modules with gradients that nobody asks for: no step ends before its backward pass has run.

While the last result is still held, torch adds each call to the step before it and goes on eagerly (measured: H200,
torch 2.11, "Unable to hit fast path of CUDAGraphs because of pending, uninvoked backwards").
"""

from __future__ import annotations

from collections.abc import Iterator

from graphlint.events import Event, GraphsSkipped
from graphlint.site.acts import Act, Verb
from graphlint.site.compiled import of_compiled, runs_graphs
from graphlint.site.learning import learns, waits
from graphlint.site.reuse import is_result
from graphlint.site.story import Story, tell
from graphlint.types import Region, Target


def unfinished(story: Story) -> Iterator[tuple[Region, Event]]:
    """Loops over a compiled module that keep each result until the next, where no backward pass is seen."""
    calls = [(at, act) for at, act in enumerate(story.acts) if runs_graphs(act) and learns(act.thing)]
    rounds: dict[int, int] = {}
    for at, act in calls:
        rounds[id(act.node)] = rounds.get(id(act.node), 0) + 1
        # The second round of a walk stands for all that follow.
        if rounds[id(act.node)] == 2 and _is_held(story, act, at) and waits(story, act):
            told = tell(GraphsSkipped, act, call=act.text, why=WHY, is_pending=True, targets=Target.COMPILE)
            yield of_compiled(act.thing, act), told


WHY = "each call waits for a backward pass that never runs"


def _is_held(story: Story, call: Act, at: int) -> bool:
    """Whether what a call gives is bound to a variable of its own or kept, so that it is there at the next call."""
    bound = story.acts[at : at + 40]
    kept = (act.thing for act in bound if act.verb in (Verb.BIND, Verb.KEEP))
    return any(is_result(each, call.thing, at, len(story.acts)) for each in kept)
