"""Caches that get a graph for every size that comes by."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from graphlint.events import Event
from graphlint.site.acts import Act, Verb, span, text
from graphlint.site.construct import argument
from graphlint.site.story import Captured, Story, region, tell
from graphlint.site.things import Thing
from graphlint.site_events import UnboundedCache, UnsharedPool
from graphlint.syntax import receiver_in, walk
from graphlint.types import Confidence, Region

Told = Iterator[tuple[Region, Event]]
FunctionDef = ast.FunctionDef | ast.AsyncFunctionDef
SIZES = frozenset({"shape", "size", "numel", "nelement"})
ROUNDING = re.compile(r"round|pad|bucket|ceil|bisect|next|min|pow|bit_length|clamp|align")
MOST = 16
"""Entries of a remembered function that are few enough."""


def caches(story: Story) -> Told:
    """`if key not in graphs: graphs[key] = ...` with a key made of a size and no limit in sight."""
    functions = _functions(story) if story.captures else []
    for captured in story.captures:
        for act, cache in _stored(story, captured):
            function = _around(functions, act)
            if function is not None and act.frame.module is story.module and _is_unbounded(story, function, act, cache):
                yield region(captured, story.acts), tell(UnboundedCache, act, cache=cache)
        yield from _remembered(story, captured, functions)


def pools(story: Story) -> Told:
    """Graphs that are captured when a key is new, each of which takes memory of its own."""
    functions = _functions(story) if story.captures else []
    stored = [(captured, act, cache) for captured in story.captures for act, cache in _stored(story, captured)]
    for captured, act, cache in stored:
        begin = story.acts[captured.begin]
        same = [act.slot and act.slot.holder, begin.node]
        others = (
            each for each, other, _ in stored if [other.slot and other.slot.holder, story.acts[each.begin].node] == same
        )
        if any(each is not captured for each in others) or argument(captured.capture, "pool", 1) is not None:
            continue
        function = _around(functions, act)
        if function is not None and act.slot is not None and act.slot.key == "[*]" and _asks(function, cache):
            yield region(captured, story.acts), tell(UnsharedPool, begin, cache=cache)


def _functions(story: Story) -> list[FunctionDef]:
    return [node for node in walk(story.module.source.tree) if isinstance(node, FunctionDef)]


def _stored(story: Story, captured: Captured) -> Iterator[tuple[Act, str]]:
    """Where something that holds the graph becomes an entry, with the container as it is written."""
    for _, act in story.between(captured.begin, len(story.acts), Verb.BIND):
        if act.slot is None or not isinstance(act.slot.holder, Thing) or captured.graph not in act.thing.family():
            continue
        for target in act.node.targets if isinstance(act.node, ast.Assign) else ():
            if isinstance(target, ast.Subscript) and act.slot.key.startswith("["):
                yield act, ast.unparse(target.value)


def _around(functions: list[FunctionDef], act: Act) -> FunctionDef | None:
    """The innermost function that an act stands in."""
    found = [node for node in functions if node.lineno <= act.span.line <= (node.end_lineno or node.lineno)]
    return max(found, key=lambda node: node.lineno, default=None)


def _is_unbounded(story: Story, function: FunctionDef, act: Act, cache: str) -> bool:
    if _is_limited(function, cache) or not _asks(function, cache):
        return False
    assert isinstance(act.node, ast.Assign)
    keys = [target.slice for target in act.node.targets if isinstance(target, ast.Subscript)]
    return any(_is_size(key, function) or _is_given_size(story, key, function) for key in keys)


def _asks(function: FunctionDef, cache: str) -> bool:
    """Whether a function looks whether the cache has an entry before it makes one."""
    for node in _own(function):
        match node:
            case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[held]) if ast.unparse(held) == cache:
                return True
            case ast.Call(func=ast.Attribute(value=held, attr="get")) if ast.unparse(held) == cache:
                return True
            case ast.ExceptHandler(type=ast.expr() as caught) if "KeyError" in ast.unparse(caught):
                return True
    return False


def _own(function: FunctionDef) -> Iterator[ast.AST]:
    """What stands in a function itself: another one that it makes has variables of its own, and runs when it is called."""
    waiting: list[ast.AST] = [*function.body]
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            waiting.extend(ast.iter_child_nodes(node))


def _is_limited(function: FunctionDef, cache: str) -> bool:
    body = ast.unparse(function)
    return any(word in body for word in (f"len({cache})", f"{cache}.pop", f"del {cache}[", f"{cache}.clear"))


def _is_size(key: ast.expr, function: FunctionDef) -> bool:
    """Whether a key is a shape, or made of one, as it is."""
    written = _resolved(key, function)
    return any(_names_size(node) for node in written) and not any(_rounds(node) for node in written)


def _resolved(key: ast.expr, function: FunctionDef) -> list[ast.AST]:
    """The parts of an expression, and of what its names were assigned in the function."""
    parts = list(walk(key))
    names = {node.id for node in parts if isinstance(node, ast.Name)}
    for node in _own(function):
        if isinstance(node, ast.Assign) and any(isinstance(each, ast.Name) and each.id in names for each in node.targets):
            parts += walk(node.value)
    return parts


def _names_size(node: ast.AST) -> bool:
    return (isinstance(node, ast.Attribute) and node.attr in SIZES) or (isinstance(node, ast.Name) and node.id == "len")


def _rounds(node: ast.AST) -> bool:
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, (ast.FloorDiv, ast.Mod, ast.LShift, ast.Pow))
    name = ""
    if isinstance(node, ast.Call):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    return bool(ROUNDING.search(name.lower()))


def _is_given_size(story: Story, key: ast.expr, function: FunctionDef) -> bool:
    """Whether a key is a parameter that some caller in the file gives a size."""
    names = [each.arg for each in (*function.args.posonlyargs, *function.args.args)]
    if not isinstance(key, ast.Name) or key.id not in names:
        return False
    own = receiver_in(story.module.source.tree, function)
    return any(
        given is not None and _is_size(given, caller)
        for caller in _functions(story)
        for node in walk(caller)
        if isinstance(node, ast.Call)
        for given in [_given(node, function.name, names, key.id, own)]
    )


def _given(call: ast.Call, name: str, names: list[str], wanted: str, own: str) -> ast.expr | None:
    """The argument that a call of a function, in which `own` is the object of a method, gives a parameter."""
    is_method = isinstance(call.func, ast.Attribute)
    called = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if called != name:
        return None
    named = next((word.value for word in call.keywords if word.arg == wanted), None)
    place = names.index(wanted) - (1 if is_method and own else 0)
    return named if named is not None else call.args[place] if 0 <= place < len(call.args) else None


def _remembered(story: Story, captured: Captured, functions: list[FunctionDef]) -> Told:
    """A function that captures and whose results are all kept, one for each argument."""
    act = story.acts[captured.begin]
    function = _around(functions, act) if act.frame.module is story.module else None
    names = [] if function is None else [each.arg for each in function.args.args]
    if (
        function is None
        or not set(names) - {receiver_in(story.module.source.tree, function)}
        or not any(_keeps_all(mark) for mark in function.decorator_list)
    ):
        return
    if any(isinstance(node, ast.Return) and node.value is not None for node in walk(function)):
        told = UnboundedCache(
            span=span(story.module, act.node),
            text=text(story.module, act.node),
            confidence=Confidence.LIKELY,
            cache=function.name,
        )
        yield region(captured, story.acts), told


def _keeps_all(mark: ast.expr) -> bool:
    """Whether a decorator remembers results without a bound, or with a large one."""
    called = mark.func if isinstance(mark, ast.Call) else mark
    name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
    if name == "cache":
        return True
    if name != "lru_cache":
        return False
    given = (
        [*mark.args, *(word.value for word in mark.keywords if word.arg == "maxsize")] if isinstance(mark, ast.Call) else []
    )
    bound = given[0].value if given and isinstance(given[0], ast.Constant) else 128
    return bound is None or (isinstance(bound, int) and bound > MOST)
