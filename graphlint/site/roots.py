"""Which functions and classes of a file are walked.

A helper that is called by another function of the same file is seen from there, with the arguments it really gets; only
functions that nobody in the file calls are roots, and classes, whose methods are called in the order in which they are
used: those that capture before those that replay.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Set
from typing import TYPE_CHECKING

from graphlint.captors import matches
from graphlint.modules import once_a_module
from graphlint.project import Module, Project
from graphlint.record import NamedTuple
from graphlint.site.mentions import mentions
from graphlint.spellings import spellings
from graphlint.syntax import receiver_name, stored, walk

if TYPE_CHECKING:
    from graphlint.site.acts import Act

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


class Words(NamedTuple):
    """What one statement at the top of a file, or one method, mentions."""

    names: frozenset[str]
    captures: bool


@once_a_module
def may_capture(module: Module) -> bool:
    """Whether a file may capture, by its names and its text."""
    return capturing(module) is not CAPTURES or matches(module.source.text, SITE_WORDS, SITE)


def walks(project: Project, module: Module) -> Iterator[list[Act]]:
    """The acts of every root of a file."""
    by = capturing(module)
    if not may_capture(module):
        return
    tree = {node: _words(node, by) for node in module.source.tree.body}
    if not any(words.captures for words in tree.values()):
        return
    from graphlint.site.walk import walk_class, walk_function, walk_script

    functions = {node: words for node, words in tree.items() if isinstance(node, FunctionDef)}
    classes = {node: words for node, words in tree.items() if isinstance(node, ast.ClassDef)}
    bound = _bound(tree)
    reach = _reach(functions, classes, bound)
    rest = {node: words for node, words in tree.items() if node not in functions and node not in classes}
    script = {node: words for node, words in rest.items() if words.captures or _keeps(node, reach)}
    touching = {node: words for node, words in (*functions.items(), *script.items()) if _touches(words, reach)}
    roots = [node for node in functions if node in touching and not _called_from(node, touching)]
    # What uses a graph or a compiled function of the file finds it as the statements at the top have left it.
    later = [node for node in roots if functions[node].names & bound]
    entered: set[ast.AST | None] = set()
    first = [node for node in roots if not script or node not in later]
    for begin in [*([None] if script else []), *first, *(node for node in functions if node in touching)]:
        if begin in entered:
            continue
        # What others only mention is walked last: `Thread(target=serve)` and the like run it out of sight.
        acts = (walk_script(project, module, later) if begin is None else walk_function(project, module, begin)).acts
        entered.update(act.frame.body for act in acts)
        entered.add(begin)
        yield acts
    used = {name for words in touching.values() for name in words.names}
    named = {node.name: node for node in classes}
    for each in classes:
        body = _body(each, named) if each.name not in used and each.name in reach else []
        order = usual_order(body, by)
        # An object that another one makes is used as that one uses it.
        if not {part for part in body if getattr(part, "name", "") in order} <= entered:
            yield walk_class(project, module.class_(each, each.name), order).acts


def capturing(module: Module) -> frozenset[str]:
    """The last names of all that a file captures with."""
    by = spellings(module)
    own = by.graphs | by.graphed | by.compiles
    return CAPTURES if own <= CAPTURES else CAPTURES | own


def _words(node: ast.AST, by: Set[str]) -> Words:
    names: set[str] = set()
    captures = False
    for each in walk(node):
        if isinstance(each, ast.Name):
            names.add(each.id)
        elif isinstance(each, ast.Attribute):
            captures = captures or each.attr in by
    return Words(frozenset(names), captures or not by.isdisjoint(names))


def _called_from(node: FunctionDef, touching: Mapping[ast.stmt, Words]) -> bool:
    return any(each is not node and node.name in words.names for each, words in touching.items())


def _keeps(node: ast.stmt, reach: Set[str]) -> bool:
    """Whether a statement at the top of a file calls what captures and keeps the result.

    A bare `main()` is not followed: `main` is walked as a root of its own.
    """
    values = (each.value for each in walk(node) if isinstance(each, ast.Assign))
    return any(isinstance(each, ast.Name) and each.id in reach for value in values for each in walk(value))


def _bound(tree: Mapping[ast.stmt, Words]) -> set[str]:
    """Variables of a file that hold what captures: `step = torch.compile(model, mode="reduce-overhead")`."""
    made = (node for node, words in tree.items() if words.captures and isinstance(node, (ast.Assign, ast.AnnAssign)))
    return {target.id for node in made for target in stored(node) if isinstance(target, ast.Name)}


def _reach(functions: Mapping[FunctionDef, Words], classes: Mapping[ast.ClassDef, Words], variables: Set[str]) -> set[str]:
    """Names of functions and classes that capture, directly or through each other, and of variables that do."""
    every = (*functions.items(), *classes.items())
    found = {node.name for node, words in every if words.captures} | variables
    for _ in range(4):
        found |= {node.name for node, words in every if words.names & found}
    return found


def _touches(words: Words, reach: Set[str]) -> bool:
    return words.captures or bool(words.names & reach)


def _body(node: ast.ClassDef, named: Mapping[str, ast.ClassDef]) -> list[ast.stmt]:
    """The statements of a class, behind those of its bases in the same file that it does not write anew."""
    body = list(node.body)
    for _ in range(4):
        given = [named[base.id] for base in node.bases if isinstance(base, ast.Name) and base.id in named]
        if not given or given[0] is node:
            break
        node = given[0]
        own = {each.name for each in body if isinstance(each, FunctionDef)}
        body = [*(each for each in node.body if getattr(each, "name", "") not in own), *body]
    return body


def usual_order(body: list[ast.stmt], by: Set[str]) -> list[str]:
    """The public methods of a class that captures, those that capture first; the ones that replay are called twice.

    What captures when the object is made has captured: nobody calls it once more.
    """
    if not any(mentions(each, by) for each in body):
        return []
    methods = [each for each in body if isinstance(each, FunctionDef) and each.name != "__init__"]
    calls = {each: _own_calls(each) for each in methods}
    inner = {attr for some in calls.values() for attr in some}
    capturing = {each.name for each in methods if mentions(each, by)}
    replaying = [each for each in methods if mentions(each, {REPLAYS})]
    made = {attr for each in body if getattr(each, "name", "") == "__init__" for attr in _own_calls(each)}
    inner |= made & capturing
    outer = [each for each in methods if each.name not in inner or each in replaying]
    first = [each.name for each in outer if mentions(each, by) or calls[each] & capturing]
    rest = [each.name for each in outer if each.name not in first]
    return [*first, *rest, *(each.name for each in replaying)]


def _own_calls(node: ast.stmt) -> set[str]:
    """The methods of its own object that a method calls, or puts in the place of others: `self.step = self.replayed`."""
    own = receiver_name(node) if isinstance(node, FunctionDef) else ""
    found = set()
    for each in walk(node):
        match each:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=attr)) if name == own:
                found.add(attr)
            case ast.Assign(
                targets=[ast.Attribute(value=ast.Name(id=holder))], value=ast.Attribute(value=ast.Name(id=name), attr=attr)
            ) if holder == name == own:
                found.add(attr)
    return found
