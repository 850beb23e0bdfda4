"""Every question, asked of every story of a file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from graphlint.events import Event
from graphlint.project import Module, Project
from graphlint.site import (
    buckets,
    caches,
    collectives,
    compiled,
    graphed,
    handles,
    inputs,
    loaders,
    outputs,
    state,
    streams,
    training,
    warmup,
    weights,
)
from graphlint.site.roots import walks
from graphlint.site.story import Story, story
from graphlint.site.within import regions
from graphlint.source import Source
from graphlint.types import Region, Span

Question = Callable[[Story], Iterable[tuple[Region, Event]]]

QUESTIONS: tuple[Question, ...] = (
    inputs.rebound,
    inputs.entries,
    inputs.unrefreshed,
    inputs.dying,
    inputs.derived,
    outputs.kept,
    outputs.unset,
    outputs.unwaited,
    weights.moved,
    weights.stashed,
    weights.toggled,
    state.cached,
    state.growing,
    warmup.missing,
    warmup.uncompiled,
    warmup.moves_state,
    training.rates,
    training.autocast,
    training.dropped,
    training.piled,
    handles.misused,
    graphed.misused,
    graphed.overwritten,
    graphed.other_mode,
    graphed.moved,
    loaders.threads,
    loaders.last_batches,
    buckets.pools,
    caches.caches,
    buckets.loops,
    buckets.padding,
    streams.forked,
    streams.outside,
    collectives.unwaited,
    collectives.branched,
    collectives.cold,
    collectives.data_parallel,
    collectives.unread,
    compiled.mutated,
    compiled.overwritten,
    compiled.dynamic,
    compiled.host_scalars,
    compiled.clones,
)

ALONE: tuple[Question, ...] = (
    state.cached, state.growing, streams.forked,
    collectives.unwaited, collectives.branched, collectives.cold, collectives.unread,
)  # fmt: skip
"""What can be asked of a region without knowing who captures it."""


def site_events(source: Source, project: Project) -> Iterator[tuple[Region, Event]]:
    """What the code around the captures of one file does to them."""
    module = next((each for each in project.given if each.source is source), None)
    if module is not None:
        given = project.reported()
        for region, event in told(project, module):
            if event is not None and event.span.file in given:
                yield region, event


def told(project: Project, module: Module) -> Iterator[tuple[Region, Event | None]]:
    """The events of a file, and None once for every compiled or graphed callable, to which nothing need be done."""
    known: set[Region] = set()
    seen: set[tuple[type[Event], Span]] = set()
    for region, event in _events(project, module):
        if event is None and region not in known:
            yield region, None
        elif event is not None and (type(event), event.span) not in seen:
            # A loop is walked twice, and a helper from several places.
            seen.add((type(event), event.span))
            yield region, event
        known.add(region)


def _events(project: Project, module: Module) -> Iterator[tuple[Region, Event | None]]:
    for each in regions(project, module):
        for question in ALONE:
            yield from question(each)
    for acts in walks(project, module):
        whole = story(module, acts)
        yield from ((region, None) for seen in (compiled.seen, graphed.seen) for region in seen(whole))
        for question in QUESTIONS:
            yield from question(whole)
