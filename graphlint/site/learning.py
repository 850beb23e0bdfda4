"""Whether calls of a module leave a backward pass to be run: it has parameters that learn, and gradients are on."""

from __future__ import annotations

import ast

from graphlint.modules import once_a_module
from graphlint.project import Module
from graphlint.site.acts import Act, Frame, Verb
from graphlint.site.reuse import is_beside, steps_marked
from graphlint.site.story import Story
from graphlint.site.things import Kind, Thing
from graphlint.syntax import last_called, walk

UNLEARNED = frozenset({"no_grad", "inference_mode"})
SWITCH = "set_grad_enabled"
ASKING = frozenset({"backward", "grad"})
LEARNING = ("Linear", "Conv", "Embedding", "LSTM", "GRU", "MultiheadAttention", "Transformer")
"""How names of layers begin that have parameters, unless they are told to have none."""


def waits(story: Story, call: Act) -> bool:
    """Whether a call of a compiled module waits for a backward pass that nobody runs, so that no graph is replayed.

    What it gave is nobody else's then (measured: H200, torch 2.11).
    """
    if not learns(call.thing) or is_unlearned(call) or _is_switched_off(story.module):
        return False
    return not steps_marked(story, call, len(story.acts)) and not is_trained(story, call)


def learns(compiled: Thing) -> bool:
    """Whether a compiled function is a module in sight that has parameters which learn."""
    model = compiled.base
    if model is None or model.kind is not Kind.MODULE or model.is_argument or model.is_guess:
        return False
    parts = [part for part in model.family() if part.kind is Kind.MODULE]
    return any(part.name.startswith(LEARNING) for part in parts) and not any(part.is_frozen for part in parts)


def is_trained(story: Story, call: Act) -> bool:
    """Whether somebody beside a call asks for gradients."""
    return any(
        _asks(each) and is_beside(each, call) for _, each in story.between(-1, len(story.acts), Verb.METHOD, Verb.CALL)
    )


def _asks(act: Act) -> bool:
    """Whether an act may ask for gradients: `loss.backward()`, `torch.autograd.grad(...)`."""
    if act.verb is Verb.METHOD:
        return act.name in ASKING
    return act.verb is Verb.CALL and act.thing.name.rpartition(".")[2] in ASKING


def is_unlearned(call: Act) -> bool:
    """Whether a call is made with gradients switched off."""
    return runs_in(call, UNLEARNED)


def runs_in(act: Act, modes: frozenset[str]) -> bool:
    """Whether an act stands in a block of one of some modes of torch, or is led to by a function that is marked so."""
    return any(_enters(layer.thing, modes) for layer in act.layers) or _is_marked(act.frame, modes)


def _enters(entered: Thing | None, modes: frozenset[str]) -> bool:
    """Whether a `with` is about `torch.no_grad()` or the like, whatever the file calls it."""
    library, _, word = entered.name.rpartition(".") if entered is not None else ("", "", "")
    call = entered.node if entered is not None and library.startswith("torch") and word in modes else None
    given = [*call.args, *(each.value for each in call.keywords)] if isinstance(call, ast.Call) else []
    return call is not None and not any(map(is_false, given))


def is_false(node: ast.expr) -> bool:
    """Whether an expression is `False` as it stands."""
    return isinstance(node, ast.Constant) and node.value is False


@once_a_module
def _is_switched_off(module: Module) -> bool:
    """Whether a file may switch gradients off for all that comes: `torch.set_grad_enabled(False)`."""
    if SWITCH not in module.source.text:
        return False
    calls = (each for each in walk(module.source.tree) if isinstance(each, ast.Call) and last_called(each) == SWITCH)
    return not all(
        len(each.args) == 1 and isinstance(each.args[0], ast.Constant) and each.args[0].value is True for each in calls
    )


def _is_marked(frame: Frame | None, modes: frozenset[str]) -> bool:
    while frame is not None:
        marks = frame.body.decorator_list if isinstance(frame.body, (ast.FunctionDef, ast.AsyncFunctionDef)) else []
        if any(last_called(each) in modes for each in marks):
            return True
        frame = frame.caller
    return False
