"""Where captured code is: `forward` methods, marked functions, and the functions that hold a capture or hand one out.

Only syntax and names are looked at; bodies of `with torch.cuda.graph(...)` and callables given to `torch.compile` or
`make_graphed_callables` are met while the functions found here as `Site`s are interpreted.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Iterable, Iterator

from graphlint.project import ClassDecl, FunctionDecl, Module, Outside, Project
from graphlint.record import NamedTuple
from graphlint.source import lines
from graphlint.syntax import nested, walk

CAPTURING_WORDS = ("graph(", "make_graphed_callables", "torch.compile", "capture_begin")
CAPTURING = re.compile(r"\bgraph\(|make_graphed_callables|torch\.compile|capture_begin")
SITE_WORDS = ("graph", "capture_begin", "compile", '"fn"', "'fn'")
"""One of these is in all code that captures, compiles or hands out a case."""
INNER_CLASS = re.compile(r"\n[ \t\f]+class[ \t\f\\]")
OPENING_WORDS = ("capture_begin", "enter_context")
ENDS = "capture_end"
CASE_KEYS = {"fn", "args"}
MARK = re.compile(r"#\s*graphlint:\s*region\b")
NO_MODULE = {"object", "ABC", "Protocol", "Generic", "Enum", "NamedTuple", "TypedDict", "Function", "Exception"}


class Forward(NamedTuple):
    """`forward` of a module class; `decl` may be inherited."""

    owner: ClassDecl
    decl: FunctionDecl


class Marked(NamedTuple):
    """A function that a comment names."""

    decl: FunctionDecl


class Compiled(NamedTuple):
    """A function under `@torch.compile`: a region of that target, whoever calls it."""

    decl: FunctionDecl


class Site(NamedTuple):
    """A function (or the top of a module, for None) around a capture, a compile call or a case."""

    module: Module
    decl: FunctionDecl | None


def forwards(
    project: Project, module: Module, wanted: Callable[[ast.ClassDef], bool] = lambda _: True
) -> Iterator[Forward]:
    """The `forward` of every module class of a file, the last class first: it is likely to use the others."""
    if "forward" not in module.source.text and "nn" not in module.source.text:
        return
    replays = "replay" in module.source.text
    for node in sorted(_classes(module), key=lambda node: -node.lineno):
        if not wanted(node):
            continue
        owner = module.class_(node, node.name)
        member = project.member(owner, "forward")
        if member is None or not is_module_class(project, owner) or (replays and _drives(node)):
            continue
        base, symbols = member
        symbol = symbols[-1]
        if isinstance(symbol, (ast.FunctionDef, ast.AsyncFunctionDef)) and (base is owner or _changes_something(owner)):
            yield Forward(owner, base.module.function(symbol, base, "forward"))


def _classes(module: Module) -> list[ast.ClassDef]:
    """The classes of a file; its statements are gone through only if one of them may hold another class."""
    body = module.source.tree.body
    nodes = nested(body) if INNER_CLASS.search(module.source.text) else body
    return [node for node in nodes if isinstance(node, ast.ClassDef)]


def _drives(node: ast.ClassDef) -> bool:
    """Whether a class captures and replays itself, so that its `forward` is around a region and not in one."""
    return any(
        (isinstance(inner, (ast.With, ast.AsyncWith)) and _captures(inner))
        or (isinstance(inner, ast.Call) and _last(inner) in ("capture_begin", "replay"))
        for inner in walk(node)
    )


def _changes_something(owner: ClassDecl) -> bool:
    return any(isinstance(statement, (ast.FunctionDef, ast.Assign)) for statement in owner.node.body)


def is_module_class(project: Project, owner: ClassDecl) -> bool:
    """A class with a torch module among its bases, or with a base that cannot be resolved and may be one."""
    outside = [base.name for base in project.mro(owner) if isinstance(base, Outside)]
    if any(name.startswith("torch.nn.") for name in outside):
        return True
    return any(name.rpartition(".")[2] not in NO_MODULE and not name.startswith(("torch.", "typing.")) for name in outside)


def marked(module: Module, named: Collection[str] = ()) -> Iterator[Marked]:
    """Functions with `# graphlint: region` on their line or the line above, and those that the configuration names."""
    if "graphlint:" not in module.source.text and not named:
        return
    text = lines(module.source)
    for node, owner in _functions(module.source.tree.body, None, module):
        first = min([node.lineno, *(part.lineno for part in node.decorator_list)])
        above = first > 1 and MARK.search(text[first - 2])
        if above or MARK.search(text[node.lineno - 1]) or _is_named(module, owner, node.name, named):
            yield Marked(module.function(node, owner, node.name))


def compiled(module: Module) -> Iterator[Compiled]:
    """Functions and methods that a decorator compiles."""
    if "torch.compile" not in module.source.text:
        return
    for node, owner in _functions(module.source.tree.body, None, module):
        if any(_is_compile(mark.func if isinstance(mark, ast.Call) else mark) for mark in node.decorator_list):
            yield Compiled(module.function(node, owner, node.name))


def _is_named(module: Module, owner: ClassDecl | None, name: str, named: Collection[str]) -> bool:
    """`Class.method` or `function` with as much of the module's dotted name before it as one likes."""
    full = ".".join((module.name, *([owner.name] if owner else []), name))
    return any(full == each or full.endswith(f".{each}") for each in named)


