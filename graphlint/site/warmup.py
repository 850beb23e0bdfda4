"""Was the region warmed up, in the right place, and without moving state?"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from graphlint.events import Event
from graphlint.site.acts import Act, Verb, side_by_side
from graphlint.site.advancing import advances
from graphlint.site.branches import apart, excludes
from graphlint.site.flags import is_passed_over, turned_back
from graphlint.site.inputs import root
from graphlint.site.story import Captured, Story, region, tell
from graphlint.site.things import Kind, Thing
from graphlint.site_events import WarmupMissing, WarmupMovesState
from graphlint.syntax import walk
from graphlint.types import Confidence, Region

Told = Iterator[tuple[Region, Event]]

HANDLES = frozenset(
    [
        "Linear",
        "Bilinear",
        "Conv1d",
        "Conv2d",
        "Conv3d",
        "ConvTranspose1d",
        "ConvTranspose2d",
        "ConvTranspose3d",
        "BatchNorm2d",
        "BatchNorm3d",
        "MultiheadAttention",
        "TransformerEncoderLayer",
        "TransformerDecoderLayer",
        "TransformerEncoder",
        "TransformerDecoder",
        "Transformer",
        "LSTMCell",
        "GRUCell",
        "RNNCell",
    ]
)
"""Layers whose first call sets up a library handle; measured on an H200, torch 2.11: refused without a warm-up.

