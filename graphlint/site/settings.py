"""What code around a graph tells modules and optimizers, of which the recorded kernels do not hear.

Which parameters learn, hooks, numbers that layers of torch keep, and parameters that an optimizer gets.
"""

from __future__ import annotations

from collections.abc import Iterator

from graphlint.events import Event
from graphlint.site.acts import Act, Verb
from graphlint.site.construct import constant
from graphlint.site.story import Captured, Story, region, tell
from graphlint.site.things import Kind, Thing
from graphlint.site_events import ModeToggled
from graphlint.types import Region

HOOKS = frozenset({
    "register_forward_hook", "register_forward_pre_hook", "register_full_backward_hook", "register_full_backward_pre_hook",
})  # fmt: skip
NUMBERS = {
    "p": ("Dropout", "AlphaDropout", "FeatureAlphaDropout"),
    "momentum": ("BatchNorm", "SyncBatchNorm", "InstanceNorm"),
    "eps": ("BatchNorm", "SyncBatchNorm", "InstanceNorm", "LayerNorm", "GroupNorm", "RMSNorm"),
    "negative_slope": ("LeakyReLU",),
    "alpha": ("ELU", "CELU"),
}
"""Attributes of layers that their `forward` passes on as numbers, by the beginnings of the layers' names (torch 2.13)."""


def changed(story: Story) -> Iterator[tuple[Region, Event]]:
    """What is told to modules and optimizers between a capture and a replay that goes on without it."""
    for captured in story.captures:
        inside = story.acts[captured.begin : captured.end]
        called = [act.thing for act in inside if act.verb is Verb.CALL and act.thing.kind is Kind.MODULE]
        stepped = [act.thing for act in inside if act.verb is Verb.METHOD and act.name == "step"]
        for index, act in story.between(captured.end, len(story.acts), Verb.METHOD, Verb.BIND) if called else ():
            what = _what(story, captured, act, called, stepped)
            replay = story.next_replay(captured, index) if what and not story.is_captured(index) else None
            if replay is not None and not _is_taken_back(story, index, replay, what):
                yield region(captured, story.acts), tell(ModeToggled, act, target=act.text, what=what)


def _what(story: Story, captured: Captured, act: Act, called: list[Thing], stepped: list[Thing]) -> str:
    if learns(act) is not None:
        return "learning" if _turns(story, captured, act, called) else ""
    if act.verb is Verb.METHOD:
        if act.name in HOOKS and any(act.thing is module for module in called):
            return "hook"
        return "group" if act.name == "add_param_group" and any(act.thing is each for each in stepped) else ""
    holder = act.slot.holder if act.slot is not None else None
    if not isinstance(holder, Thing) or act.slot is None or holder.decl is not None or act.thing.kind is Kind.TENSOR:
        return ""
    known = holder.name.startswith(NUMBERS.get(act.slot.key, ("-",))) and any(holder is module for module in called)
    return "setting" if known and (holder.is_training or act.slot.key != "p") else ""


def _is_taken_back(story: Story, index: int, replay: int, what: str) -> bool:
    """Whether a hook is removed again before the replay."""
    return what == "hook" and any(act.name == "remove" for _, act in story.between(index, replay, Verb.METHOD))


def learns(act: Act) -> bool | None:
    """Whether an act lets parameters learn, or freezes them; None where it does neither."""
    if act.verb is Verb.BIND:
        is_switch = act.slot is not None and act.slot.key == "requires_grad"
        return None if not is_switch or constant(act.thing) is ... else bool(constant(act.thing))
    if act.name != "requires_grad_" or act.call is None:
        return None
    words = {word.arg: word.value for word in act.call.keywords}
    given = act.other if act.call.args else Thing(Kind.CONSTANT, words.get("requires_grad")) if words else None
    return True if given is None else None if constant(given) is ... else bool(constant(given))


def _owners(act: Act) -> list[Thing]:
    """The modules whose parameters an act speaks of."""
    thing = act.slot.holder if act.slot is not None and act.verb is Verb.BIND else act.thing
    if not isinstance(thing, Thing):
        return []
    owner = thing.base if thing.kind is Kind.PARAMETER else thing
    return [part for part in owner.family() if part.kind is Kind.MODULE] if owner is not None else []


def _turns(story: Story, captured: Captured, act: Act, called: list[Thing]) -> bool:
    """Whether parameters that a captured backward pass reaches learn no more, or now do, and for good."""
    owners = {id(each) for each in _owners(act)}
    inside = story.between(captured.begin, captured.end, Verb.METHOD)
    if not any(id(each) in owners for each in called) or not any(each.name == "backward" for _, each in inside):
        return False
    alike = [(at, each) for at, each in enumerate(story.acts) if each.verb in (Verb.METHOD, Verb.BIND)]
    said = [
        (at, learns(each))
        for at, each in alike
        if learns(each) is not None and not owners.isdisjoint(map(id, _owners(each)))
    ]
    before = [is_on for at, is_on in said if at < captured.begin]
    later = {is_on for at, is_on in said if at > captured.end}
    is_on = learns(act)
    return len(later) == 1 and (before[-1] if before else True) is not is_on