def sites(module: Module) -> Iterator[Site]:
    """The outermost functions (or the module's top) in which something is captured, compiled or handed out as a case."""
    text = module.source.text
    if not matches(text, CAPTURING_WORDS, CAPTURING) and not ('"fn"' in text and '"args"' in text):
        return
    functions = list(_functions(module.source.tree.body, None, module))
    managers = _managers(functions)
    openers = _openers(functions) if any(word in text for word in OPENING_WORDS) else frozenset()
    managers |= openers
    for node, owner in functions:
        if _is_site(module, node) or _enters(node, managers) or (openers and not openers.isdisjoint(_called(node))):
            yield Site(module, module.function(node, owner, node.name))
    rest = [
        node
        for node in module.source.tree.body
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
    ]
    if any(_is_site(module, node) or _enters(node, managers) for node in rest):
        yield Site(module, None)


def matches(text: str, words: Iterable[str], pattern: re.Pattern[str]) -> bool:
    """Whether a pattern matches that begins with one of some words: to search for it takes a hundred times as long."""
    for word in words:
        at = text.find(word)
        while at >= 0:
            if pattern.match(text, at):
                return True
            at = text.find(word, at + 1)
    return False


def _functions(
    body: list[ast.stmt], owner: ClassDecl | None, module: Module
) -> Iterator[tuple[ast.FunctionDef, ClassDecl | None]]:
    """Functions and methods of a body, without those nested in functions."""
    for node in body:
        if isinstance(node, ast.FunctionDef):
            yield node, owner
        elif isinstance(node, ast.ClassDef):
            yield from _functions(node.body, module.class_(node, node.name), module)
        elif isinstance(node, (ast.If, ast.Try)):
            yield from _functions(node.body, owner, module)


def _is_site(module: Module, node: ast.stmt) -> bool:
    text = written(module, node)
    return any(word in text for word in SITE_WORDS) and any(_captures(inner) or _is_case(inner) for inner in walk(node))


def written(module: Module, node: ast.stmt) -> str:
    """The lines that a statement stands on, with its decorators."""
    first = min([node.lineno, *(mark.lineno for mark in getattr(node, "decorator_list", ()))])
    return "\n".join(lines(module.source)[first - 1 : node.end_lineno])


def _managers(functions: Iterable[tuple[ast.FunctionDef, ClassDecl | None]]) -> frozenset[str]:
    """The functions and methods of a file that yield inside a capture: context managers around one."""
    return frozenset(node.name for node, _ in functions if _yields(node) and any(_is_around(each) for each in walk(node)))


def _is_around(node: ast.AST) -> bool:
    """A block that captures and yields, or a call that begins a capture."""
    return _begins(node) or (isinstance(node, ast.With) and _captures(node) and _yields(node))


def _openers(functions: Iterable[tuple[ast.FunctionDef, ClassDecl | None]]) -> frozenset[str]:
    """The functions and methods of a file that begin a capture which their caller goes on with; classes that do so too."""
    called = [(node, owner, _called(node)) for node, owner in functions if not _yields(node)]
    ends = {ENDS, *(node.name for node, _, calls in called if ENDS in calls)}
    left = [(node, owner, calls) for node, owner, calls in called if ends.isdisjoint(calls)]
    found = {node.name for node, _, _ in left if any(_begins(each) for each in walk(node))}
    known: set[str] = set()
    while found != known:
        known = set(found)
        found.update(node.name for node, _, calls in left if not known.isdisjoint(calls))
        found.update(owner.name for node, owner, _ in left if owner is not None and node.name == "__enter__" in found)
    return frozenset(found)


def _called(node: ast.AST) -> frozenset[str]:
    """The last names of what is called below a node."""
    return frozenset(_last(each) for each in walk(node) if isinstance(each, ast.Call))


def _begins(node: ast.AST) -> bool:
    """`g.capture_begin()`, `stack.enter_context(torch.cuda.graph(g))`, `context.__enter__()`."""
    match node:
        case ast.Call(func=ast.Attribute(attr="capture_begin")):
            return True
        case ast.Call(func=ast.Attribute(attr="enter_context"), args=[ast.Call() as inner]):
            return _last(inner) == "graph"
    return False


def _yields(node: ast.AST) -> bool:
    return any(isinstance(each, ast.Yield) for each in walk(node))


def _enters(node: ast.AST, managers: frozenset[str]) -> bool:
    """Whether a `with` of a function or of the module's top is about one of these."""
    return bool(managers) and any(
        isinstance(item.context_expr, ast.Call) and _last(item.context_expr) in managers
        for each in walk(node)
        if isinstance(each, ast.With)
        for item in each.items
    )


def _captures(node: ast.AST) -> bool:
    if isinstance(node, (ast.With, ast.AsyncWith)):
        return any(_last(item.context_expr) == "graph" for item in node.items if isinstance(item.context_expr, ast.Call))
    if isinstance(node, ast.Call):
        return _last(node) == "make_graphed_callables" or _begins(node) or _is_graph(node.func) or _is_compile(node.func)
    return isinstance(node, ast.FunctionDef) and any(
        _is_compile(part.func if isinstance(part, ast.Call) else part) for part in node.decorator_list
    )


def _last(node: ast.expr) -> str:
    func = node.func if isinstance(node, ast.Call) else node
    return func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""


def _is_compile(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Attribute)
        and node.attr == "compile"
        and isinstance(node.value, ast.Name)
        and node.value.id == "torch"
    )


def _is_graph(node: ast.expr) -> bool:
    """`torch.cuda.graph`, kept to be entered later."""
    return isinstance(node, ast.Attribute) and node.attr == "graph" and _last(node.value) == "cuda"


def _is_case(node: ast.AST) -> bool:
    """`{"fn": ..., "args": ...}`: what a factory of confirm cases returns."""
    if not isinstance(node, ast.Dict):
        return False
    return {key.value for key in node.keys if isinstance(key, ast.Constant)} >= CASE_KEYS
