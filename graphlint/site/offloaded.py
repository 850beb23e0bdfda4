"""Models whose weights stay on the host and are copied to the GPU, layer by layer, when they are called.

The copies come from pageable memory: a capture refuses them.
"""

from __future__ import annotations

from collections.abc import Iterator

from graphlint.around_events import Offloaded
from graphlint.events import Event
from graphlint.site.acts import Act, Verb
from graphlint.site.story import Captured, Story, region, tell
from graphlint.site.things import Kind, Thing
from graphlint.types import Region

BY_LIBRARY = frozenset({"cpu_offload", "disk_offload"})
BY_ITSELF = frozenset({"enable_sequential_cpu_offload"})


def offloaded(story: Story) -> Iterator[tuple[Region, Event]]:
    """Regions that call what was offloaded before."""
    if not any(word in story.module.source.text for word in BY_LIBRARY):
        return
    for captured in story.captures:
        for _, act in story.between(-1, captured.begin, Verb.METHOD, Verb.READ):
            how = _how(act)
            call = _called(story, captured, act.thing) if how else None
            if call is not None:
                yield region(captured, story.acts), tell(Offloaded, call, how=how)
                break


def _how(act: Act) -> str:
    """What an act offloads something with; empty for any other act."""
    word = act.name.rpartition(".")[2]
    if act.verb is Verb.METHOD:
        return word if word in BY_ITSELF else ""
    return word if act.name.startswith("accelerate.") and word in BY_LIBRARY else ""


def _called(story: Story, captured: Captured, model: Thing) -> Act | None:
    """Where a region calls something, or a part of it."""
    if model.kind not in (Kind.MODULE, Kind.UNKNOWN, Kind.INSTANCE):
        return None
    parts = {id(part) for part in model.family()}
    acts = story.between(captured.begin, captured.end, Verb.CALL, Verb.METHOD)
    return next((act for _, act in acts if id(act.thing) in parts), None)
