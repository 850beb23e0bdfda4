"""Captures on another GPU than the one whose tensors they work with.

A capture is one of a stream, and a stream is of one GPU: without `stream=` it is the stream of the GPU that was current at
the first capture of the program.  What runs on another GPU meanwhile runs at once and is in no graph ("The CUDA Graph is
empty").  As torch's source has it (`torch.cuda.graph.default_capture_stream`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from graphlint.around_events import OtherDevice
from graphlint.events import Event
from graphlint.site.acts import Act, Layer, Verb
from graphlint.site.construct import argument
from graphlint.site.story import Captured, Story, region, tell
from graphlint.site.things import Kind
from graphlint.syntax import last, last_called, walk
from graphlint.types import Region

Told = Iterator[tuple[Region, Event]]
SWITCHES = ("set_device", "cuda.device(", "device_of", "set_device_index", "device_index(", "VISIBLE_DEVICES")
"""How a file says which GPU is the current one, wherever in it."""
CHOOSING = frozenset({
    "torch.cuda.set_device", "torch.cuda.device", "torch.cuda.device_of",
    "torch.accelerator.set_device_index", "torch.accelerator.device_index",
})  # fmt: skip
"""The same, whatever a file calls them."""
LOOPS = (ast.For, ast.ListComp, ast.DictComp, ast.GeneratorExp)


def elsewhere(story: Story) -> Told:
    """Regions whose inputs are all made for a GPU by its number, in a file that never makes it the current one."""
    if "cuda:" not in story.module.source.text or any(word in story.module.source.text for word in SWITCHES):
        return
    if any(act.thing.name in CHOOSING for _, act in story.between(-1, len(story.acts), Verb.CALL)):
        return
    for captured in story.captures:
        act = story.acts[captured.begin]
        if captured.region is not None or argument(captured.capture, "stream", 2) is not None:
            continue
        places = {place for place in _places(captured, act) if place}
        device = places.pop() if len(places) == 1 else ""
        if device.startswith("cuda:") and device != "cuda:0":
            yield region(captured, story.acts), tell(OtherDevice, act, device=device)


def _places(captured: Captured, act: Act) -> Iterator[str]:
    """The devices on which the inputs of a region were made, as far as these are written down."""
    for thing in captured.reads.values():
        call = thing.node if thing.kind is Kind.TENSOR else None
        for word in call.keywords if isinstance(call, ast.Call) else ():
            if word.arg == "device":
                yield _written(word.value, act) or "somewhere"


def _written(value: ast.expr, act: Act) -> str:
    """The device that an expression names: a text, `torch.device(text)`, or a name that is bound to one of them once."""
    if isinstance(value, ast.Call) and last_called(value) == "device" and len(value.args) == 1:
        value = value.args[0]
    if isinstance(value, ast.Name):
        name = value.id
        scope = [act.frame.body, act.frame.module.source.tree]
        made = [each for tree in scope if tree is not None for each in walk(tree) if isinstance(each, ast.Assign)]
        given = {
            each.value: None for each in made if any(isinstance(to, ast.Name) and to.id == name for to in each.targets)
        }
        only = next(iter(given)) if len(given) == 1 else None
        return _written(only, act) if only is not None and not isinstance(only, ast.Name) else ""
    return value.value if isinstance(value, ast.Constant) and isinstance(value.value, str) else ""


def in_turn(story: Story) -> Told:
    """Captures on one GPU after the other, without a stream of each."""
    for captured in story.captures:
        act = story.acts[captured.begin]
        if captured.region is not None or argument(captured.capture, "stream", 2) is not None or _is_first(story, captured):
            continue
        loop = next((layer for layer in act.layers if isinstance(layer.node, LOOPS) and layer.round > 0), None)
        if loop is not None and captured.capture.name != "capture_begin" and switches(act, loop):
            yield region(captured, story.acts), tell(OtherDevice, act)


def _is_first(story: Story, captured: Captured) -> bool:
    return story.captures[0] is captured


def switches(act: Act, loop: Layer) -> bool:
    """Whether the rounds of a loop make one GPU after the other the current one."""
    targets = {each.id for each in _targets(loop.node) if isinstance(each, ast.Name)}
    for layer in act.layers:
        if layer is loop:
            break
        items = layer.node.items if isinstance(layer.node, ast.With) else []
        calls = [each.context_expr for each in items if isinstance(each.context_expr, ast.Call)]
        if any(_names_device(call) and _is_of(call, targets, act) for call in calls):
            return True
    set_to = [each for each in walk(loop.node) if isinstance(each, ast.Call) and last(each.func) == "set_device"]
    return any(_is_of(call, targets, act) for call in set_to)


def _targets(loop: ast.AST) -> Iterator[ast.AST]:
    if isinstance(loop, ast.For):
        yield from walk(loop.target)
    for part in getattr(loop, "generators", ()):
        yield from walk(part.target)


def _names_device(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr == "device" and last(call.func.value) == "cuda"


def _is_of(call: ast.Call, targets: set[str], act: Act) -> bool:
    """Whether a call is given what a loop goes over, or a parameter for which a call out of the loop gives that."""
    names = {each.id for each in walk(call) if isinstance(each, ast.Name)}
    given = act.frame.node if isinstance(act.frame.node, ast.Call) else None
    parameters = act.frame.body.args.args if isinstance(act.frame.body, ast.FunctionDef) else []
    for parameter, value in zip(parameters, given.args if given is not None else ()):
        if parameter.arg in names and any(isinstance(each, ast.Name) and each.id in targets for each in walk(value)):
            return True
    return given is None and bool(names & targets)
