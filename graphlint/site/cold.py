"""What a region does for the first time, although its layers were called before: learn, tune a kernel, make parameters.

Measured on an H200 with torch 2.11 and Triton 3.6: a first backward pass of linear layers, convolutions and attention is
refused however often they were called without one (`CUBLAS_STATUS_NOT_INITIALIZED`: autograd's thread has its own handles);
a kernel with one configuration is captured at its first launch, one with several refused; a lazy layer is captured, and
every replay gives it new random weights.  A `GradScaler` makes its scale with its first loss (torch 2.13, `scale`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from graphlint.around_events import LazyParameters
from graphlint.events import Event
from graphlint.site.acts import Act, Verb
from graphlint.site.construct import argument, constant
from graphlint.site.story import Story, region, tell
from graphlint.site.things import Kind, Thing
from graphlint.site.warmup import is_known, is_warm, needs_handle, runs_elsewhere
from graphlint.site_events import WarmupMissing
from graphlint.syntax import last_called
from graphlint.types import Region

Told = Iterator[tuple[Region, Event]]
ASKING = frozenset({"torch.autograd.grad", "torch.autograd.backward"})
HANDING = (Kind.MODULE, Kind.FUNCTION, Kind.INSTANCE)
"""What somebody who is handed it may run."""
TUNED = "it is tuned"


def learning(story: Story) -> Told:
    """The first backward pass of all, in a region whose layers were warmed up without one."""
    for captured in story.captures:
        if captured.region is not None:
            continue
        inside = story.acts[captured.begin : captured.end]
        passes = [act for act in inside if _is_backward(act)]
        called = [act for act in inside if needs_handle(act)]
        before = story.acts[: captured.begin]
        if not passes or not called or not any(is_warm(act) for act in before) or any(_may_learn(act) for act in before):
            continue
        if all(is_known(act.thing) for act in called) and not runs_elsewhere(story, captured, called):
            yield region(captured, story.acts), tell(WarmupMissing, passes[0], callee=passes[0].text)


def _is_backward(act: Act) -> bool:
    return (act.verb is Verb.METHOD and act.name == "backward") or (act.verb is Verb.CALL and act.thing.name in ASKING)


def _may_learn(act: Act) -> bool:
    """Whether an act runs a backward pass, or hands something to whoever may run one."""
    if _is_backward(act):
        return True
    if act.verb is Verb.READ:
        return act.thing.kind in HANDING
    if act.verb is Verb.METHOD:
        return act.thing.kind is Kind.UNKNOWN and act.name in ("step", "fit", "train", "run")
    return act.verb is Verb.CALL and (act.thing.kind in (Kind.COMPILED, Kind.GRAPHED) or _is_unseen(act))


def _is_unseen(act: Act) -> bool:
    """Whether something is called of which nothing is known, not even that it is a kernel."""
    return act.thing.kind is Kind.UNKNOWN and kernel(act) is None


def tuned(story: Story) -> Told:
    """The first launch of a Triton kernel that tries its configurations out."""
    for captured in story.captures:
        inside = (act for _, act in story.between(captured.begin, captured.end, Verb.CALL))
        launches = [act for act in inside if (launched := kernel(act)) is not None and _is_tuned(launched)]
        before = story.acts[: captured.begin] if launches else []
        unseen = any(act.verb is Verb.READ and act.thing.kind in HANDING for act in before)
        if captured.region is not None or unseen or any(act.verb is Verb.CALL and _is_unseen(act) for act in before):
            continue
        known = {id(kernel(act)) for act in before}
        first = next((act for act in launches if id(kernel(act)) not in known), None)
        if first is not None:
            yield region(captured, story.acts), tell(WarmupMissing, first, callee=first.text, why=TUNED)


def kernel(act: Act) -> ast.AST | None:
    """The function that an act launches as `kernel[grid](...)`; None for any other act."""
    base = act.thing.base if act.verb is Verb.CALL and act.call is not None else None
    is_launch = base is not None and base.kind is Kind.FUNCTION and isinstance(act.thing.node, ast.Subscript)
    return base.function if base is not None and is_launch else None


def _is_tuned(function: ast.AST) -> bool:
    """Whether a kernel has several configurations to choose from."""
    marks = function.decorator_list if isinstance(function, ast.FunctionDef) else []
    tunes = [mark for mark in marks if isinstance(mark, ast.Call) and last_called(mark) == "autotune"]
    configs = [word.value for mark in tunes for word in mark.keywords if word.arg == "configs"]
    configs += [mark.args[0] for mark in tunes if mark.args]
    return bool(tunes) and not any(isinstance(each, ast.List) and len(each.elts) < 2 for each in configs)


def lazy(story: Story) -> Told:
    """The first call of a lazy layer."""
    for captured in story.captures:
        for index, act in story.between(captured.begin, captured.end, Verb.CALL):
            layer = act.thing
            if not _is_lazy(layer) or not is_known(layer):
                continue
            if not any(_fills(each, layer) for each in story.acts[layer.born : index]):
                yield region(captured, story.acts), tell(LazyParameters, act, callee=act.text)
                break


def _is_lazy(layer: Thing) -> bool:
    """Whether something is a lazy layer of torch, and no class of the tree that bears such a name."""
    return layer.kind is Kind.MODULE and layer.decl is None and layer.name.startswith("Lazy")


def _fills(act: Act, layer: Thing) -> bool:
    """Whether an act calls a layer, or hands it to somebody who may."""
    if act.verb is Verb.CALL:
        return act.thing is layer
    return act.verb is Verb.READ and act.thing.kind in HANDING and any(part is layer for part in act.thing.family())


def scaled(story: Story) -> Told:
    """The first loss of a gradient scaler: its scale is made there, and made anew where a replay runs that again."""
    for captured in story.captures:
        told: set[int] = set()
        for index, act in story.between(captured.begin, captured.end, Verb.METHOD):
            scaler = act.thing
            if scaler.kind is not Kind.SCALER or act.name != "scale" or id(scaler) in told or not is_known(scaler):
                continue
            told.add(id(scaler))
            if constant(argument(scaler, "enabled")) is False or not _is_updated(story, index, scaler):
                continue
            if not any(_may_scale(each, scaler) for each in story.acts[scaler.born : index]):
                yield region(captured, story.acts), tell(LazyParameters, act, callee=act.text, is_scale=True)


def _is_updated(story: Story, index: int, scaler: Thing) -> bool:
    """Whether the scale is ever moved: of one that stands still, every replay makes the same."""
    later = story.between(index, len(story.acts), Verb.METHOD)
    return any(each.thing is scaler and each.name == "update" for _, each in later)


def _may_scale(act: Act, scaler: Thing) -> bool:
    """Whether an act gives a scaler a loss, or hands it to somebody who may."""
    if act.verb is Verb.METHOD and act.thing is scaler:
        return act.name == "scale" or act.name.startswith("_lazy_init")
    is_handed = act.verb is Verb.READ and act.thing.kind in (*HANDING, Kind.SCALER, Kind.CONTAINER)
    return is_handed and any(part is scaler for part in act.thing.family())
