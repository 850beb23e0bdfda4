"""Callables that Transformer Engine graphs with FP8, and what its documentation wants around a call of them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from graphlint.around_events import Fp8Left
from graphlint.events import Event
from graphlint.site.acts import Act, Verb
from graphlint.site.graphed import graphed_region, is_true
from graphlint.site.story import Story, tell
from graphlint.site.things import Kind
from graphlint.syntax import last_called
from graphlint.types import Region

MAKER = "transformer_engine.pytorch.make_graphed_callables"
SWITCHES = frozenset({"fp8_enabled", "enabled"})
CONTEXTS = frozenset({"fp8_autocast", "autocast"})
FIRST = "is_first_microbatch"


def left(story: Story) -> Iterator[tuple[Region, Event]]:
    """Calls outside of the context for FP8, or without the word that renews cached weights."""
    for act in story.acts if MAKER.partition(".")[0] in story.module.source.text else ():
        words = _made_with(act)
        if any(is_true(words.get(switch)) for switch in SWITCHES) and not any(
            _is_context(each.node) for each in act.layers
        ):
            yield _told(act, "runs outside of `fp8_autocast`, so its scales are not kept up", "call it inside that context")
        elif is_true(words.get("fp8_weight_caching")) and not _names_first(act):
            lacks = f"does not say `{FIRST}`, so its weights stay those that were cached first"
            yield _told(act, lacks, f"pass `{FIRST}=True` with the first batch behind each step of the optimizer")


def _told(act: Act, lacks: str, cure: str) -> tuple[Region, Event]:
    return graphed_region(act, act.thing), tell(Fp8Left, act, target=act.text, lacks=lacks, cure=cure)


def _made_with(act: Act) -> dict[str, ast.expr]:
    """How what an act calls was graphed; empty for any other act."""
    callee = act.thing if act.thing.name == MAKER else act.thing.base
    made = callee.node if callee is not None and callee.name == MAKER and callee.kind is Kind.UNKNOWN else None
    is_call = act.verb is Verb.CALL and isinstance(made, ast.Call) and made is not act.node
    return {word.arg: word.value for word in made.keywords if word.arg} if is_call and isinstance(made, ast.Call) else {}


def _is_context(node: ast.AST) -> bool:
    items = node.items if isinstance(node, (ast.With, ast.AsyncWith)) else []
    return any(last_called(each.context_expr) in CONTEXTS for each in items)


def _names_first(act: Act) -> bool:
    words = act.call.keywords if act.call is not None else []
    return any(word.arg in (FIRST, None) for word in words)