Not `BatchNorm1d`, which leaves rows of features to kernels of torch's own, nor the recurrent layers, which were captured.
"""

RESTORES = frozenset(
    ["load_state_dict", "reset_running_stats", "reset_parameters", "reset", "reset_state", "reset_cache", "reset_stats"]
)


def missing(story: Story) -> Told:
    """A region whose layers nobody called before the capture."""
    for captured in story.captures:
        inside = [act for act in story.acts[captured.begin : captured.end] if needs_handle(act)]
        if not inside or any(is_warm(act) for act in story.acts[: captured.begin]):
            continue
        if all(is_known(act.thing) for act in inside) and not runs_elsewhere(story, captured, inside):
            yield region(captured, story.acts), tell(WarmupMissing, inside[0], callee=inside[0].text)


def uncompiled(story: Story) -> Told:
    """Compiled functions that are called for the first time, and so compiled, under capture."""
    for captured in story.captures:
        inside = (act for _, act in story.between(captured.begin, captured.end, Verb.CALL))
        calls = [act for act in inside if act.thing.kind is Kind.COMPILED]
        before = story.between(-1, captured.begin, Verb.CALL, Verb.READ) if calls else ()
        seen = {id(act.thing) for _, act in before}
        for act in calls:
            if id(act.thing) not in seen and (act.thing.born > 0 or _is_only_use(act)):
                yield region(captured, story.acts), tell(WarmupMissing, act, callee=act.text)
                break


def _is_only_use(act: Act) -> bool:
    """Whether a call of a function at the top of a file is the only place in the file that names it."""
    module, called = act.frame.module, act.call
    if called is None or not isinstance(called.func, ast.Name) or act.thing.base is None:
        return False
    name = called.func.id
    named = [each for each in walk(module.source.tree) if isinstance(each, ast.Name) and each.id == name]
    return act.thing.base.module is module and len(named) == 1


def needs_handle(act: Act) -> bool:
    return act.verb is Verb.CALL and act.thing.kind is Kind.MODULE and act.thing.name in HANDLES


def is_warm(act: Act) -> bool:
    """Whether an act before the capture can have set up the libraries."""
    if act.verb is Verb.READ and act.thing.kind in (Kind.MODULE, Kind.FUNCTION, Kind.INSTANCE):
        return True
    return needs_handle(act) or (act.verb is Verb.CALL and act.thing.kind in (Kind.UNKNOWN, Kind.COMPILED, Kind.GRAPHED))


def is_known(thing: Thing) -> bool:
    return not thing.is_argument and thing.born > 0


def runs_elsewhere(story: Story, captured: Captured, inside: list[Act]) -> bool:
    modules = {id(act.thing) for act in inside}
    frame = story.acts[captured.begin].frame
    return any(
        needs_handle(act) and id(act.thing) in modules and act.frame is not frame for act in story.acts[captured.end :]
    )


def moves_state(story: Story) -> Told:
    """Warm-up calls that update statistics or counters which nothing puts back."""
    for captured in story.captures:
        inside = ((at, story.acts[at]) for at in range(captured.begin, captured.end) if moved_state(story.acts[at]))
        moved = {id(act.thing.owner): act for at, act in inside if not is_passed_over(story, captured, at)}
        for slot, _ in turned_back(story, captured) if moved else ():
            # What a flag of its object says is to begin anew is not read as the warm-up has left it.
            moved = _without(moved, slot.holder) if isinstance(slot.holder, Thing) else moved
        for index, act in enumerate(story.acts[: captured.begin] if moved else ()):
            if not moved_state(act) or id(act.thing.owner) not in moved or _is_restored(story, captured, index, act):
                continue
            if _has_twin(story, captured, act):
                continue
            here, there = side_by_side(act, story.acts[captured.begin])
            if excludes(here, there) or (here.frame is there.frame and apart(here, there)):
                continue
            where, told = here.span, here.text
            yield region(captured, story.acts), _event(where, told, moved_state(act))


def _without(moved: dict[int, Act], holder: Thing) -> dict[int, Act]:
    parts = {id(part.owner) for part in holder.family()}
    return {key: act for key, act in moved.items() if key not in parts}


def _has_twin(story: Story, captured: Captured, moved: Act) -> bool:
    """Whether another module of the same make goes through the warm-up too, so that the two can be compared."""
    before = story.acts[: captured.begin]
    called = [act.thing for act in before if act.verb is Verb.CALL and act.frame.leads_to(moved.frame)]
    modules = [thing for thing in called if thing.kind is Kind.MODULE]
    own = [thing for thing in modules if any(part is moved.thing.owner or part is moved.thing for part in thing.family())]
    return any(twin is not one and is_twin(one, twin) for one in own for twin in modules)


def is_twin(one: Thing, twin: Thing) -> bool:
    if one.decl is not None:
        return twin.decl is one.decl
    return any(one is each for each in twin.made_by) or any(twin is each for each in one.made_by)


def _event(where: object, told: str, what: str) -> Event:
    return WarmupMovesState(span=where, text=told, confidence=Confidence.LIKELY, callee=told, what=what)  # type: ignore[arg-type]


def moved_state(act: Act) -> str:
    """The state an act moves; "" when it moves none."""
    if act.verb is Verb.CALL and act.thing.kind is Kind.MODULE and "BatchNorm" in act.thing.name:
        return "running statistics" if act.name == "training" else ""
    if act.verb is Verb.WRITE and act.frame.caller is not None and act.thing.name:
        is_state = act.thing.owner.kind in (Kind.TENSOR, Kind.UNKNOWN) and not act.thing.owner.is_argument
        return "state" if is_state and advances(act) else ""
    return ""


def _is_restored(story: Story, captured: Captured, index: int, moved: Act) -> bool:
    first = next(story.replays(captured), len(story.acts))
    return any(
        (_renews(act, moved) or (puts_state_back(act) and not _is_elsewhere(act, moved)))
        and _is_done(story, captured, place, (index, first))
        for place, act in story.between(-1, first, Verb.METHOD, Verb.WRITE, Verb.CALL, Verb.BIND)
    )


def _is_done(story: Story, captured: Captured, place: int, span: tuple[int, int]) -> bool:
    """Whether what an act does happens in a span of a story: there and then, or by a replay of what recorded it."""
    since, until = span
    recorded = next((each for each in story.captures if each.holds(place)), None)
    if recorded is None or recorded is captured:
        return place > since
    replays = list(story.replays(recorded))
    # Which of two methods that replay is called first, only their caller knows.
    here = root(story.acts[until].frame) if until < len(story.acts) else None
    return any(since < at < until or root(story.acts[at].frame) is not here for at in replays)


def _renews(act: Act, moved: Act) -> bool:
    """Whether an act writes state that had been moved, or binds it anew, of which another rule tells."""
    if act.verb is Verb.BIND:
        return (
            act.other is not None
            and act.other.owner is moved.thing.owner
            and isinstance(act.slot and act.slot.holder, Thing)
        )
    return act.verb is Verb.WRITE and (is_parameter(act.thing) or _undoes(act, moved))


def puts_state_back(act: Act) -> bool:
    if act.verb is Verb.METHOD:
        return act.name in RESTORES
    is_function = act.name == "" and act.thing.kind is Kind.FUNCTION
    return is_function and act.thing.name.startswith(("restore", "reset"))


def _is_elsewhere(act: Act, moved: Act) -> bool:
    """Whether a call puts back the state of an object that does not hold what was moved."""
    owner = act.thing.base if act.verb is Verb.CALL else act.thing
    if owner is None or owner.kind not in (Kind.INSTANCE, Kind.MODULE) or owner.decl is None:
        return False
    return not any(part is moved.thing.owner for part in owner.family())


def is_parameter(thing: Thing) -> bool:
    """A tensor of a module, met while all of them are gone through."""
    return thing.kind is Kind.PARAMETER or (thing.base is not None and thing.base.kind is Kind.PARAMETERS)


def _undoes(act: Act, moved: Act) -> bool:
    return act.thing.owner is moved.thing.owner and act.name in ("zero_", "fill_", "copy_") and not advances(act)
