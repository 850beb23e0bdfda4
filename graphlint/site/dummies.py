"""Warm-ups of whole training steps on placeholders: the optimizer moves the weights by gradients of made-up data.

Steps on data that count as training are none of this, and neither is a warm-up after which the weights are put back.
Placeholders of written sizes, with no data in sight, are how training is begun in the documentation of torch (2.13).
"""

from __future__ import annotations

import ast

from graphlint.site.acts import Act, Verb, outward, side_by_side
from graphlint.site.construct import argument, constant
from graphlint.site.left_over import puts_back, round_of
from graphlint.site.story import Captured, Story
from graphlint.site.things import Kind, Thing
from graphlint.site.warmup import is_parameter, is_twin, puts_state_back
from graphlint.syntax import last_called, walk

CONSTANT = frozenset({"empty", "empty_like", "full", "full_like", "ones", "ones_like", "zeros", "zeros_like"})
RANDOM = frozenset({"rand", "rand_like", "randint", "randint_like", "randn", "randn_like"})
NEW = frozenset({"new_empty", "new_full", "new_ones", "new_zeros"})
TOUCHING = (Verb.METHOD, Verb.WRITE, Verb.BIND, Verb.CALL)


def trained(story: Story, captured: Captured, index: int) -> Act | None:
    """Where a warm-up step before a capture trains on nothing but placeholders, and its effect stays."""
    act = story.acts[index]
    if constant(argument(act.thing, "lr", 1)) in (0, 0.0) or _has_twin(story, captured, act.thing):
        return None
    first = next(story.replays(captured), len(story.acts))
    if any(_undoes(each) for _, each in story.between(index, first, *TOUCHING)):
        return None
    fed = _fed(story, captured)
    if not any(map(_is_shaped, fed)) or not all(_is_placeholder(story, captured, index, each) for each in fed):
        return None
    here = round_of(act, story, captured)
    return side_by_side(act, story.acts[captured.begin])[0] if here is act else here


def _has_twin(story: Story, captured: Captured, optimizer: Thing) -> bool:
    """Whether a copy of the model, which the region does not train, is trained before the capture too: for comparison."""
    inside = {id(each.thing) for _, each in story.between(captured.begin, captured.end, Verb.METHOD)}
    before = (each for _, each in story.between(-1, captured.begin, Verb.METHOD) if each.name == "step")
    others = (each.thing for each in before if each.thing.kind is Kind.OPTIMIZER and id(each.thing) not in inside)
    own = _model(optimizer)
    return any(own is None or (model := _model(each)) is None or is_twin(own, model) for each in others)


def _model(optimizer: Thing) -> Thing | None:
    """The module whose parameters an optimizer was given; None if that is not known."""
    given = argument(optimizer, "params", 0)
    owner = given.base if given is not None and given.kind is Kind.PARAMETERS else None
    return owner if owner is not None and owner.kind is Kind.MODULE else None


def _undoes(act: Act) -> bool:
    """Whether an act may put weights back, or begin anew with them."""
    if puts_back(act) or puts_state_back(act):
        return True
    if act.verb is Verb.BIND:
        return act.slot is not None and act.slot.key == "data"
    if act.verb is Verb.WRITE:
        return is_parameter(act.thing)
    return act.name == "apply" if act.verb is Verb.METHOD else act.thing.name.startswith("torch.nn.utils.vector_to")


def _fed(story: Story, captured: Captured) -> list[Thing]:
    """The tensors that a region reads and that get new data before it is replayed."""
    later = [each for at, each in story.between(captured.end, len(story.acts), Verb.WRITE) if each.name == "copy_"]
    owners = {id(each.thing.owner): each.thing.owner for each in later if id(each.thing.owner) in captured.reads}
    return [thing for thing in owners.values() if thing.kind is not Kind.PARAMETER]


def _is_placeholder(story: Story, captured: Captured, index: int, thing: Thing) -> bool:
    """Whether a tensor was made up and has not been given anything before an act.

    What is drawn at random in a script's outermost function may be the data of an example, and counts as such.
    """
    if not isinstance(thing.node, ast.Call) or _is_given(story, index, thing):
        return False
    called = last_called(thing.node)
    if called in CONSTANT or called in NEW:
        return True
    inner = [each.frame.body for each in outward(story.acts[captured.begin]) if each.frame.caller is not None]
    return called in RANDOM and any(thing.node is each for body in inner if body is not None for each in walk(body))


def _is_shaped(thing: Thing) -> bool:
    """Whether a placeholder has the shape of data that were there to warm up with; of written sizes, nothing was."""
    made = thing.node
    if not isinstance(made, ast.Call) or not isinstance(made.func, ast.Attribute):
        return False
    if made.func.attr.endswith("_like"):
        return True
    shapes = (each for given in made.args for each in walk(given) if isinstance(each, ast.Attribute))
    return any(each.attr in ("shape", "size") for each in shapes)


def _is_given(story: Story, index: int, thing: Thing) -> bool:
    return any(each.thing.owner is thing for _, each in story.between(-1, index, Verb.WRITE))
