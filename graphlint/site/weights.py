"""Do parameters, buffers and stashed tensors stay where the graph knows them?"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from graphlint.events import Event
from graphlint.site.acts import Act, Verb
from graphlint.site.branches import excludes, is_size
from graphlint.site.construct import constant
from graphlint.site.rehoused import is_kept, regraded, rehoused
from graphlint.site.settings import changed
from graphlint.site.story import Captured, Story, region, tell
from graphlint.site.things import Kind, Thing
from graphlint.site_events import ModeToggled, StashReplaced, WeightsMoved
from graphlint.types import Region, Target

Told = Iterator[tuple[Region, Event]]
PARAMETERS = frozenset(
    {"torch.nn.Parameter", "torch.nn.parameter.Parameter", "torch.nn.Buffer", "torch.nn.parameter.Buffer"}
)
DATA, GRAD = ".data = ...", ".grad = ..."
CASTS = frozenset({"half", "bfloat16", "double", "to_empty"})
SPREADING = frozenset({"torch.nn.utils.vector_to_parameters", "torch.nn.utils.convert_parameters.vector_to_parameters"})
"""Functions that make parameters views of what they are given."""
REMAKING = (
    "torch.nn.utils.prune.", "torch.nn.utils.parametrize.re", "torch.nn.utils.parametrizations.",
    "torch.nn.utils.weight_norm", "torch.nn.utils.spectral_norm", "torch.nn.utils.remove_",
)  # fmt: skip
"""Functions that put what is computed, or a plain parameter again, in the place of a parameter of a module."""
RESTORING = frozenset({"resize_", "resize_as_", "set_"})
"""Methods of tensors that may leave them with another storage."""


def moved(story: Story) -> Told:
    """Parameters that get other memory in a region, or between the capture and a replay."""
    for captured in story.captures:
        for act in rehoused(story, captured):
            yield region(captured, story.acts), tell(WeightsMoved, act, target=act.text, how=DATA, targets=Target.GRAPH)
        called = _called(story, captured)
        for index, act in story.between(captured.end, len(story.acts), Verb.METHOD, Verb.BIND, Verb.WRITE, Verb.CALL):
            how = _how(story, act, called, captured)
            if how and not story.is_captured(index) and story.next_replay(captured, index) is not None:
                yield region(captured, story.acts), tell(WeightsMoved, act, target=act.text, how=how, targets=Target.GRAPH)


def _called(story: Story, captured: Captured) -> list[Thing]:
    found: dict[int, Thing] = {}
    for act in story.acts[captured.begin : captured.end]:
        if act.verb is Verb.CALL and act.thing.kind in (Kind.MODULE, Kind.UNKNOWN):
            found[id(act.thing)] = act.thing
    return list(found.values())


def _how(story: Story, act: Act, called: list[Thing], captured: Captured) -> str:
    if act.verb is Verb.METHOD and act.thing.kind is Kind.OPTIMIZER:
        return ".load_state_dict()" if act.name == "load_state_dict" and _is_stepped(act.thing, story, captured) else ""
    if act.verb is Verb.METHOD:
        return moved_by(act) if holds(act.thing, called) else ""
    if act.verb is Verb.CALL:
        if act.thing.name.startswith(REMAKING):
            return "new parameters" if _is_given(story, act, called) else ""
        return DATA if act.thing.name in SPREADING and takes(story, act, called) else ""
    if act.verb is Verb.WRITE:
        return f".{act.name}()" if act.name in RESTORING and id(act.thing.owner) in captured.reads else ""
    assert act.slot is not None
    holder = act.slot.holder
    if not isinstance(holder, Thing) or act.thing.kind is Kind.NONE:
        return ""
    if act.slot.key == "grad":
        return GRAD if regraded(story, captured, act, called) else ""
    if act.slot.key == "data":
        owner = holder.base if holder.kind is Kind.PARAMETER else holder
        is_inside = any(owner is part for module in called for part in module.family())
        is_held = is_inside or (owner is not None and holds(owner, called)) or _is_part(holder, captured)
        return DATA if is_held and not is_kept(story, act) else ""
    before = captured.inputs.get(act.slot)
    if before is not None and before.kind is Kind.MODULE:
        return "a new module"
    is_inside = any(holder is part for module in called for part in module.family())
    if is_inside and act.thing.name in PARAMETERS:
        return "a new parameter"
    if holder.kind is not Kind.MODULE or holder.decl is not None or not is_inside:
        return ""
    if act.thing.kind in (Kind.CONSTANT, Kind.NUMBER):
        return ""
    return "a new module" if act.thing.kind is Kind.MODULE else "a new parameter"


def takes(story: Story, call: Act, called: list[Thing]) -> bool:
    """Whether a call is given the parameters of a module that the region calls."""
    given = (act.thing for act in story.acts if act.verb is Verb.READ and act.node is call.node)
    bases = [each.base for each in given if each.kind is Kind.PARAMETERS and each.base is not None]
    return any(holds(each, called) for each in bases)


def _is_given(story: Story, call: Act, called: list[Thing]) -> bool:
    """Whether a call is given a module that the region calls, or a part of one."""
    given = (act.thing for act in story.acts if act.verb is Verb.READ and act.node is call.node)
    return any(
        each.kind is Kind.MODULE and any(each is part for module in called for part in module.family()) for each in given
    )


def _is_stepped(optimizer: Thing, story: Story, captured: Captured) -> bool:
    """Whether the region steps an optimizer: loading puts new tensors in the place of those it updates."""
    acts = story.between(captured.begin, captured.end, Verb.METHOD)
    return any(act.thing is optimizer and act.name == "step" for _, act in acts)


def moved_by(act: Act) -> str:
    """How a method of a module gives its parameters other memory; empty if it does not."""
    call = act.call
    if act.name in CASTS:
        return f".{act.name}()"
    words = {word.arg: word.value for word in call.keywords} if call is not None else {}
    if act.name == "load_state_dict":
        assign = words.get("assign")
        return "assign=True" if isinstance(assign, ast.Constant) and assign.value is True else ""
    if act.name != "to" or call is None:
        return "" if act.name != "cpu" else ".cpu()"
    return ".to(...)" if any(_is_cast(value) for value in [*call.args, *words.values()]) else ""


def _is_cast(value: ast.expr) -> bool:
    if isinstance(value, ast.Constant):
        return value.value == "cpu"
    return isinstance(value, ast.Attribute) and isinstance(value.value, ast.Name) and value.value.id == "torch"


def holds(thing: Thing, called: list[Thing]) -> bool:
    """Whether a module is one of some others, or one of them is a part of it."""
    return thing.kind in (Kind.MODULE, Kind.UNKNOWN) and any(part is module for module in called for part in thing.family())


def _is_part(holder: Thing, captured: Captured) -> bool:
    return any(holder is thing for thing in captured.inputs.values()) or id(holder.owner) in captured.reads


def toggled(story: Story) -> Told:
    """A switch of mode, and other things told to modules, that the recorded kernels do not follow."""
    yield from changed(story)
    for captured in story.captures:
        inner = story.acts[captured.begin : captured.end]
        modes = {id(act.thing): act for act in inner if _has_mode(act)}
        modes |= {id(act.thing): act for act in inner if _was_set(story, captured, act)}
        for index, act in story.between(captured.end, len(story.acts), Verb.METHOD):
            if act.name not in ("eval", "train") or act.thing.kind not in (Kind.MODULE, Kind.UNKNOWN):
                continue
            inside = [modes[id(part)] for part in act.thing.family() if id(part) in modes]
            mode = is_on(act)
            replay = story.next_replay(captured, index)
            if replay is None or not any(_trained(story, captured, each) is not mode for each in inside):
                continue
            back = [each for _, each in story.between(index, replay, Verb.METHOD) if each.thing is act.thing]
            if not any(each.name in ("eval", "train") for each in back):
                yield region(captured, story.acts), tell(ModeToggled, act, target=act.text)


def is_on(act: Act) -> bool:
    """Whether `train` or `eval` turns training on."""
    return act.name == "train" and constant(act.other) is not False


def _trained(story: Story, captured: Captured, call: Act) -> bool:
    """Whether a module was called in training mode: as it was made, or as the site has set it."""
    if call.thing.kind is Kind.MODULE:
        return call.name == "training"
    return is_on(_switches(story, captured, call)[-1])


def _was_set(story: Story, captured: Captured, call: Act) -> bool:
    """Whether the site has set the mode of a callee that nothing else is known of."""
    return call.verb is Verb.CALL and call.thing.kind is Kind.UNKNOWN and bool(_switches(story, captured, call))


def _switches(story: Story, captured: Captured, call: Act) -> list[Act]:
    acts = story.acts[: captured.begin]
    return [
        each for each in acts if each.verb is Verb.METHOD and each.name in ("eval", "train") and each.thing is call.thing
    ]


def _has_mode(act: Act) -> bool:
    """Whether an act calls a layer that does something else in training."""
    name = act.thing.name
    return act.verb is Verb.CALL and act.thing.kind is Kind.MODULE and ("Dropout" in name or "BatchNorm" in name)


def stashed(story: Story) -> Told:
    """An attribute that a region sets, set to something else outside, and read behind a replay as if it were fresh."""
    for captured in story.captures:
        for _, act in story.between(captured.begin, captured.end, Verb.BIND):
            if act.slot is None or not isinstance(act.slot.holder, Thing) or not captured.made(act.thing) or act.is_maybe:
                continue
            if len(story.captures) == 1 and is_size(act):
                continue  # whoever replays the only graph there is replays it on inputs of this size
            if act.slot.holder.kind in (Kind.MODULE, Kind.INSTANCE) and _is_replaced(story, captured, act):
                yield region(captured, story.acts), tell(StashReplaced, act, target=act.text)


def _is_replaced(story: Story, captured: Captured, stash: Act) -> bool:
    for index, act in story.between(captured.end, len(story.acts), Verb.BIND):
        if act.slot != stash.slot or captured.made(act.thing) or story.is_captured(index):
            continue
        replay = story.next_replay(captured, index)
        if replay is not None and constant(act.thing) is ... and not excludes(act, story.acts[replay]):
            return any(later.slot == stash.slot for _, later in story.between(replay, len(story.acts), Verb.LOAD))
    return False
