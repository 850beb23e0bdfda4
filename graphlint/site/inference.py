"""Tensors of a graph that were made in inference mode, and what is done to them outside it.

Such a tensor stays one for good: outside the mode it takes no write in place, and cannot be saved for a backward pass.
"""

from __future__ import annotations

from collections.abc import Iterator

from graphlint.around_events import InferenceTensor
from graphlint.events import Event
from graphlint.site.acts import Act, Verb
from graphlint.site.inputs import root
from graphlint.site.learning import is_trained, is_unlearned, runs_in
from graphlint.site.lineage import needs_gradients
from graphlint.site.reuse import is_function
from graphlint.site.story import Captured, Story, region, tell
from graphlint.site.things import Kind, Thing
from graphlint.types import Region

Told = Iterator[tuple[Region, Event]]
MODE = "inference_mode"
MODES = frozenset({MODE})


def outside(story: Story) -> Told:
    """Writes into inputs, and layers that learn from outputs, where the mode is off again."""
    if MODE not in story.module.source.text:
        return
    for captured in story.captures:
        where = region(captured, story.acts)
        for index, act in story.between(captured.end, len(story.acts), Verb.WRITE, Verb.CALL):
            if act.verb is Verb.WRITE and id(act.thing.owner) in captured.reads and _is_left(story, act.thing.owner, act):
                yield where, tell(InferenceTensor, act, target=act.text)
            elif act.verb is Verb.CALL and act.thing.kind is Kind.MODULE and _takes(story, captured, index, act):
                yield where, tell(InferenceTensor, act, target=act.text, is_read=True)


def _takes(story: Story, captured: Captured, index: int, call: Act) -> bool:
    """Whether a layer that learns is called with a result of a graph which was captured in inference mode."""
    if is_unlearned(call) or not is_trained(story, call) or not needs_gradients(story, call.thing):
        return False
    return any(captured.made(each) and _is_left(story, each.owner, call) for each in story.handed(index))


def _is_left(story: Story, made: Thing, act: Act) -> bool:
    """Whether a tensor was made in inference mode, and an act happens in the same run where that is off."""
    births = story.acts[made.born : made.born + 1] if made.kind is Kind.TENSOR and made.born else []
    return any(runs_in(birth, MODES) and _is_same_run(birth, act) for birth in births) and not runs_in(act, MODES)


def _is_same_run(birth: Act, act: Act) -> bool:
    """Whether a function that is not itself in the mode leads to both: a method may be called in it by others."""
    home = root(act.frame)
    return act.frame.leads_to(birth.frame) or (home is root(birth.frame) and is_function(home))
