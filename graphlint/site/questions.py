"""The questions that are asked of a story, in order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from graphlint.events import Event
from graphlint.project import Module
from graphlint.site import (
    accumulating,
    at_once,
    buckets,
    caches,
    capturable,
    casts,
    chained,
    cold,
    collectives,
    compiled,
    compiled_parts,
    derived,
    devices,
    differentiated,
    drawn,
    dropped,
    empty_graphs,
    exchanged,
    flags,
    fp8,
    graphed,
    graphed_gradients,
    graphed_inputs,
    graphed_order,
    graphed_state,
    groups,
    handles,
    inference,
    inputs,
    left_over,
    loaders,
    offloaded,
    outgrown,
    outputs,
    pending,
    pool_order,
    put_away,
    read_before,
    replaced,
    state,
    streams,
    swapped,
    threads,
    training,
    uncaptured,
    warmup,
    weights,
)
from graphlint.site.acts import Act
from graphlint.site.story import Story, story
from graphlint.types import Region

Question = Callable[[Story], Iterable[tuple[Region, Event]]]

QUESTIONS: tuple[Question, ...] = (
    inputs.rebound,
    inputs.entries,
    exchanged.exchanged,
    replaced.entries,
    inputs.unrefreshed,
    drawn.drawn,
    inputs.dying,
    derived.derived,
    read_before.frozen,
    outputs.kept,
    outputs.unset,
    outputs.unwaited,
    pool_order.disordered,
    pool_order.apart,
    weights.moved,
    weights.stashed,
    put_away.emptied,
    weights.toggled,
    swapped.swapped,
    state.cached,
    outgrown.outgrown,
    outgrown.shared,
    outgrown.cleared,
    dropped.dropped,
    dropped.let_go,
    state.growing,
    warmup.missing,
    warmup.uncompiled,
    cold.learning,
    cold.tuned,
    cold.lazy,
    cold.scaled,
    warmup.moves_state,
    flags.turned,
    left_over.momentum,
    left_over.trained,
    training.rates,
    casts.autocast,
    training.dropped,
    training.piled,
    training.unscaled,
    handles.misused,
    empty_graphs.never_captured,
    empty_graphs.swallowed,
    empty_graphs.left_open,
    graphed.misused,
    graphed.overwritten,
    graphed.other_mode,
    graphed.moved,
    graphed_state.moved,
    graphed_gradients.cut,
    graphed_gradients.unreached,
    graphed_inputs.unlike,
    fp8.left,
    graphed_order.disordered,
    capturable.unused,
    capturable.lost,
    differentiated.twice,
    inference.outside,
    loaders.threads,
    threads.beside_captures,
    threads.at_the_same_time,
    loaders.beside_graphed,
    loaders.last_batches,
    buckets.pools,
    caches.caches,
    caches.pools,
    buckets.loops,
    buckets.padding,
    streams.forked,
    streams.outside,
    streams.raced,
    uncaptured.on_default_stream,
    uncaptured.by_libraries,
    uncaptured.raw_memory,
    offloaded.offloaded,
    at_once.raced,
    devices.elsewhere,
    devices.in_turn,
    collectives.unwaited,
    collectives.branched,
    collectives.cold,
    collectives.data_parallel,
    collectives.unread,
    groups.of_the_host,
    groups.looking_for_unused,
    groups.graphed,
    compiled.mutated,
    compiled.overwritten,
    compiled.dynamic,
    compiled.growing,
    compiled.host_scalars,
    compiled.clones,
    compiled_parts.unsafe,
    compiled_parts.spread,
    compiled_parts.marked,
    accumulating.accumulated,
    chained.chained,
    pending.unfinished,
)

ALONE: tuple[Question, ...] = (
    state.cached, state.growing, streams.forked,
    collectives.unwaited, collectives.branched, collectives.cold, collectives.unread,
)  # fmt: skip
"""What can be asked of a region without knowing who captures it."""


def alone(region: Story) -> Iterator[tuple[Region, Event]]:
    """The events of a region that others will capture."""
    for question in ALONE:
        yield from question(region)


def asked(module: Module, acts: list[Act]) -> Iterator[tuple[Region, Event | None]]:
    """The events of a walk, and None for every compiled or graphed callable."""
    whole = story(module, acts)
    yield from ((region, None) for seen in (compiled.seen, graphed.seen) for region in seen(whole))
    for question in QUESTIONS:
        yield from question(whole)
