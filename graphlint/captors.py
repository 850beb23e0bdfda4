"""How code says that it captures, for itself or for those who call it.

Some functions capture what they are given, some yield or return in the middle of a capture: then the code that calls
them is where to look, in whatever file that is.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from graphlint.effects.table import lookup
from graphlint.modules import once_a_module
from graphlint.project import Assigned, ClassDecl, FunctionDecl, Module, Outside, Project
from graphlint.record import NamedTuple
from graphlint.spellings import GRAPH, GRAPHED, PLAIN, Spellings, is_compile, spellings
from graphlint.syntax import TRIES, last, last_called, receiver_name, walk

CAPTURING_WORDS = ("graph(", "make_graphed_callables", "torch.compile", "capture_begin")
CAPTURING = re.compile(r"\bgraph\(|make_graphed_callables|torch\.compile|capture_begin")
BEGINS, ENDS = "capture_begin", "capture_end"
TELLING = re.compile(r"graph|captur|record", re.IGNORECASE)
"""What is in the name of all that other files import to capture with: looking into every import would take long."""

Functions = Iterable[tuple[ast.FunctionDef, ClassDecl | None]]


class Captors(NamedTuple):
    """Names by which a file calls what captures for others.

    `managers` are entered by `with`, `openers` begin a capture that goes on behind the call, `givens` capture a function
    that they are handed, `keepers` are classes that do so later, and functions that make such an object.
    """

    managers: frozenset[str] = frozenset()
    openers: frozenset[str] = frozenset()
    givens: frozenset[str] = frozenset()
    keepers: frozenset[str] = frozenset()


NONE = Captors()
NOTHING: frozenset[str] = frozenset()
CUDA = "torch.cuda."


def own(functions: Functions, by: Spellings = PLAIN) -> Captors:
    """Those that are defined in a file."""
    found = list(functions)
    opening = _openers(found)
    return Captors(_managers(found, by) | opening, opening, _givens(found, by), _keepers(found, by))


def imported(project: Project, module: Module) -> Captors:
    """Those that a file imports from others of the tree."""
    found = NONE
    for name, symbols in module.symbols.items():
        if isinstance(symbols[-1], (ast.Import, ast.ImportFrom)) and TELLING.search(name):
            declared = project.lookup(module, name)
            if isinstance(declared, Module):
                found = joined(found, _of_module(declared))
            elif isinstance(declared, (Assigned, Outside)):
                found = joined(found, _renamed(project, declared, name))
            elif isinstance(declared, (FunctionDecl, ClassDecl)):
                captors = _of_module(declared.module)
                found = joined(found, _named(captors, declared.name, name))
                if isinstance(declared, ClassDecl):
                    found = joined(found, Captors(keepers=captors.keepers.intersection(declared.members)))
    return found


def _renamed(project: Project, declared: Assigned | Outside, here: str) -> Captors:
    """What another file bound a name to, if that is what torch captures with."""
    values = declared.values if isinstance(declared, Assigned) else ()
    names = [declared, *(project.dotted(declared.module, value) for value in values if isinstance(declared, Assigned))]
    words = {each.name.rpartition(".")[2] for each in names if isinstance(each, Outside) and each.name.startswith(CUDA)}
    one = frozenset({here})
    return Captors(managers=one if GRAPH in words else NOTHING, givens=one if GRAPHED in words else NOTHING)


@once_a_module
def _of_module(module: Module) -> Captors:
    """All models of a library import from one file, of which this is asked once."""
    by = spellings(module)
    captures_itself = by.renamed or matches(module.source.text, CAPTURING_WORDS, CAPTURING)
    return own(functions(module), by) if captures_itself else NONE


def _named(captors: Captors, name: str, here: str) -> Captors:
    """One of those that a file defines, by the name it has in another."""
    return Captors(*(frozenset({here} if name in each else ()) for each in captors))


def joined(left: Captors, right: Captors) -> Captors:
    """The names that either of two holds, kind by kind."""
    return Captors(*(one | other for one, other in zip(left, right)))


def matches(text: str, words: Iterable[str], pattern: re.Pattern[str]) -> bool:
    """Whether a pattern matches that begins with one of some words: to search for it takes a hundred times as long."""
    for word in words:
        at = text.find(word)
        while at >= 0:
            if pattern.match(text, at):
                return True
            at = text.find(word, at + 1)
    return False


def functions(module: Module) -> list[tuple[ast.FunctionDef, ClassDecl | None]]:
    """The functions and methods of a file, without those nested in functions."""
    return list(_functions(module.source.tree.body, None, module))


def region_name(module: Module, node: ast.AST | None, name: str) -> str:
    """The name of a region in a function of this name: with the class, if it is a method; that of the file at its top."""
    if node is None:
        return module.name
    return f"{module.name}.{class_prefix(module, node)}{name}"


def class_prefix(module: Module, node: ast.AST) -> str:
    """The name of the class of a method with a dot behind it; empty for any other function."""
    return next((f"{owner.name}." for each, owner in functions(module) if each is node and owner is not None), "")


def _functions(
    body: list[ast.stmt], owner: ClassDecl | None, module: Module
) -> Iterator[tuple[ast.FunctionDef, ClassDecl | None]]:
    for node in body:
        if isinstance(node, ast.FunctionDef):
            yield node, owner
        elif isinstance(node, ast.ClassDef):
            yield from _functions(node.body, module.class_(node, node.name), module)
        elif isinstance(node, (ast.If, TRIES)):
            yield from _functions(node.body, owner, module)


def _managers(found: Functions, by: Spellings) -> frozenset[str]:
    """The functions and methods that yield inside a capture, or give back what captures: context managers around one."""
    around = (node.name for node, _ in found if any(_is_around(each, by) for each in walk(node)) and _yields(node))
    return frozenset(around).union(node.name for node, _ in found if any(_gives(each, by) for each in walk(node)))


def _is_around(node: ast.AST, by: Spellings) -> bool:
    """A block that captures and yields, or a call that begins a capture."""
    return _begins(node) or (isinstance(node, ast.With) and captures(node, by) and _yields(node))


def _gives(node: ast.AST, by: Spellings) -> bool:
    """`return torch.cuda.graph(g)`, `return torch.cuda.graph`."""
    if not isinstance(node, ast.Return) or node.value is None:
        return False
    given = node.value.func if isinstance(node.value, ast.Call) else node.value
    return is_graph(given) or (isinstance(given, ast.Name) and given.id in by.graphs - {GRAPH})


def _openers(every: Functions) -> frozenset[str]:
    """The functions and methods that begin a capture which their caller goes on with; classes that do so too."""
    calling = [(node, owner, called(node)) for node, owner in every if not _yields(node)]
    ends = {ENDS, *(node.name for node, _, calls in calling if ENDS in calls)}
    left = [(node, owner, calls) for node, owner, calls in calling if ends.isdisjoint(calls)]
    found = {node.name for node, _, _ in left if any(_begins(each) for each in walk(node))}
    known: set[str] = set()
    while found != known:
        known = set(found)
        found.update(node.name for node, _, calls in left if not known.isdisjoint(calls))
        found.update(owner.name for node, owner, _ in left if owner is not None and node.name == "__enter__" in found)
    return frozenset(found)


def _givens(every: Functions, by: Spellings) -> frozenset[str]:
    """The functions and methods that call a parameter of theirs inside a capture, or a method that it alone can have."""
    found = {node.name for node, _ in every if any(_calls_given(each, node, by) for each in walk(node))}
    for node, owner in every:
        given = _parameters(node) - {receiver_name(node) if owner is not None else ""}
        if (owner is None or TELLING.search(node.name)) and any(_asks_given(each, node, given, by) for each in walk(node)):
            found.add(node.name)
    return frozenset(found)


def _calls_given(node: ast.AST, function: ast.FunctionDef, by: Spellings) -> bool:
    if not isinstance(node, ast.With) or not captures(node, by):
        return False
    given = _parameters(function)
    return any(isinstance(each.func, ast.Name) and each.func.id in given for each in _calls_in(node))


def _asks_given(node: ast.AST, function: ast.FunctionDef, given: set[str], by: Spellings) -> bool:
    """Whether a block captures `model.step(x)` of a parameter that is no tensor, or a nested function that does that."""
    if not isinstance(node, ast.With) or not captures(node, by):
        return False
    names = {each.func.id for each in _calls_in(node) if isinstance(each.func, ast.Name)}
    inner = [each for each in walk(function) if isinstance(each, ast.FunctionDef) and each.name in names]
    return any(_is_method_of(each.func, given) for each in (*_calls_in(node), *(c for f in inner for c in _calls_in(f))))


def _calls_in(node: ast.With | ast.FunctionDef) -> Iterator[ast.Call]:
    return (each for statement in node.body for each in walk(statement) if isinstance(each, ast.Call))


def _is_method_of(called: ast.expr, names: set[str]) -> bool:
    """Whether a method is called on one of some variables, or on a part of it, that tensors do not have."""
    if not isinstance(called, ast.Attribute) or lookup(f"torch.Tensor.{called.attr}") is not None:
        return False
    owner = called.value
    while isinstance(owner, (ast.Attribute, ast.Subscript)):
        owner = owner.value
    return isinstance(owner, ast.Name) and owner.id in names


def _parameters(function: ast.FunctionDef) -> set[str]:
    return {each.arg for each in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)}


def _keepers(every: Functions, by: Spellings) -> frozenset[str]:
    """The classes whose methods capture a call of what the constructor got, and functions that hand them what they got."""
    calling: dict[ClassDecl, set[str]] = {}
    for node, owner in every:
        if owner is not None:
            calling.setdefault(owner, set()).update(_captured_attributes(node, by))
    made = ((node, owner) for node, owner in every if owner is not None and node.name == "__init__")
    found = {owner.name for node, owner in made if not calling[owner].isdisjoint(_kept(node))}
    makers = (node for node, owner in every if owner is None and found and _hands_on(node, found))
    return frozenset(found).union((node.name for node in makers), _capturing_methods(every, by))


def _capturing_methods(every: Functions, by: Spellings) -> Iterator[str]:
    """The methods that capture a parameter of theirs or hand it on to one that does, if their name says so too."""
    methods = [node for node, owner in every if owner is not None]
    found = {node.name for node in methods if any(_calls_given(each, node, by) for each in walk(node))}
    known: set[str] = set()
    while found != known:
        known = set(found)
        found.update(node.name for node in methods if node.name not in known and _hands_on(node, known))
    yield from filter(TELLING.search, found)


def _captured_attributes(method: ast.FunctionDef, by: Spellings) -> Iterator[str]:
    """The attributes of its object that a method calls inside a capture."""
    own = receiver_name(method)
    blocks = [each for each in walk(method) if isinstance(each, ast.With) and captures(each, by)] if own else []
    for each in (part for block in blocks for statement in block.body for part in walk(statement)):
        match each:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=attr)) if name == own:
                yield attr


def _kept(method: ast.FunctionDef) -> Iterator[str]:
    """The attributes of its object that a constructor binds to a parameter."""
    own, given = receiver_name(method), _parameters(method)
    for each in walk(method):
        if isinstance(each, ast.Assign) and isinstance(each.value, ast.Name) and each.value.id in given:
            for to in each.targets:
                if isinstance(to, ast.Attribute) and isinstance(to.value, ast.Name) and to.value.id == own:
                    yield to.attr


def _hands_on(function: ast.FunctionDef, keepers: set[str]) -> bool:
    """Whether a function hands a parameter of its own to one of these."""
    given = _parameters(function)
    return any(
        isinstance(each, ast.Call) and last_called(each) in keepers and any(last(part) in given for part in _given(each))
        for each in walk(function)
    )


def _given(call: ast.Call) -> list[ast.expr]:
    return [*call.args, *(word.value for word in call.keywords)]


def kept_by(node: ast.AST, keepers: frozenset[str]) -> Iterator[ast.expr]:
    """What is handed to one of these below a node."""
    for each in walk(node) if keepers else ():
        if isinstance(each, ast.Call) and last_called(each) in keepers:
            yield from _given(each)


def called(node: ast.AST) -> frozenset[str]:
    """The last names of what is called below a node."""
    return frozenset(last_called(each) for each in walk(node) if isinstance(each, ast.Call))


def hands(node: ast.AST, givens: frozenset[str]) -> bool:
    """Whether something is handed to one of these."""
    return bool(givens) and any(
        last_called(each) in givens for each in walk(node) if isinstance(each, ast.Call) and (each.args or each.keywords)
    )


def enters(node: ast.AST, managers: frozenset[str]) -> bool:
    """Whether a `with` of a function or of the module's top is about one of these."""
    return bool(managers) and any(
        isinstance(item.context_expr, ast.Call) and last_called(item.context_expr) in managers
        for each in walk(node)
        if isinstance(each, ast.With)
        for item in each.items
    )


