"""Where captured code is: `forward` methods, marked functions, and the functions that hold a capture or hand one out.

Only syntax and names are looked at; bodies of `with torch.cuda.graph(...)` and callables given to `torch.compile` or
`make_graphed_callables` are met while the functions found here as `Site`s are interpreted.
"""

from __future__ import annotations

import ast
import builtins
import re
import sys
from collections.abc import Callable, Collection, Iterator, Sequence

from graphlint.captors import (
    CAPTURING,
    CAPTURING_WORDS,
    NONE,
    Captors,
    called,
    captures,
    enters,
    functions,
    hands,
    imported,
    joined,
    kept_by,
    matches,
    own,
)
from graphlint.modules import once_a_module
from graphlint.project import ClassDecl, FunctionDecl, Module, Outside, Project
from graphlint.record import NamedTuple
from graphlint.source import lines
from graphlint.spellings import Spellings, is_compile, spellings
from graphlint.syntax import last, last_called, nested, receiver_name, walk

SITE_WORDS = ("graph", "capture_begin", "compile", '"fn"', "'fn'")
"""One of these is in all code that captures, compiles or hands out a case."""
INNER_CLASS = re.compile(r"\n[ \t\f]+class[ \t\f\\]")
WITHOUT = sys.stdlib_module_names | {"torch"}
"""Libraries without modules besides those of `torch.nn`."""
CASE_KEYS = {"fn", "args"}
BRINGING = re.compile(r"^[ \t]*(?:import|from)\b.*(?:torch|\*)", re.MULTILINE)
MARK = re.compile(r"#\s*graphlint:\s*region\b")
NO_MODULE = frozenset({
    "ABC", "Protocol", "Generic", "Enum", "NamedTuple", "TypedDict", "Function", "Exception",
    "Callback", "Dataset", "Process", "Server", "Service", "TestCase", "Thread",
})  # fmt: skip
"""Last words of bases of which nothing else is known: what the language and libraries call that which is no module."""


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


class Given(NamedTuple):
    """A function under a decorator that captures what it is given."""

    decl: FunctionDecl


class Site(NamedTuple):
    """A function (or the top of a module, for None) around a capture, a compile call or a case.

    `kept` are expressions in it that something captures later, and that say what they are only once it has run.
    """

    module: Module
    decl: FunctionDecl | None
    kept: tuple[ast.expr, ...] = ()


def forwards(
    project: Project, module: Module, wanted: Callable[[ast.ClassDef], bool] = lambda _: True
) -> Iterator[Forward]:
    """The `forward` of every module class of a file, the last class first: it is likely to use the others."""
    replays = "replay" in module.source.text
    for node in sorted(_classes(module), key=lambda node: -node.lineno):
        if not wanted(node):
            continue
        owner = module.class_(node, node.name)
        member = project.member(owner, "forward")
        if member is None or not is_module_class(project, owner) or (replays and _drives(node, spellings(module))):
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


def _drives(node: ast.ClassDef, by: Spellings) -> bool:
    """Whether a class captures and replays itself, so that its `forward` is around a region and not in one."""
    return any(
        (isinstance(inner, (ast.With, ast.AsyncWith)) and captures(inner, by))
        or (isinstance(inner, ast.Call) and last_called(inner) in ("capture_begin", "replay"))
        for inner in walk(node)
    )


def _changes_something(owner: ClassDecl) -> bool:
    return any(isinstance(statement, (ast.FunctionDef, ast.Assign)) for statement in owner.node.body)


def is_module_class(project: Project, owner: ClassDecl) -> bool:
    """A class with a torch module among its bases, or with a base that cannot be resolved and may be one."""
    outside = [base.name for base in project.mro(owner) if isinstance(base, Outside)]
    if any(name.startswith("torch.nn.") for name in outside):
        return True
    named = [name for name in outside if _may_be_module(name)]
    if any(name.rpartition(".")[2] != "Module" and ".nn." not in name for name in named):
        return True
    # Without torch in any of these files, `nn.Module` is another library's.
    files = {base.module for base in project.mro(owner) if isinstance(base, ClassDecl)} if named else set()
    return any(map(brings_torch, files))


@once_a_module
def brings_torch(module: Module) -> bool:
    """Whether a file imports something of torch, or all that another one has."""
    return BRINGING.search(module.source.text) is not None


def _may_be_module(name: str) -> bool:
    """Whether a base that no file of the run defines may be a module; torch and Python are known to have no other."""
    library, dot, _ = name.partition(".")
    if library in WITHOUT if dot else hasattr(builtins, name):
        return False
    return name.rpartition(".")[2] not in NO_MODULE


def marked(module: Module, named: Collection[str] = ()) -> Iterator[Marked]:
    """Functions with `# graphlint: region` on their line or the line above, and those that the configuration names."""
    if "graphlint:" not in module.source.text and not named:
        return
    text = lines(module.source)
    for node, owner in functions(module):
        first = min([node.lineno, *(part.lineno for part in node.decorator_list)])
        above = first > 1 and MARK.search(text[first - 2])
        if above or MARK.search(text[node.lineno - 1]) or _is_named(module, owner, node.name, named):
            yield Marked(module.function(node, owner, node.name))


