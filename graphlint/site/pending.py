"""Calls of compiled modules with gradients that nobody asks for: no step ends before its backward pass has run.

While the last result is still held, torch adds each call to the step before it and goes on eagerly (measured: H200,
torch 2.11, "Unable to hit fast path of CUDAGraphs because of pending, uninvoked backwards").
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from graphlint.events import Event, GraphsSkipped
from graphlint.site.acts import Act, Frame, Verb
from graphlint.site.compiled import has_graphs, of_compiled
from graphlint.site.reuse import is_beside, steps_marked
from graphlint.site.story import Story, tell
from graphlint.site.things import Kind, Thing
from graphlint.types import Region, Target

UNLEARNED = ("no_grad", "inference_mode")
ASKING = frozenset({"backward", "grad"})
LEARNING = ("Linear", "Conv", "Embedding", "LSTM", "GRU", "MultiheadAttention", "Transformer")
"""How names of layers begin that have parameters, unless they are told to have none."""


def unfinished(story: Story) -> Iterator[tuple[Region, Event]]:
    """Loops over a compiled module that keep each result until the next, where no backward pass is seen."""
    calls = [(at, act) for at, act in enumerate(story.acts) if _learns(act)]
    if not calls or "set_grad_enabled" in story.module.source.text:
        return
    rounds: dict[int, int] = {}
    for at, act in calls:
        rounds[id(act.node)] = rounds.get(id(act.node), 0) + 1
        # The second round of a walk stands for all that follow.
        is_asked = rounds[id(act.node)] == 2 and not is_unlearned(act) and _is_held(story, act, at)
        if is_asked and not steps_marked(story, act, len(story.acts)) and not _is_trained(story, act):
            told = tell(GraphsSkipped, act, call=act.text, why=WHY, is_pending=True, targets=Target.COMPILE)
            yield of_compiled(act.thing, act), told


WHY = "each call waits for a backward pass that never runs"


def _learns(act: Act) -> bool:
    """Whether an act calls a module in sight that is compiled with graphs, and has parameters that learn."""
    if act.verb is not Verb.CALL or act.thing.kind is not Kind.COMPILED or not has_graphs(act.thing):
        return False
    model = act.thing.base
    if model is None or model.kind is not Kind.MODULE or model.is_argument or model.is_guess:
        return False
    parts = [part for part in model.family() if part.kind is Kind.MODULE]
    return any(part.name.startswith(LEARNING) for part in parts) and not any(part.is_frozen for part in parts)


def _is_trained(story: Story, call: Act) -> bool:
    return any(_asks(each) and is_beside(each, call) for each in story.acts)


def _asks(act: Act) -> bool:
    """Whether an act may ask for gradients: `loss.backward()`, `torch.autograd.grad(...)`."""
    if act.verb is Verb.METHOD:
        return act.name in ASKING
    return act.verb is Verb.CALL and act.thing.name.rpartition(".")[2] in ASKING


def _is_held(story: Story, call: Act, at: int) -> bool:
    """Whether what a call gives is bound to a variable of its own, so that it is there at the next call."""
    bound = story.acts[at : at + 40]
    return any(act.verb is Verb.BIND and _is_of(act.thing, call.thing, at) for act in bound)


def _is_of(thing: Thing, callee: Thing, at: int) -> bool:
    owner = thing.owner
    return owner.kind is Kind.TENSOR and owner.made_by[:1] == (callee,) and owner.born > at


def is_unlearned(call: Act) -> bool:
    """Whether a call is made with gradients switched off."""
    return any(_switches_off(layer.node) for layer in call.layers) or _is_marked(call.frame)


def _switches_off(node: ast.AST) -> bool:
    items = node.items if isinstance(node, (ast.With, ast.AsyncWith)) else []
    return any(word in ast.unparse(each.context_expr) for each in items for word in UNLEARNED)


def _is_marked(frame: Frame | None) -> bool:
    while frame is not None:
        marks = frame.body.decorator_list if isinstance(frame.body, (ast.FunctionDef, ast.AsyncFunctionDef)) else []
        if any(word in ast.unparse(each) for each in marks for word in UNLEARNED):
            return True
        frame = frame.caller
    return False
