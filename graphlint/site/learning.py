"""Whether calls of a module leave a backward pass to be run: it has parameters that learn, and gradients are on."""

from __future__ import annotations

import ast

from graphlint.site.acts import Act, Frame, Verb
from graphlint.site.reuse import is_beside, steps_marked
from graphlint.site.story import Story
from graphlint.site.things import Kind, Thing

UNLEARNED = ("no_grad", "inference_mode")
ASKING = frozenset({"backward", "grad"})
LEARNING = ("Linear", "Conv", "Embedding", "LSTM", "GRU", "MultiheadAttention", "Transformer")
"""How names of layers begin that have parameters, unless they are told to have none."""


def waits(story: Story, call: Act) -> bool:
    """Whether a call of a compiled module waits for a backward pass that nobody runs, so that no graph is replayed.

    What it gave is nobody else's then (measured: H200, torch 2.11).
    """
    if not learns(call.thing) or is_unlearned(call) or "set_grad_enabled" in story.module.source.text:
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
    return any(_asks(each) and is_beside(each, call) for each in story.acts)


def _asks(act: Act) -> bool:
    """Whether an act may ask for gradients: `loss.backward()`, `torch.autograd.grad(...)`."""
    if act.verb is Verb.METHOD:
        return act.name in ASKING
    return act.verb is Verb.CALL and act.thing.name.rpartition(".")[2] in ASKING


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
