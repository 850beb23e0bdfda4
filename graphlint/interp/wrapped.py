"""Callables around others: partial applications, compiled functions, and methods of what an abstract type stands for."""

from __future__ import annotations

import ast

from graphlint.events import LibraryRefused
from graphlint.interp.conditions import truth
from graphlint.interp.dispatch import ATTRIBUTES, CALLS, apply, attribute, register
from graphlint.interp.frame import Frame
from graphlint.interp.handlers import first, made_by
from graphlint.types import Confidence, Target
from graphlint.values import (
    Arguments,
    Candidate,
    Graphed,
    Identity,
    Nothing,
    Opaque,
    Partial,
    Tensor,
    Unknown,
    Value,
    join_all,
    members,
)


@register(CALLS, Candidate)
def call_candidate(frame: Frame, callee: Candidate, arguments: Arguments, node: ast.AST) -> Value:
    """What it gives is likely at most: which class the object has, only the caller of the region knows."""
    value = apply(frame, callee.function, arguments, node)
    return join_all(
        [
            each.replace(sure=min(each.sure, Confidence.LIKELY)) if isinstance(each, Tensor) else each
            for each in members(value)
        ]
    )


@register(CALLS, Identity)
def call_identity(frame: Frame, callee: Identity, arguments: Arguments, node: ast.AST) -> Value:
    return arguments.positional[0] if arguments.positional else arguments.more or Unknown()


OWN_GRAPHS = "the compiled function records graphs of its own"


@register(CALLS, Graphed)
def call_graphed(frame: Frame, callee: Graphed, arguments: Arguments, node: ast.AST) -> Value:
    """Measured on an H200 with torch 2.11: "Cannot prepare for replay during capturing stage"."""
    before = frame.live
    frame.live &= Target.GRAPH
    frame.emit(LibraryRefused, node, call="torch.compile", why=OWN_GRAPHS)
    frame.live = before
    return apply(frame, callee.function, arguments, node)


@register(ATTRIBUTES, Graphed)
def graphed_attribute(frame: Frame, value: Graphed, name: str, node: ast.AST) -> Value:
    return attribute(frame, value.function, name, node)


@register(CALLS, Partial)
def call_partial(frame: Frame, callee: Partial, arguments: Arguments, node: ast.AST) -> Value:
    first = callee.arguments
    merged = dict(first.keywords)
    merged.update(arguments.keywords)
    together = Arguments(
        first.positional + arguments.positional,
        tuple(merged.items()),
        arguments.more if arguments.more is not None else first.more,
        arguments.more_keywords if arguments.more_keywords is not None else first.more_keywords,
    )
    return apply(frame, callee.function, together, node)


@made_by("functools.cmp_to_key", kept=lambda given: Arguments((first(given, 0, "mycmp") or Unknown(),)))
def compared(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    """What is made of an element compares it with others, and the answer with zero."""
    callee, *given = arguments.positional
    value = apply(frame, callee, Arguments((*given, *given)), node)
    truth(frame, value, node, "a comparison")
    return Opaque()


@made_by("weakref.ref")
def referred(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    return join_all([arguments.positional[0], Nothing()]) if arguments.positional else Unknown()
