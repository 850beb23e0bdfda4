"""Which functions and classes of a file are walked.

A helper that is called by another function of the same file is seen from there, with the arguments it really gets; only
functions that nobody in the file calls are roots, and classes, whose methods are called in the order in which they are
used: those that capture before those that replay.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from graphlint.project import Module, Project
from graphlint.regions import Forward, forwards, marked
from graphlint.site.acts import Act
from graphlint.site.story import Story, whole
from graphlint.site.walk import walk_class, walk_forward, walk_function, walk_script
from graphlint.syntax import nested, stored, walk

FunctionDef = ast.FunctionDef | ast.AsyncFunctionDef

SITE_WORDS = (
    "cuda.graph",
    "CUDAGraph",
    "make_graphed_callables",
    "reduce-overhead",
    "max-autotune",
    "cudagraphs",
    "capture_begin",
)
SITE = re.compile(
    r"\bcuda\.graph\b|\bCUDAGraph\b|make_graphed_callables|reduce-overhead|max-autotune|\bcudagraphs\b|capture_begin"
)
"""What the text of a file that captures holds; anything else is not worth a walk."""

CAPTURES = frozenset({"graph", "CUDAGraph", "make_graphed_callables", "compile", "capture_begin", "cuda_graph"})
REPLAYS = "replay"
STREAMS = "tream("
REMEMBERS = "lru_cache"
GROWS = ("cat(", "stack(")
STREAM_NAMES = frozenset({"stream", "Stream"})
COLLECTIVES = ("async_op", "get_rank", "new_group", "_functional_collectives")
"""What the text of a file has in which the walk can find anything about collectives."""
COLLECTIVE_NAMES = frozenset(
    {"all_reduce", "all_gather", "all_gather_into_tensor", "all_to_all_single", "broadcast", "reduce", "reduce_scatter",
     "reduce_scatter_tensor", "all_gather_tensor", "all_to_all", "barrier"}
)  # fmt: skip
CATS = frozenset({"cat", "concat", "hstack", "vstack"})


def walks(project: Project, module: Module) -> Iterator[list[Act]]:
    """The acts of every root of a file."""
    # Plain searches first: the pattern takes a hundred times as long, and hardly any file holds one of the words.
    if not any(word in module.source.text for word in SITE_WORDS) or not SITE.search(module.source.text):
        return
    tree = module.source.tree.body
    functions = [node for node in tree if isinstance(node, FunctionDef)]
    classes = [node for node in tree if isinstance(node, ast.ClassDef)]
    reach = _reach(functions, classes)
    script = [node for node in tree if not isinstance(node, (FunctionDef, ast.ClassDef)) and _is_used(node, reach)]
    if script:
        yield walk_script(project, module).acts
    callers: list[ast.AST] = [*functions, *script]
    for node in functions:
        if _touches(node, reach) and not _called_from(node, callers, reach):
            yield walk_function(project, module, node).acts
    used = {name for node in callers if _touches(node, reach) for name in _names(node)}
    for each in classes:
        order = _order(each) if each.name not in used else []
        if order:
            yield walk_class(project, module.class_(each, each.name), order).acts


def regions(project: Project, module: Module) -> Iterator[Story]:
    """Regions that others will capture, `forward` and marked functions.

    They are walked where they use streams, issue collectives, remember tensors or let state grow.
    """
    text = module.source.text
    streams, collectives = STREAMS in text, "distributed" in text and any(word in text for word in COLLECTIVES)
    remembered = _remembered(module) if REMEMBERS in text else frozenset()
    if not streams and not collectives and not remembered and not any(word in text for word in GROWS):
        return
    for forward in forwards(project, module):
        node = forward.owner.node
        mentions = (streams and _mentions(node, STREAM_NAMES)) or (collectives and _mentions(node, COLLECTIVE_NAMES))
        if mentions or (remembered and _mentions(node, remembered)) or _grows(node):
            yield _forward(project, forward)
    for mark in marked(module) if streams or collectives else ():
        function = mark.decl.node
        if not isinstance(function, ast.Lambda) and mark.decl.owner is None:
            acts = walk_function(project, module, function).acts
            yield whole(module, acts, 0, f"{module.name}.{mark.decl.name}", "marked", function)


def _remembered(module: Module) -> frozenset[str]:
    """The functions and methods of a file whose results are kept by their arguments."""
    return frozenset(
        node.name
        for node in walk(module.source.tree)
        if isinstance(node, FunctionDef) and any(REMEMBERS in ast.unparse(mark) for mark in node.decorator_list)
    )


def _forward(project: Project, forward: Forward) -> Story:
    """Two calls in a row, of which the second is the region: the first one leaves its state behind."""
    owner = forward.owner
    walker, begin = walk_forward(project, owner)
    return whole(owner.module, walker.acts, begin, f"{owner.module.name}.{owner.name}.forward", "forward", owner.node)


def _grows(node: ast.ClassDef) -> bool:
    """Whether a method of a class concatenates and reads an attribute that is bound outside `__init__`."""
    methods = [each for each in node.body if isinstance(each, FunctionDef) and each.name != "__init__"]
    bound = {attr for method in methods for attr in _bound(method)}
    return bool(bound) and any(bound & _read(each) for each in methods if _mentions(each, CATS))


def _bound(node: FunctionDef) -> Iterator[str]:
    targets = (each for statement in nested(node.body) for each in stored(statement))
    return (each.attr for each in targets if isinstance(each, ast.Attribute))


def _read(node: FunctionDef) -> set[str]:
    return {each.attr for each in walk(node) if isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Load)}


def _called_from(node: FunctionDef, callers: list[ast.AST], reach: set[str]) -> bool:
    return any(each is not node and node.name in _names(each) and _touches(each, reach) for each in callers)


def _is_used(node: ast.stmt, reach: set[str]) -> bool:
    """Whether a statement at the top of a file captures, or calls what captures and keeps the result.

    A bare `main()` is not followed: `main` is walked as a root of its own.
    """
    if _captures(node):
        return True
    return any(isinstance(each, ast.Assign) and bool(_names(each.value) & reach) for each in walk(node))


def _reach(functions: list[FunctionDef], classes: list[ast.ClassDef]) -> set[str]:
    """Names of functions and classes that capture, directly or through each other."""
    found = {node.name for node in [*functions, *classes] if _captures(node)}
    for _ in range(4):
        found |= {node.name for node in functions if _names(node) & found}
    return found


def _touches(node: ast.AST, reach: set[str]) -> bool:
    return _captures(node) or bool(_names(node) & reach)


def _captures(node: ast.AST) -> bool:
    for each in walk(node):
        if isinstance(each, ast.Attribute) and each.attr in CAPTURES:
            return True
        if isinstance(each, ast.Name) and each.id in CAPTURES:
            return True
    return False


def _names(node: ast.AST) -> set[str]:
    return {each.id for each in walk(node) if isinstance(each, ast.Name)}


def _order(node: ast.ClassDef) -> list[str]:
    """The public methods of a class that captures, those that capture first; the ones that replay are called twice."""
    methods = [each for each in node.body if isinstance(each, FunctionDef) and each.name != "__init__"]
    if not any(_mentions(each, CAPTURES) for each in node.body):
        return []
    inner = {attr for each in methods for attr in _own_calls(each)}
    outer = [each for each in methods if each.name not in inner or _mentions(each, {REPLAYS})]
    first = [each.name for each in outer if _mentions(each, CAPTURES) or _own_calls(each) & _capturing(methods)]
    rest = [each.name for each in outer if each.name not in first]
    replaying = [each.name for each in outer if _mentions(each, {REPLAYS})]
    return [*first, *rest, *replaying]


def _capturing(methods: list[FunctionDef]) -> set[str]:
    return {each.name for each in methods if _mentions(each, CAPTURES)}


def _mentions(node: ast.AST, names: frozenset[str] | set[str]) -> bool:
    return any(
        (isinstance(each, ast.Attribute) and each.attr in names) or (isinstance(each, ast.Name) and each.id in names)
        for each in walk(node)
    )


def _own_calls(node: ast.AST) -> set[str]:
    return {
        each.func.attr
        for each in walk(node)
        if isinstance(each, ast.Call)
        and isinstance(each.func, ast.Attribute)
        and isinstance(each.func.value, ast.Name)
        and each.func.value.id == "self"
    }
