"""The acts of one walk, cut into captured regions and replays.

A region knows which slots it read before it wrote them (its inputs, with the thing each held at capture) and which
things were made inside it (its outputs and temporaries: their memory belongs to the graph).
"""

from __future__ import annotations

import ast
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeVar

from graphlint.captors import region_name
from graphlint.events import Event
from graphlint.project import Module
from graphlint.site.acts import Act, Verb, span, text
from graphlint.site.things import STATE, Kind, Slot, Thing
from graphlint.types import Confidence, Region

E = TypeVar("E", bound=Event)
NEAR = 20


@dataclass(eq=False, slots=True)
class Captured:
    """One capture: acts `begin` to `end` of the story are recorded into `graph`."""

    graph: Thing
    capture: Thing
    begin: int
    end: int
    inputs: dict[Slot, Thing] = field(default_factory=dict)
    reads: dict[int, Thing] = field(default_factory=dict)
    region: Region | None = None

    def made(self, thing: Thing) -> bool:
        """Whether the memory of a thing belongs to the graph."""
        return self.begin < thing.owner.born < self.end and thing.owner.kind in STATE

    def holds(self, index: int) -> bool:
        return self.begin <= index <= self.end


@dataclass(eq=False, slots=True)
class Story:
    """Acts in order, with the regions in them."""

    module: Module
    acts: list[Act]
    captures: list[Captured]
    _places: dict[tuple[Verb, ...], list[int]] = field(default_factory=dict)
    _replays: dict[int, list[int]] = field(default_factory=dict)
    _inside: frozenset[int] | None = None

    def is_captured(self, index: int) -> bool:
        if self._inside is None:
            self._inside = frozenset(at for each in self.captures for at in range(each.begin, each.end + 1))
        return index in self._inside

    def replays(self, captured: Captured, after: int = 0) -> Iterator[int]:
        """Where a graph is replayed, behind an act."""
        places = self._replays.get(id(captured))
        if places is None:
            behind = self.between(captured.end - 1, len(self.acts), Verb.METHOD)
            places = self._replays[id(captured)] = [index for index, act in behind if is_replay(act, captured)]
        yield from places[bisect_right(places, after) :]

    def next_replay(self, captured: Captured, after: int) -> int | None:
        """The next replay behind an act, unless something is captured first."""
        found = next(self.replays(captured, after), None)
        if found is None:
            return None
        place = bisect_right(self.captures, after, key=lambda each: each.begin)
        return None if place < len(self.captures) and self.captures[place].begin < found else found

    def between(self, first: int, last: int, *verbs: Verb) -> Iterator[tuple[int, Act]]:
        """The acts of some kinds behind one act and before another, in order."""
        places = self._places.get(verbs)
        if places is None:
            places = self._places[verbs] = [at for at, act in enumerate(self.acts) if act.verb in verbs]
        for place in range(bisect_right(places, first), len(places)):
            index = places[place]
            if index >= last:
                return
            yield index, self.acts[index]

    def handed(self, index: int) -> Iterator[Thing]:
        """What a call at an act reads of what it is given, in order: that stands right behind the call."""
        node = self.acts[index].node
        return (act.thing for _, act in self.between(index, index + NEAR, Verb.READ) if act.node is node)


def is_replay(act: Act, captured: Captured) -> bool:
    """Whether an act replays what was captured, or may: a graph out of a container, or something unknown."""
    if act.verb is not Verb.METHOD or act.name != "replay":
        return False
    thing = act.thing
    if thing is captured.graph:
        return True
    if thing.kind in (Kind.ANY_ITEM, Kind.UNKNOWN) and thing.base is not None:
        return captured.graph in thing.base.family()
    return thing.kind is Kind.UNKNOWN and thing.is_argument is False


def story(module: Module, acts: list[Act]) -> Story:
    """Cut acts into regions."""
    captures: list[Captured] = []
    opened: list[tuple[int, Act]] = []
    for index, act in enumerate(acts):
        if act.thing.kind is not Kind.CAPTURE:
            continue
        if act.verb is Verb.ENTER:
            opened.append((index, act))
        elif act.verb is Verb.LEAVE and opened:
            begin, entered = opened.pop()
            captures.append(_captured(acts, begin, index, entered.thing))
    captures.sort(key=lambda each: each.begin)
    return Story(module, acts, captures)


def whole(module: Module, acts: list[Act], begin: int, name: str, kind: str, node: ast.AST) -> Story:
    """A story that is one region from an act on: what a `forward` or a marked function does when somebody captures it."""
    graph = Thing(Kind.GRAPH, node, begin)
    capture = Thing(Kind.CAPTURE, node, begin, name, base=graph)
    found = _captured(acts, begin, len(acts), capture)
    found.region = Region(name, kind, span(module, node)._replace(end_line=getattr(node, "lineno", 1)))
    return Story(module, acts, [found])


def _captured(acts: list[Act], begin: int, end: int, capture: Thing) -> Captured:
    graph = capture.base or capture
    found = Captured(graph, capture, begin, end)
    written: set[Slot] = set()
    for act in acts[begin:end]:
        if act.slot is not None and act.slot.holder.born <= begin:
            if act.verb is Verb.BIND:
                written.add(act.slot)
            elif act.verb is Verb.LOAD and act.slot not in written and act.thing.born <= begin:
                found.inputs.setdefault(act.slot, act.thing)
        if act.verb in (Verb.READ, Verb.WRITE, Verb.LOAD) and act.thing.owner.born <= begin:
            found.reads.setdefault(id(act.thing.owner), act.thing.owner)
    return found


def tell(cls: type[E], act: Act, *, at: ast.AST | None = None, sure: Confidence = Confidence.LIKELY, **facts: object) -> E:
    """An event at the place of an act, or at another node of the same function."""
    node = at or act.node
    where = span(act.frame.module, node)
    return cls(span=where, text=text(act.frame.module, node), confidence=sure, trail=act.trail, **facts)  # type: ignore[arg-type]


def region(captured: Captured, acts: list[Act]) -> Region:
    """The region of a capture, as findings name it."""
    if captured.region is not None:
        return captured.region
    act = acts[captured.begin]
    layer = act.layer.node if act.layer is not None else act.node
    node = layer if isinstance(layer, (ast.With, ast.AsyncWith)) else act.node
    name = region_name(act.frame.module, act.frame.body, act.frame.function)
    return Region(name, "capture", span(act.frame.module, node))
