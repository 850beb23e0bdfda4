"""Graphs that hold nothing when they are replayed, and captures that are left open.

A graph that was never captured, whose capture failed without a word, or was begun and not ended, refuses to be replayed
("Called CUDAGraph::replay without a preceding successful capture").  A stream whose capture nobody ends goes on capturing:
what was meant as a way out runs into it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from graphlint.captors import region_name
from graphlint.events import Event
from graphlint.modules import once_a_module
from graphlint.project import Module
from graphlint.site.acts import Act, Verb, span
from graphlint.site.handles import BEGINS, is_choice
from graphlint.site.story import Captured, Story, region, tell
from graphlint.site.things import Kind, Scope, Thing
from graphlint.site_events import GraphMisused
from graphlint.syntax import TRIES, last_called, stands_in, walk
from graphlint.types import Region

Told = Iterator[tuple[Region, Event]]
ENDS = "capture_end"
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
LEAVING = frozenset({ENDS, "exit", "_exit", "abort"})
SAYING = frozenset({"print", "debug", "info", "warning", "warn", "error", "exception", "print_exc", "log"})
"""Calls that say something and change nothing."""


def _region(act: Act) -> Region:
    frame = act.frame
    return Region(region_name(frame.module, frame.body, frame.function), "capture", span(frame.module, act.node))


def never_captured(story: Story) -> Told:
    """Replays of a graph of this function that nothing was captured into, or whose capture was not ended."""
    filled = {id(each.graph) for each in story.captures}
    begun = {id(act.thing.base) for act in story.acts if act.verb is Verb.ENTER and act.thing.kind is Kind.CAPTURE}
    told: set[int] = set()
    for index, act in enumerate(story.acts):
        graph = act.thing
        if act.verb is not Verb.METHOD or act.name != "replay" or graph.kind is not Kind.GRAPH or graph.born == 0:
            continue
        if id(graph) in filled or id(graph) in told or _is_shared(story, index, graph):
            continue
        told.add(id(graph))
        why = "its capture is begun and never ended" if id(graph) in begun else "nothing was captured into the graph"
        cure = "capture with `with torch.cuda.graph(graph):` first, which ends what it begins"
        yield _region(act), tell(GraphMisused, act, why=why, cure=cure)


def _is_shared(story: Story, index: int, graph: Thing) -> bool:
    """Whether others can have captured into a graph: it is given away, or more than a variable of a function holds it."""
    for act in story.acts[graph.born : index]:
        if act.other is graph and act.verb is Verb.CALL:
            return True  # what captures into it may be entered in ways that are not followed
        if act.thing is not graph:
            continue
        if act.verb in (Verb.READ, Verb.KEEP, Verb.RETURN, Verb.SPAWN):
            return True
        if act.verb is Verb.BIND and not _is_local(act):
            return True
    name = next((act.slot.key for act in story.acts if act.verb is Verb.BIND and act.thing is graph and act.slot), "")
    return not name or _is_enclosed(story.acts[index].frame.body, name)


def _is_local(bind: Act) -> bool:
    """Whether an act binds a variable of a function."""
    return bind.slot is not None and isinstance(bind.slot.holder, Scope) and bool(bind.slot.holder.name)


def _is_enclosed(body: ast.AST | None, name: str) -> bool:
    """Whether a function in a function speaks of a variable of the outer one."""
    inner = (each for each in walk(body) if isinstance(each, (ast.FunctionDef, ast.Lambda))) if body is not None else ()
    return any(isinstance(part, ast.Name) and part.id == name for each in inner if each is not body for part in walk(each))


def swallowed(story: Story) -> Told:
    """Replays behind a capture whose failure is passed over in silence."""
    for captured in story.captures:
        act = story.acts[captured.begin]
        if captured.capture.name == BEGINS or _silent(act) is None:
            continue
        replay = next((at for at in story.replays(captured) if story.acts[at].thing is captured.graph), None)
        if replay is None or is_choice(story, story.acts[replay]) or _is_recaptured(story, captured):
            continue
        why = "where its capture fails, the error is passed over and the graph holds nothing"
        cure = "raise the error again, or return and run eagerly where the capture failed"
        yield region(captured, story.acts), tell(GraphMisused, story.acts[replay], why=why, cure=cure)


def _is_recaptured(story: Story, captured: Captured) -> bool:
    return any(each is not captured and each.graph is captured.graph for each in story.captures)


def _tries(act: Act) -> Iterator[ast.Try]:
    """Every `try` of the function of an act."""
    body = act.frame.body
    around = [body] if isinstance(body, (ast.stmt, ast.expr)) else []
    return (each for each in _all_tries(act.frame.module) if not around or stands_in(around, each))


@once_a_module
def _all_tries(module: Module) -> list[ast.Try]:
    return [each for each in walk(module.source.tree) if isinstance(each, TRIES)]


def _silent(act: Act) -> ast.ExceptHandler | None:
    """The handler of the `try` around an act that does nothing, or only says that something went wrong."""
    for each in _tries(act):
        if stands_in(each.body, act.node):
            return next((handler for handler in each.handlers if all(map(_says, handler.body))), None)
    return None


def _says(node: ast.stmt) -> bool:
    if isinstance(node, ast.Pass):
        return True
    value = node.value if isinstance(node, ast.Expr) else None
    return isinstance(value, ast.Constant) or (isinstance(value, ast.Call) and last_called(value) in SAYING)


def left_open(story: Story) -> Told:
    """Captures by hand that a `return`, or a handler which goes on, leaves open."""
    for captured in story.captures:
        begin, end = story.acts[captured.begin], story.acts[captured.end]
        if captured.capture.name != BEGINS or begin.frame is not end.frame or _is_final(begin, end):
            continue
        way_out = _way_out(begin, end)
        if way_out:
            why = f"{way_out} passes by `{ENDS}`"
            cure = "put `capture_end` into a `finally`, or capture with `with torch.cuda.graph(graph):`"
            told = tell(GraphMisused, begin, why=why, cure=cure, what="leaves the stream capturing")
            yield region(captured, story.acts), told


def _is_final(begin: Act, end: Act) -> bool:
    """Whether a capture is ended on every way out."""
    return any(stands_in(each.finalbody, end.node) for each in _tries(begin))


def _way_out(begin: Act, end: Act) -> str:
    """What leads past the end of a capture; empty if nothing is seen to do so."""
    body = begin.frame.body
    first, final = getattr(begin.node, "lineno", 0), getattr(end.node, "lineno", 0)
    parts = list(walk(body)) if body is not None else []
    inner = [each for each in parts if isinstance(each, FUNCTIONS) and each is not body]
    for each in parts:
        if isinstance(each, ast.Return) and first < each.lineno < final and not _stands_in_any(inner, each):
            return f"the `return` in line {each.lineno}"
        if isinstance(each, TRIES) and stands_in(each.body, begin.node) and stands_in(each.body, end.node):
            handler = next((handler for handler in each.handlers if _goes_on(handler)), None)
            if handler is not None:
                return "an error that the handler around it catches"
    return ""


def _stands_in_any(functions: Sequence[ast.AST], node: ast.AST) -> bool:
    return any(part is node for each in functions for part in walk(each))


def _goes_on(handler: ast.ExceptHandler) -> bool:
    """Whether a handler neither raises nor ends the capture or the program."""
    parts = [part for each in handler.body for part in walk(each)]
    return not any(isinstance(part, ast.Raise) or last_called(part) in LEAVING for part in parts)