def _begins(node: ast.AST) -> bool:
    """`g.capture_begin()`, `stack.enter_context(torch.cuda.graph(g))`."""
    match node:
        case ast.Call(func=ast.Attribute(attr="capture_begin")):
            return True
        case ast.Call(func=ast.Attribute(attr="enter_context"), args=[ast.Call() as inner]):
            return last_called(inner) == "graph"
    return False


def _yields(node: ast.AST) -> bool:
    return any(isinstance(each, ast.Yield) for each in walk(node))


def captures(node: ast.AST, by: Spellings = PLAIN) -> bool:
    """Whether a node begins a capture, compiles, or hands on what does so."""
    if isinstance(node, (ast.With, ast.AsyncWith)):
        return any(
            last_called(item.context_expr) in by.graphs for item in node.items if isinstance(item.context_expr, ast.Call)
        )
    if isinstance(node, ast.Call):
        return last_called(node) in by.graphed or _begins(node)
    if isinstance(node, (ast.Attribute, ast.Name)):
        return is_graph(node) or is_compile(node, by)
    return False


def is_graph(node: ast.expr) -> bool:
    """`torch.cuda.graph`, called or handed on."""
    return isinstance(node, ast.Attribute) and node.attr == GRAPH and last_called(node.value) == "cuda"
