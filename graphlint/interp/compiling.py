"""Functions that code hands to `torch.compile` or `make_graphed_callables`: regions, as if a decorator had named them.

Modules are handed over as well; their `forward` is a region anyhow.

Functions that capture when they are called, and that code only makes: whoever calls them gets a graph.

def graphed(f):                    quick = graphed(step)      # `step` is captured at the first call of `quick`
    def run(x): ...
    return run
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from graphlint.captors import captures
from graphlint.interp.frame import Frame
from graphlint.interp.handlers import first, function
from graphlint.interp.members import own_methods
from graphlint.project import Module
from graphlint.record import NamedTuple
from graphlint.regions import Site, is_module_class
from graphlint.spellings import PLAIN, is_compile, spellings
from graphlint.syntax import stands_in
from graphlint.types import Target
from graphlint.values import (
    Arguments,
    ClassValue,
    Function,
    Graphed,
    Identity,
    Instance,
    Seq,
    Text,
    Unknown,
    Value,
    members,
)

GRAPHED_MODES = ("reduce-overhead", "max-autotune")
"""The modes of `torch.compile` that record CUDA graphs (torch 2.13 documentation)."""


class Handed(NamedTuple):
    """A function that somebody hands over at a place, and what it is captured for."""

    function: Function
    module: Module
    node: ast.AST
    kind: str
    live: Target


@function("torch.compile")
def compile_(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    """Gives back what it was given, or a decorator that does."""
    value = first(arguments, 0, "model")
    if value is None:
        return Identity()
    _note(frame, value, node, "compiled", Target.COMPILE)
    mode = arguments.keyword("mode")
    return Graphed(value) if isinstance(mode, Text) and mode.value in GRAPHED_MODES else value


@function("torch.cuda.make_graphed_callables")
def graphed(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    value = first(arguments, 0, "callables")
    if value is None:
        return Unknown()
    for each in value.items or () if isinstance(value, Seq) else (value,):
        _note(frame, each, node, "graphed", Target.GRAPH)
    return value


def graphed_later(frame: Frame, value: Value, node: ast.AST) -> None:
    """Note what something is handed that will capture a call of it."""
    _note(frame, value, node, "graphed", Target.GRAPH)


def _note(frame: Frame, value: Value, node: ast.AST, kind: str, live: Target) -> None:
    if frame.recording:
        return
    for member in members(value):
        inner = member
        while isinstance(inner, Graphed):
            inner = inner.function
        if isinstance(inner, Function) and isinstance(inner.decl.node, ast.FunctionDef) and not _is_region(frame, inner):
            frame.machine.handed[Handed(inner, frame.module, node, kind, live)] = None


def _is_region(frame: Frame, found: Function) -> bool:
    """Whether a function is found as a region by itself."""
    decl = found.decl
    if decl.owner is not None and decl.name == "forward" and is_module_class(frame.machine.project, decl.owner):
        return True
    marks = decl.node.decorator_list if isinstance(decl.node, ast.FunctionDef) else []
    by = spellings(decl.module) if marks else PLAIN
    return any(is_compile(mark.func if isinstance(mark, ast.Call) else mark, by) for mark in marks)


def handed_at(site: Site, every: Iterable[Handed]) -> Iterator[Handed]:
    """Those that the code of a site itself hands over, each once: what it calls is a site of its own."""
    blocks = list(_blocks(site))
    seen: set[object] = set()
    for each in every:
        key = (each.function.decl, each.live)
        if each.module is site.module and key not in seen and any(stands_in(block, each.node) for block in blocks):
            seen.add(key)
            yield each


def _blocks(site: Site) -> Iterator[list[ast.stmt]]:
    if site.decl is None:
        apart = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
        yield from ([each] for each in site.module.source.tree.body if not isinstance(each, apart))
    elif isinstance(site.decl.node.body, list):
        yield site.decl.node.body


MOST = 8


def capturing_later(frame: Frame) -> Iterator[Function]:
    """What code around captures returns or keeps in a variable or an attribute, if it captures and was not called yet."""
    held = (*frame.returns, *frame.env.values())
    found = {each: None for value in held for each in _closures(frame, value) if _captures(each)}
    if not found:
        return
    called = {key[0] for key in frame.machine.summaries if isinstance(key, tuple)}
    yield from [each for each in found if (each if each.receiver is None else each.decl) not in called][:MOST]


def _closures(frame: Frame, value: Value) -> Iterator[Function]:
    """Functions that stand in functions, and the methods of classes that do."""
    for each in members(value):
        if isinstance(each, Function) and each.scope is not None and each.decl.name not in each.decl.module.symbols:
            yield each
        elif isinstance(each, (ClassValue, Instance)) and each.decl in frame.machine.scopes:
            for method in own_methods(each.decl):
                decl = each.decl.module.function(method, each.decl, method.name)
                yield Function(decl, Instance(each.decl), None, each.decl)


def _captures(function: Function) -> bool:
    by = spellings(function.decl.module)
    return any(captures(each, by) for each in function.decl.every(ast.With))
