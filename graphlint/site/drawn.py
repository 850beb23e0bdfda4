"""Data that a loop draws from an iterator for every replay, and that no input of the graph gets."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from graphlint.events import Event
from graphlint.site.acts import Act, Layer, Verb
from graphlint.site.inputs import unused_targets
from graphlint.site.story import Captured, Story, region, tell
from graphlint.site.things import Scope
from graphlint.site_events import InputNotRefreshed
from graphlint.types import Region

LOOPS = (ast.For, ast.AsyncFor, ast.While)


def drawn(story: Story) -> Iterator[tuple[Region, Event]]:
    """`batch = next(batches)` in a loop that replays, behind which nothing is written into the graph's inputs."""
    for captured in story.captures:
        for index in story.replays(captured):
            act = story.acts[index]
            loop = next((layer for layer in act.layers if isinstance(layer.node, LOOPS)), None)
            if act.thing is not captured.graph or loop is None or _is_around(loop, story.acts[captured.begin]):
                continue
            inside = [each for each in story.acts[captured.end :] if loop.node in [layer.node for layer in each.layers]]
            for name in sorted(_unused(captured, inside)):
                yield region(captured, story.acts), tell(InputNotRefreshed, act, source=name)


def _is_around(loop: Layer, begin: Act) -> bool:
    return loop.node in [layer.node for layer in begin.layers]


def _unused(captured: Captured, inside: list[Act]) -> set[str]:
    """The variables of a loop that hold what an iterator gave, of which nothing reaches an input."""
    bound = [each for each in inside if each.verb is Verb.BIND and each.thing.name == "builtins.next"]
    names = {each.slot.key for each in bound if each.slot is not None and isinstance(each.slot.holder, Scope)}
    return {found for name in names for found in unused_targets(captured, ast.Name(name, ast.Store()), inside)}
