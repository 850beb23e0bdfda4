"""Captured training steps: learning rates and gradients."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from graphlint.events import Event, HostMutation
from graphlint.site.acts import Act, Verb
from graphlint.site.branches import excludes
from graphlint.site.construct import argument, constant
from graphlint.site.story import Captured, Story, region, tell
from graphlint.site.things import Kind, Thing
from graphlint.site_events import GradientsDropped, GradientsPileUp, RateFrozen
from graphlint.types import Region

Told = Iterator[tuple[Region, Event]]


MODELS = frozenset({Kind.MODULE, Kind.INSTANCE, Kind.UNKNOWN})
"""What a call of may be one of a model."""


OPTIONS = frozenset({
    "alpha", "betas", "dampening", "eps", "lambd", "lr", "lr_decay", "momentum", "momentum_decay", "rho", "weight_decay",
})  # fmt: skip
"""What optimizers take as numbers and keep for each group of parameters (torch 2.13 documentation)."""


def _inside(story: Story, captured: Captured, *verbs: Verb) -> list[Act]:
    return [act for _, act in story.between(captured.begin, captured.end, *verbs)]


def steps(story: Story, captured: Captured) -> list[Act]:
    """Where optimizers step inside a region, on their own or through a scaler."""
    return [act for act in _inside(story, captured, Verb.METHOD) if act.name == "step" and _stepped(act) is not None]


def _stepped(act: Act) -> Thing | None:
    if act.thing.kind is Kind.OPTIMIZER:
        return act.thing
    other = act.other if act.thing.kind is Kind.SCALER else None
    return other if other is not None and other.kind is Kind.OPTIMIZER else None


def _is_optimizer(story: Story, act: Act) -> bool:
    """Whether an act steps something given that is used as optimizers are: it has gradients set to zero as well."""
    if act.name != "step" or act.thing.kind is not Kind.UNKNOWN:
        return False
    return any(each.verb is Verb.METHOD and each.name == "zero_grad" and each.thing is act.thing for each in story.acts)


def rates(story: Story) -> Told:
    """Learning rates that change behind the back of a captured step."""
    for captured in story.captures:
        optimizers = {id(thing): thing for act in steps(story, captured) if (thing := _stepped(act)) is not None}
        for index, act in story.between(captured.end, len(story.acts), Verb.METHOD, Verb.BIND):
            if _changes_rate(act, optimizers) and story.next_replay(captured, index) is not None:
                option = act.slot.key.strip("[']") if act.slot is not None else _scheduled(act.thing)
                yield region(captured, story.acts), tell(RateFrozen, act, target=act.text, option=option)


def _changes_rate(act: Act, optimizers: dict[int, Thing]) -> bool:
    if act.verb is Verb.METHOD:
        base = act.thing.base if act.thing.kind is Kind.SCHEDULER and act.name == "step" else None
        return base is not None and id(base) in optimizers and (_is_number(base) or _cycles(act.thing))
    if act.slot is None or act.slot.key.strip("[']") not in OPTIONS or not isinstance(act.slot.holder, Thing):
        return False
    chain = [act.slot.holder, *act.slot.holder.made_by, *([act.slot.holder.base] if act.slot.holder.base else [])]
    parts = {id(part) for thing in optimizers.values() for part in thing.family()}
    return any(id(thing) in parts for thing in chain)


CYCLING = frozenset({"OneCycleLR", "CyclicLR"})
"""Schedulers that move the momentum as well, unless told not to (torch 2.13 documentation): a number in any case."""


def _cycles(scheduler: Thing) -> bool:
    is_off = constant(scheduler.arguments.get("cycle_momentum")) is False
    return scheduler.name.rpartition(".")[2] in CYCLING and not is_off


def _scheduled(scheduler: Thing) -> str:
    """The option that a scheduler replaces in the groups of its optimizer."""
    base = scheduler.base
    if base is None or _is_number(base):
        return "lr"
    return "betas" if "Adam" in base.name else "momentum"


def _is_number(optimizer: Thing) -> bool:
    rate = argument(optimizer, "lr", 1)
    return rate is None or rate.kind is Kind.NUMBER


def _backwards(story: Story, captured: Captured) -> list[Act]:
    return [act for act in _inside(story, captured, Verb.METHOD) if act.name == "backward"]


def clears(act: Act) -> bool:
    """Whether an act sets gradients to None."""
    if act.verb is Verb.BIND:
        return act.slot is not None and act.slot.key == "grad"
    if act.name != "zero_grad":
        return False
    words = {word.arg: word.value for word in act.call.keywords} if act.call is not None else {}
    given = words.get("set_to_none") or (act.call.args[0] if act.call is not None and act.call.args else None)
    return not (isinstance(given, ast.Constant) and given.value is False)


def dropped(story: Story) -> Told:
    """Gradients that are set to None while the graph writes the tensors they were."""
    for captured in story.captures:
        if not _backwards(story, captured) or steps(story, captured):
            continue
        for index, act in story.between(captured.end, len(story.acts), Verb.METHOD, Verb.BIND):
            is_own = _takes_away(act) and not _is_of_others(story, captured, _cleared(act))
            replay = story.next_replay(captured, index) if is_own else None
            later = story.between(replay, len(story.acts), Verb.METHOD) if replay is not None else ()
            if replay is not None and excludes(act, story.acts[replay]):
                continue
            if any(_stepped(each) or _is_optimizer(story, each) for _, each in later) and not _gives_back(story, index):
                yield region(captured, story.acts), tell(GradientsDropped, act, call=act.text)


def _takes_away(act: Act) -> bool:
    """Whether an act sets gradients to None: `zero_grad()`, or `p.grad = None` for each of them."""
    return clears(act) and (act.verb is Verb.METHOD or act.thing.kind is Kind.NONE)


def _cleared(act: Act) -> Thing:
    """What the gradients belong to that an act sets to None: an optimizer, a module, or whatever the parameters are of."""
    holder = act.slot.holder if act.slot is not None else None
    return (holder.base or holder) if isinstance(holder, Thing) else act.thing


def _gives_back(story: Story, index: int) -> bool:
    """Whether gradients are bound again behind an act: `p.grad = static`."""
    bound = (act for _, act in story.between(index, len(story.acts), Verb.BIND))
    return any(clears(act) and act.thing.kind is not Kind.NONE for act in bound)


def _is_of_others(story: Story, captured: Captured, owner: Thing) -> bool:
    """Whether an optimizer or a module has the parameters of a module that the region does not call."""
    given = argument(owner, "params", 0) if owner.kind is Kind.OPTIMIZER else None
    module = given.base if given is not None and given.kind is Kind.PARAMETERS else owner
    if module is None or module.kind is not Kind.MODULE:
        return False
    called = {id(act.thing) for act in _inside(story, captured, Verb.CALL)}
    return not any(id(part) in called for part in module.family())


def _is_apart(story: Story, first: int, second: int) -> bool:
    """Whether two backward passes are of different models: of calls that have none in common."""
    here, there = _models(story, first), _models(story, second)
    return bool(here) and bool(there) and here.isdisjoint(there)


def _models(story: Story, index: int) -> set[int]:
    """What was called before an act in the activation that it belongs to."""
    frame = story.acts[index].frame
    calls = (act for _, act in story.between(-1, index, Verb.CALL))
    return {id(act.thing) for act in calls if act.frame is frame and act.thing.kind in MODELS}


def piled(story: Story) -> Told:
    """Backward passes that are captured onto gradients of the warm-up."""
    for captured in story.captures:
        backwards = _backwards(story, captured)
        if not backwards:
            continue
        last = story.acts.index(backwards[0])
        earlier = [at for at, act in story.between(-1, captured.begin, Verb.METHOD) if act.name == "backward"]
        before = [at for at in earlier if not _is_apart(story, at, last)]
        if not before:
            continue
        around = [(at, act) for at, act in story.between(before[-1], last, Verb.METHOD, Verb.BIND)]
        after = [
            act
            for at, act in story.between(captured.end, len(story.acts), Verb.METHOD)
            if act.name in ("zero_grad", "zero_") and _counts(story, captured, at)
        ]
        # Zeroing in place helps where it is recorded; before the capture, gradients must go.
        held = _bound_gradients(story, captured.begin)
        cleared = any(clears(act) or (at > captured.begin and _refills(act, held)) for at, act in around)
        if not cleared and not after and not _leaves_zeros(story, captured, before[-1], last):
            yield region(captured, story.acts), tell(GradientsPileUp, backwards[0], call=backwards[0].text)


def _bound_gradients(story: Story, until: int) -> set[int]:
    """The memory that `.grad` was bound to before an act: `p.grad = flat[a:b].view_as(p)`."""
    bound = (act for _, act in story.between(-1, until, Verb.BIND))
    return {id(act.thing.owner) for act in bound if act.slot is not None and act.slot.key == "grad"}


def _refills(act: Act, held: set[int]) -> bool:
    """Whether an act clears gradients in place: by an optimizer, or with the one tensor that all of them lie in."""
    return act.name == "zero_grad" or (act.name == "zero_" and id(act.thing.owner) in held)


def _counts(story: Story, captured: Captured, index: int) -> bool:
    """Whether a replay may follow on an act: not in the function of the capture, behind its last replay."""
    is_elsewhere = story.acts[index].frame is not story.acts[captured.begin].frame
    return is_elsewhere or next(story.replays(captured, index), None) is not None


def _leaves_zeros(story: Story, captured: Captured, before: int, backward: int) -> bool:
    """Whether gradients are zeroed in place behind both passes: the captured one and every replay start from zeros."""
    inside = story.between(backward, captured.end, Verb.METHOD)
    warm = story.between(before, captured.begin, Verb.METHOD)
    return all(any(map(_zeroes, (act for _, act in each))) for each in (inside, warm))


def _zeroes(act: Act) -> bool:
    """Whether an act fills gradients with zeros: `optimizer.zero_grad(set_to_none=False)`, `p.grad.zero_()`."""
    return act.name == "zero_grad" or (act.name == "zero_" and "grad" in act.text)


def unscaled(story: Story) -> Told:
    """Gradients that a region unscales, and a step behind the replay unscales once more: the scaler notes it in Python."""
    for captured in story.captures:
        scaled = [act for act in _inside(story, captured, Verb.METHOD) if act.thing.kind is Kind.SCALER]
        stepped = {id(act.thing) for act in scaled if act.name == "step"}
        first = next(story.replays(captured), len(story.acts))
        behind = {id(act.thing) for _, act in story.between(first, len(story.acts), Verb.METHOD) if act.name == "step"}
        for act in scaled:
            if act.name == "unscale_" and id(act.thing) in behind - stepped:
                told = tell(HostMutation, act, target=act.text, what="call", why=UNSCALED)
                yield region(captured, story.acts), told


UNSCALED = "that gradients are unscaled is noted while capturing only, and `step` unscales them once more"
