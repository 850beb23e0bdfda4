"""Cast or computed weights that a region finds in a cache which was filled outside it.

with torch.autocast("cuda"):            # keeps the casts of weights until it ends
    model(x)
    with torch.cuda.graph(graph):
        y = model(x)                    # finds them, and records no cast
"""

from __future__ import annotations

from collections.abc import Iterator

from graphlint.events import Event
from graphlint.site.acts import Act, Verb
from graphlint.site.construct import argument, constant
from graphlint.site.story import Captured, Story, region, tell
from graphlint.site.things import Kind, Thing
from graphlint.site_events import AutocastCache
from graphlint.types import Region

PARAMETRISING = frozenset({"torch.nn.utils.parametrize.cached"})
"""Blocks that keep what parametrised weights were computed to, until they end (torch 2.13 documentation)."""
CLEARING, SWITCHING = "torch.clear_autocast_cache", "torch.set_autocast_cache_enabled"


def autocast(story: Story) -> Iterator[tuple[Region, Event]]:
    """Where a block around the warm-up and the capture is made, and the first call that takes casts from its cache."""
    for captured in story.captures:
        for layer in story.acts[captured.begin].layers:
            block = layer.thing
            computes = block is not None and block.name in PARAMETRISING
            if block is None or not (computes or (block.kind is Kind.AUTOCAST and caches(block))):
                continue
            reused = [] if _is_off(story, captured) and not computes else _reused(story, captured, block, computes)
            if reused:
                entered = next(act for act in story.acts if act.verb is Verb.ENTER and act.thing is block)
                where = entered if computes else _made(story, entered)
                yield region(captured, story.acts), tell(AutocastCache, where, role="block", computes=computes)
                yield region(captured, story.acts), tell(AutocastCache, reused[0], role="call", computes=computes)


def _made(story: Story, block: Act) -> Act:
    """The call that makes what a block enters, where a helper or another function made it: the cache is set up there."""
    calls = (act for act in story.acts if act.verb is Verb.CALL and act.node is block.thing.node)
    return next((act for act in calls if act.frame.module is block.frame.module), block)


def caches(block: Thing) -> bool:
    """Whether an `autocast` block casts on the device, and keeps what it has cast."""
    device = constant(argument(block, "device_type", 0))
    is_off = constant(block.arguments.get("enabled")) is False
    return constant(argument(block, "cache_enabled")) is not False and device != "cpu" and not is_off


def _is_off(story: Story, captured: Captured) -> bool:
    """Whether the cache was switched off for all blocks: `torch.set_autocast_cache_enabled(False)`."""
    told = [act for _, act in _calls_of(story, captured.begin, SWITCHING)]
    given = told[-1].call.args if told and told[-1].call is not None else []
    return bool(given) and getattr(given[0], "value", None) is False


def _calls_of(story: Story, until: int, name: str) -> Iterator[tuple[int, Act]]:
    for at, act in story.between(-1, until, Verb.CALL):
        if act.thing.kind is Kind.OUTSIDE and act.thing.name == name:
            yield at, act


def _reused(story: Story, captured: Captured, block: Thing, computes: bool) -> list[Act]:
    since = -1 if computes else max((at for at, _ in _calls_of(story, captured.end, CLEARING)), default=-1)
    warm = {
        id(act.thing)
        for _, act in story.between(since, captured.begin, Verb.CALL)
        if act.thing.kind in (Kind.MODULE, Kind.UNKNOWN) and any(layer.thing is block for layer in act.layers)
    }
    inside = story.between(max(captured.begin, since), captured.end, Verb.CALL)
    again = [act for _, act in inside if id(act.thing) in warm and (computes or _casts(act))]
    frame = story.acts[captured.begin].frame
    return [act for act in again if act.frame is frame] or again


def _casts(act: Act) -> bool:
    """Whether a call looks for casts in the cache, as the innermost block around it says, and has weights that change."""
    blocks = (layer.thing for layer in act.layers if layer.thing is not None and layer.thing.kind is Kind.AUTOCAST)
    innermost = next(blocks, None)
    return (innermost is None or caches(innermost)) and not _is_frozen(act.thing)


def _is_frozen(module: Thing) -> bool:
    parts = [part for part in module.family() if part.kind is Kind.MODULE]
    return bool(parts) and all(part.is_frozen for part in parts)