def compiled(module: Module) -> Iterator[Compiled]:
    """Functions and methods that a decorator compiles."""
    by = spellings(module)
    if not by.renamed and "torch.compile" not in module.source.text:
        return
    for node, owner in functions(module):
        if any(is_compile(mark.func if isinstance(mark, ast.Call) else mark, by) for mark in node.decorator_list):
            yield Compiled(module.function(node, owner, node.name))


def _is_named(module: Module, owner: ClassDecl | None, name: str, named: Collection[str]) -> bool:
    """`Class.method` or `function` with as much of the module's dotted name before it as one likes."""
    full = ".".join((module.name, *([owner.name] if owner else []), name))
    return any(full == each or full.endswith(f".{each}") for each in named)


def sites(project: Project, module: Module) -> Iterator[Site | Given]:
    """The outermost functions (or the module's top) in which something is captured, compiled or handed out as a case.

    With them the functions that a decorator captures.
    """
    text = module.source.text
    by = spellings(module)
    captures_itself = by.renamed or matches(text, CAPTURING_WORDS, CAPTURING)
    captors = imported(project, module)
    if not captures_itself and captors == NONE and not ('"fn"' in text and '"args"' in text):
        return
    every = functions(module)
    captors = joined(own(every, by), captors) if captures_itself else captors
    apart = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    rest = [node for node in module.source.tree.body if not isinstance(node, apart)]
    yield from _kept(project, module, [*every, *((node, None) for node in rest)], captors.keepers)
    for node, owner in every:
        decl = module.function(node, owner, node.name)
        kept = tuple(_kept_unknown(project, module, node, owner, captors.keepers))
        if any(last_called(mark) in captors.givens for mark in node.decorator_list):
            yield Given(decl)
        elif kept or _is_site(module, node, by) or _calls(node, captors):
            yield Site(module, decl, kept)
    if any(_is_site(module, node, by) or _calls(node, captors) for node in rest):
        yield Site(module, None)


def _kept(
    project: Project, module: Module, every: Sequence[tuple[ast.stmt, ClassDecl | None]], keepers: frozenset[str]
) -> Iterator[Given]:
    """Functions and methods of a file that are handed to what captures them later."""
    found: dict[FunctionDecl, None] = {}
    for node, owner in every:
        for given in kept_by(node, keepers):
            decl = _handed(project, module, node, owner, given)
            if decl is not None and decl.module is module:
                found[decl] = None
    yield from map(Given, found)


def _kept_unknown(
    project: Project, module: Module, node: ast.FunctionDef, owner: ClassDecl | None, keepers: frozenset[str]
) -> Iterator[ast.expr]:
    """Methods of other objects and nested functions that are handed to what captures them later."""
    for given in kept_by(node, keepers):
        if isinstance(given, ast.Name):
            inner = (each.name for each in walk(node) if isinstance(each, ast.FunctionDef) and each is not node)
            if given.id in inner:
                yield given
        elif isinstance(given, ast.Attribute) and _handed(project, module, node, owner, given) is None:
            yield given


def _handed(
    project: Project, module: Module, node: ast.stmt, owner: ClassDecl | None, given: ast.expr
) -> FunctionDecl | None:
    """The function that a name, or the method that an attribute of a method's own object stands for."""
    match given:
        case ast.Name(id=name):
            found = project.lookup(module, name)
            return found if isinstance(found, FunctionDecl) and name not in _bound(node) else None
        case ast.Attribute(value=ast.Name(id=own), attr=name) if owner is not None and own == _receiver(node):
            member = project.member(owner, name)
            symbol = member[1][-1] if member is not None else None
            if member is None or not isinstance(symbol, ast.FunctionDef):
                return None
            if any(map(_computes, symbol.decorator_list)):
                return None
            return member[0].module.function(symbol, member[0], name)
    return None


def _computes(mark: ast.expr) -> bool:
    """Whether a decorator makes an attribute of a method."""
    return last(mark).endswith("property")


def _receiver(node: ast.stmt) -> str:
    return receiver_name(node) if isinstance(node, ast.FunctionDef) else ""


def _bound(node: ast.stmt) -> set[str]:
    """The parameters of a function."""
    if not isinstance(node, ast.FunctionDef):
        return set()
    return {each.arg for each in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)}


def _calls(node: ast.stmt, captors: Captors) -> bool:
    """Whether a statement or function calls what captures for it."""
    opens = bool(captors.openers) and not captors.openers.isdisjoint(called(node))
    return opens or enters(node, captors.managers) or hands(node, captors.givens)


def _is_site(module: Module, node: ast.stmt, by: Spellings) -> bool:
    text = written(module, node)
    may_be = by.renamed or any(word in text for word in SITE_WORDS)
    return may_be and any(captures(inner, by) or _is_case(inner) for inner in walk(node))


def written(module: Module, node: ast.stmt) -> str:
    """The lines that a statement stands on, with its decorators."""
    first = min([node.lineno, *(mark.lineno for mark in getattr(node, "decorator_list", ()))])
    return "\n".join(lines(module.source)[first - 1 : node.end_lineno])


def _is_case(node: ast.AST) -> bool:
    """`{"fn": ..., "args": ...}`: what a factory of confirm cases returns."""
    if not isinstance(node, ast.Dict):
        return False
    return {key.value for key in node.keys if isinstance(key, ast.Constant)} >= CASE_KEYS
