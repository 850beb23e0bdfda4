"""Results that belong to the callee: what a second call does to the result of the first."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from graphlint.captors import class_prefix
from graphlint.record import NamedTuple
from graphlint.site.acts import Act, Frame, Verb, outward, side_by_side
from graphlint.site.inputs import root
from graphlint.site.story import Story
from graphlint.site.things import Kind, Thing
from graphlint.syntax import walk


class Reuse(NamedTuple):
    """A result of `first` that is still read (`read`) or kept (`keep`) although `again` wrote over it."""

    callee: Thing
    again: Act
    read: Act | None
    keep: Act | None

    @property
    def place(self) -> Act:
        """The call, seen from where the results are kept; what keeps them, if that stands around it or in another run."""
        call, keep = self.again, self.keep
        if keep is None:
            return call
        near = _in_function(call, keep.frame.body)
        if near is not None:
            return keep if any(each is near.node for each in walk(keep.node)) else near
        call, keep = side_by_side(call, keep)
        return call if call.node is not keep.node and is_next_round(keep, call) else self.keep or call


def _in_function(act: Act, body: ast.AST | None) -> Act | None:
    """An act as a function has it that led to it."""
    return next((each for each in outward(act) if each.frame.body is body), None)


def reuses(story: Story, kind: Kind) -> Iterator[Reuse]:
    """Every result of a callee of one kind that outlives the next call."""
    calls: dict[int, list[int]] = {}
    for index, act in enumerate(story.acts):
        if act.verb is Verb.CALL and act.thing.kind is kind:
            calls.setdefault(id(act.thing), []).append(index)
    for places in calls.values():
        kept: set[ast.AST] = set()
        for first, again in pairwise(places):
            if kind is Kind.COMPILED and _is_one_step(story, first, again):
                continue
            found = _after(story, first, again, len(story.acts))
            # Of what one statement keeps, a later run of the function says nothing new.
            if found is not None and (found.read is not None or found.keep is None or found.keep.node not in kept):
                yield found
            if found is not None and found.keep is not None:
                kept.add(found.keep.node)


def is_next_round(before: Act, again: Act) -> bool:
    """Whether a loop has come round between two acts."""
    rounds = {id(layer.node): layer.round for layer in before.layers}
    return any(rounds.get(id(layer.node), layer.round) != layer.round for layer in again.layers)


MARKS = "cudagraph_mark_step_begin"


def _is_one_step(story: Story, first: int, again: int) -> bool:
    """Whether both calls are in one step of a program that marks its steps: until the next mark, all results are kept."""
    marks = steps_marked(story, story.acts[first], again)
    return bool(marks) and marks[-1] < first


def steps_marked(story: Story, beside: Act, last: int) -> list[int]:
    """Where a program marks its steps, as far as that concerns an act."""
    calls = ((at, act) for at, act in story.between(-1, last, Verb.CALL) if act.thing.name.endswith(MARKS))
    return [at for at, act in calls if is_beside(act, beside)]


def is_beside(act: Act, other: Act) -> bool:
    """Whether an act may be of the same run as another: not where it is a walk through some other plain function."""
    home = root(act.frame)
    return home is root(other.frame) or not is_function(home)


def is_function(frame: Frame) -> bool:
    """Whether a walk began with a plain function, which says nothing of another, as a method does of its object."""
    return frame.body is not None and not class_prefix(frame.module, frame.body)


def _after(story: Story, first: int, again: int, last: int) -> Reuse | None:
    callee, call = story.acts[first].thing, story.acts[again]
    kept = (act for _, act in story.between(first, again, Verb.KEEP, Verb.BIND) if _is_kept(act))
    keep = next((act for act in kept if is_result(act.thing, callee, first, again + 1)), None)
    reads = (act for _, act in story.between(again, last, Verb.READ))
    held = None if keep is None else keep.other if keep.verb is Verb.KEEP else keep.slot and keep.slot.holder
    read = next(
        (
            act
            for act in reads
            if any(is_result(each, callee, first, again + 1) for each in _read_of(act)) or _takes_from(act, held)
        ),
        None,
    )
    again_at = _asked(story.acts[first], call)
    return Reuse(callee, again_at, read, keep) if read is not None or keep is not None else None


def _is_kept(act: Act) -> bool:
    """Whether an act puts something where the next result will not take its place: `results[name] = score(x)`."""
    return act.verb is Verb.KEEP or (act.slot is not None and act.slot.key == "[*]" and isinstance(act.slot.holder, Thing))


def _asked(first: Act, again: Act) -> Act:
    """The second of two calls, where the ways to them part: a helper makes both of them in the same line."""
    one, other = first, again
    while one.node is other.node and one.frame is not other.frame:
        if one.frame.caller is None or other.frame.caller is None or not one.frame.node or not other.frame.node:
            return again
        one = replace(one, node=one.frame.node, frame=one.frame.caller)
        other = replace(other, node=other.frame.node, frame=other.frame.caller)
    return again if one.node is other.node else other


def _read_of(act: Act) -> list[Thing]:
    """What an act reads: `torch.stack(outputs)` reads every tensor of the list."""
    is_list = act.thing.kind is Kind.CONTAINER and act.name.startswith("torch.")
    return [act.thing, *act.thing.slots.values()] if is_list else [act.thing]


def _takes_from(act: Act, held: object) -> bool:
    """Whether an act computes with all that a container holds: `sum(kept.values())`, `stack([kept[k] for k in kept])`."""
    if not isinstance(held, Thing) or not (act.name.startswith("torch.") or act.name in ("builtins.sum", "operator")):
        return False
    thing = act.thing
    if thing is held or (thing.kind is Kind.ANY_ITEM and _is_of(thing, held)):
        return True
    inner = thing.slots.values() if thing.kind is Kind.CONTAINER else ()
    return any(each is kept or _is_of(each, held) for each in inner for kept in held.slots.values())


def _is_of(thing: Thing, held: Thing) -> bool:
    """Whether a thing is some item of a container."""
    while thing.base is not None and thing is not held:
        thing = thing.base
    return thing is held


def is_result(thing: Thing, callee: Thing, call: int, last: int) -> bool:
    """Whether something is what a function gave between two acts, the first of which calls it."""
    owner = thing.owner
    is_of_callee = owner.made_by[:1] == (callee,) and owner.node is not None and owner.kind is Kind.TENSOR
    return is_of_callee and call < owner.born <= last
