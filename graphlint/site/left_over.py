"""What a warm-up of whole training steps leaves in an optimizer: its momentum, where only the weights are put back."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from graphlint.events import Event
from graphlint.site.acts import Act, Verb, outward
from graphlint.site.construct import argument, constant
from graphlint.site.story import Captured, Story, region, tell
from graphlint.site.things import Kind, Thing
from graphlint.site.training import MODELS, steps
from graphlint.site_events import WarmupMovesState
from graphlint.syntax import stands_in
from graphlint.types import Confidence, Region

LOOPS = (ast.For, ast.AsyncFor, ast.While)
WRITING = frozenset({"copy_", "zero_", "fill_", "clear", "load_state_dict", "_foreach_copy_"})


def momentum(story: Story) -> Iterator[tuple[Region, Event]]:
    """Steps before the capture that fill the state of an optimizer; the weights are put back, and that is not."""
    for captured in story.captures:
        inside = {id(act.thing) for act in steps(story, captured)}
        first = next(story.replays(captured), len(story.acts))
        for index, act in story.between(-1, captured.begin, Verb.METHOD):
            if act.name != "step" or id(act.thing) not in inside or not _remembers(act.thing):
                continue
            later = [each for _, each in story.between(index, first, Verb.METHOD, Verb.WRITE, Verb.BIND, Verb.CALL)]
            if any(map(puts_back, later)) and not any(_empties(each, act.thing) for each in later):
                here = round_of(act, story, captured)
                what = "the state of the optimizer"
                found = tell(WarmupMovesState, here, callee=here.text, what=what, sure=Confidence.LIKELY)
                yield region(captured, story.acts), found
                break


def _remembers(optimizer: Thing) -> bool:
    """Whether an optimizer keeps something from one step to the next."""
    if optimizer.kind is not Kind.OPTIMIZER:
        return False
    given = argument(optimizer, "momentum", 2)
    return optimizer.name.rpartition(".")[2] != "SGD" or (given is not None and constant(given) not in (0, 0.0))


def puts_back(act: Act) -> bool:
    """Whether an act writes kept weights into a model."""
    if act.verb is Verb.METHOD:
        return act.name == "load_state_dict" and act.thing.kind in MODELS
    return act.verb is Verb.WRITE and act.name == "copy_" and act.thing.owner.kind is Kind.PARAMETER


def _empties(act: Act, optimizer: Thing) -> bool:
    """Whether an act may put the state of an optimizer back: it loads one, binds it, or writes what it holds."""
    if act.verb is Verb.CALL:
        return any(each is optimizer for each in act.given)
    if act.verb is Verb.BIND:
        return act.slot is not None and act.slot.holder is optimizer and act.slot.key == "state"
    if act.name not in WRITING:
        return False
    own = {id(part) for part in optimizer.family()}
    return any(id(thing) in own for thing in _origins(act.thing))


def _origins(thing: Thing) -> Iterator[Thing]:
    """A thing, what it is part of, and what it was made from."""
    waiting, seen = [thing], set()
    while waiting:
        here = waiting.pop()
        if id(here) in seen:
            continue
        seen.add(id(here))
        yield here
        waiting.extend(here.made_by)
        if here.base is not None:
            waiting.append(here.base)


def round_of(act: Act, story: Story, captured: Captured) -> Act:
    """The outermost act that led to a step and is done in rounds of which the capture is no part."""
    around = story.acts[captured.begin].layers
    loops = [layer.node for layer in act.layers if layer not in around and isinstance(layer.node, LOOPS)]
    rounds = [each for each in outward(act) if any(stands_in(loop.body, each.node) for loop in loops)]
    return rounds[-1] if rounds else act


def trained(story: Story) -> Iterator[tuple[Region, Event]]:
    """Steps before the capture that move the weights by placeholders."""
    for captured in story.captures:
        inside = {id(act.thing) for act in steps(story, captured)}
        for index, act in story.between(-1, captured.begin, Verb.METHOD) if inside else ():
            if act.name == "step" and id(act.thing) in inside and act.thing.kind is Kind.OPTIMIZER:
                from graphlint.site import dummies  # few files capture whole training steps

                here = dummies.trained(story, captured, index)
                if here is not None:
                    what = "weights by placeholders, which are no training data,"
                    found = tell(WarmupMovesState, here, callee=here.text, what=what, sure=Confidence.LIKELY)
                    yield region(captured, story.acts), found
                    break
