"""Process groups of the host in a region, and DDP models that are graphed, or that look for unused parameters.

Measured on an H200 with torch 2.11: Gloo's collectives of device tensors wait for the device and are refused, its barrier
is not; DDP reads back which parameters were used as soon as one was not; a DDP model that `make_graphed_callables` gets
wants eleven warm-ups and a side stream like any other.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from graphlint.around_events import DdpOnDefaultStream, DdpUnused, HostCollective, WarmupTooShort
from graphlint.events import Event
from graphlint.modules import once_a_module
from graphlint.project import Module
from graphlint.site.acts import Act, Verb
from graphlint.site.collectives import ENOUGH, is_collective, is_on_side_stream, is_parallel, is_without_gradients
from graphlint.site.construct import argument, constant
from graphlint.site.graphed import MAKES, graphed_region
from graphlint.site.graphed_gradients import unused_layer
from graphlint.site.story import Story, region, tell
from graphlint.site.things import Kind, Thing
from graphlint.syntax import last_called, walk
from graphlint.types import Region

Told = Iterator[tuple[Region, Event]]
HOST = "gloo"


def of_the_host(story: Story) -> Told:
    """Collectives of a group that works on the host."""
    if HOST not in story.module.source.text.lower():
        return
    for captured in story.captures:
        for _, act in story.between(captured.begin, captured.end, Verb.CALL):
            if is_collective(act) and not act.thing.name.endswith("barrier") and _is_of_host(story, act):
                yield region(captured, story.acts), tell(HostCollective, act, call=act.text)


def _is_of_host(story: Story, act: Act) -> bool:
    given = next((word.value for word in act.call.keywords if word.arg == "group"), None) if act.call is not None else None
    if given is None:
        return _begins_with_host(act.frame.module)
    reads = [each.thing for each in story.acts if each.verb is Verb.READ and each.node is act.node]
    return any(_is_group_of_host(each.node) for each in reads if each.name == "torch.distributed.new_group")


def _is_group_of_host(node: ast.AST | None) -> bool:
    words = node.keywords if isinstance(node, ast.Call) else []
    return any(word.arg == "backend" and _names_host(word.value) for word in words)


@once_a_module
def _begins_with_host(module: Module) -> bool:
    """Whether a file makes its process group for the host, and no other."""
    calls = [node for node in walk(module.source.tree) if isinstance(node, ast.Call)]
    begun = [call for call in calls if last_called(call) == "init_process_group"]
    given = [[*call.args[:1], *(word.value for word in call.keywords if word.arg == "backend")] for call in begun]
    return bool(given) and all(any(_names_host(each) for each in some) for some in given)


def _names_host(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.lower() == HOST


def looking_for_unused(story: Story) -> Told:
    """DDP models with parameters that nothing uses, trained in a region."""
    for captured in story.captures:
        inside = [act for _, act in story.between(captured.begin, captured.end, Verb.CALL) if is_parallel(act)]
        passes = (act for _, act in story.between(captured.begin, captured.end, Verb.METHOD) if act.name == "backward")
        if not inside or next(passes, None) is None:
            continue
        model = inside[0].thing
        layer = unused_layer(argument(model, "module", 0) or model)
        if layer and constant(argument(model, "find_unused_parameters")) is True:
            yield region(captured, story.acts), tell(DdpUnused, inside[0], callee=inside[0].text, layer=layer)


def graphed(story: Story) -> Told:
    """DDP models that `make_graphed_callables` is given."""
    for act in story.acts:
        model = act.other
        if act.verb is not Verb.CALL or model is None or act.thing.kind is not Kind.OUTSIDE or not _is_graphed_model(act):
            continue
        count = _warmups(act.thing)
        if count is not None and count < ENOUGH:
            yield graphed_region(act, act.thing), tell(WarmupTooShort, act, callee=act.text, count=count)
        if not is_on_side_stream(story, model.born) and not model.is_argument:
            yield graphed_region(act, act.thing), tell(DdpOnDefaultStream, act, call=act.text)


def _is_graphed_model(act: Act) -> bool:
    model = act.other
    is_ddp = model is not None and model.kind is Kind.MODULE and model.name == "DistributedDataParallel"
    return is_ddp and act.thing.name.endswith(MAKES) and not any(is_without_gradients(each.node) for each in act.layers)


def _warmups(making: Thing) -> int | None:
    given = argument(making, "num_warmup_iters", 2)
    count = 3 if given is None else constant(given)
    return count if isinstance(count, int) else None
