"""The names by which a file calls what captures, where they are not the ones that torch gives it.

`from torch.cuda import graph as record`, `record = torch.cuda.graph`, a parameter with that as its default, a class
derived from it.  Only names are gathered here: what each stands for where it is used, the interpreter finds out.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from graphlint.modules import Module, once_a_module
from graphlint.record import NamedTuple
from graphlint.syntax import last, stored, walk

GRAPH, GRAPHED, COMPILE = KINDS = "graph", "make_graphed_callables", "compile"
HOMES = {
    "torch": (COMPILE,),
    "torch.cuda": (GRAPH, GRAPHED),
    "torch.cuda.graphs": (GRAPH, GRAPHED),
}
"""The modules from which each is imported."""

RENAMED = re.compile(
    r"\b(?:graph|make_graphed_callables|compile) as |\bimport [^\n]*\bcompile\b"
    r"|\bimport torch as (?P<torch>\w+)\b(?=(?s:.*)\b(?P=torch)\.compile\b)"
    r"|\bcuda(?:\.graphs)?\.(?:graph|make_graphed_callables)\b(?!\()|\btorch\.compile\b(?!\()"
)
"""What a file without any of these has no names of its own for what captures."""
CLUES = ("graph as ", "callables as ", "compile as ", "import compile", ", compile", "import torch as ",
         "cuda.graph", "torch.compile")  # fmt: skip


class Spellings(NamedTuple):
    """Last names of what is entered to capture and of what graphs functions; names of `torch.compile`, and of torch."""

    graphs: frozenset[str] = frozenset({GRAPH})
    graphed: frozenset[str] = frozenset({GRAPHED})
    compiles: frozenset[str] = frozenset()
    torches: frozenset[str] = frozenset({"torch"})

    @property
    def renamed(self) -> bool:
        """Whether a file has names of its own."""
        return self != PLAIN


PLAIN = Spellings()


@once_a_module
def spellings(module: Module) -> Spellings:
    """The names that a file has for what captures, torch's own among them."""
    text = module.source.text
    if not any(clue in text for clue in CLUES) or RENAMED.search(text) is None:
        return PLAIN
    nodes = list(walk(module.source.tree))
    found: dict[str, set[str]] = {GRAPH: set(), GRAPHED: set(), COMPILE: set()}
    torches = {"torch"}
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node.module in HOMES and not node.level:
            for alias in node.names:
                if alias.name in HOMES[node.module]:
                    found[alias.name].add(alias.asname or alias.name)
        elif isinstance(node, ast.Import):
            torches.update(alias.asname for alias in node.names if alias.name == "torch" and alias.asname)
    bound = [each for node in nodes for each in _bound(node)]
    for _ in range(3):
        graphs, graphed, compiles = (frozenset(found[kind]) for kind in KINDS)
        here = Spellings(graphs, graphed, compiles, frozenset(torches))
        for name, value in bound:
            kind = _kind(value, here)
            if kind:
                found[kind].add(name)
    return Spellings(
        frozenset({GRAPH, *found[GRAPH]}),
        frozenset({GRAPHED, *found[GRAPHED]}),
        frozenset(found[COMPILE]),
        frozenset(torches),
    )


def _bound(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """The names that a node binds to something that is no call, with what that is."""
    match node:
        case ast.Assign(value=value) | ast.AnnAssign(value=ast.expr() as value):
            yield from ((last(target), value) for target in stored(node))
        case ast.arguments():
            named = [*node.posonlyargs, *node.args]
            yield from ((each.arg, value) for each, value in zip(reversed(named), reversed(node.defaults)))
            yield from ((each.arg, value) for each, value in zip(node.kwonlyargs, node.kw_defaults) if value is not None)
        case ast.keyword(arg=str(name), value=value):
            yield name, value
        case ast.ClassDef(name=name, bases=bases):
            yield from ((name, base) for base in bases)


def _kind(value: ast.expr, here: Spellings) -> str:
    """Which of those that capture an expression is, if it is no call of it; "" for any other."""
    match value:
        case ast.IfExp(body=first, orelse=second):
            return _kind(first, here) or _kind(second, here)
        case ast.Call(func=function, args=[first, *_]) if last(function) == "partial":
            return _kind(first, here)
        case ast.Attribute(attr=attr, value=owner):
            if attr in (GRAPH, GRAPHED) and last(owner) in ("cuda", "graphs"):
                return attr
            return COMPILE if is_compile(value, here) else ""
        case ast.Name(id=name):
            return next((kind for kind, names in zip(KINDS, here) if name in names), "")
    return ""


def is_compile(node: ast.expr, here: Spellings = PLAIN) -> bool:
    """Whether an expression is spelled `torch.compile`, or as what the file calls it."""
    match node:
        case ast.Attribute(value=ast.Name(id=owner), attr="compile"):
            return owner in here.torches
        case ast.Name(id=name):
            return name in here.compiles
    return False
