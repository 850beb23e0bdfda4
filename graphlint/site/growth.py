"""Whether a class may bind an attribute to a concatenation of what it held: asked of its names, before anything is walked.

Order, branches and objects are left out, so the answer errs towards yes; where it is no, no walk finds an attribute that
the class lets grow.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set

from graphlint.site.names import PUTTING, VIEWS
from graphlint.syntax import last, stored, walk

FunctionDef = ast.FunctionDef | ast.AsyncFunctionDef

JOINS = frozenset({"cat", "concat", "hstack", "vstack", "stack"})
KEEPING = VIEWS | {"get", "pop", "items", "values", "copy"}
"""Methods that give the tensor itself, or what was put into a container."""

Parts = Mapping[str, Sequence[ast.AST]]
"""By method, where something comes to be held by something else."""

PARTS = frozenset(
    {ast.Call, ast.Return, ast.Yield, ast.For, ast.AsyncFor, ast.Assign, ast.AnnAssign, ast.comprehension, ast.NamedExpr,
     ast.FunctionDef, ast.AsyncFunctionDef}
)  # fmt: skip


def grown(methods: Collection[FunctionDef], bound: Set[str], joins: Callable[[str], bool]) -> Set[str]:
    """The attributes, among those that methods bind, that may get a concatenation of one of them.

    `joins` tells which functions outside the class may give one back.
    """

    # A method of a file that is cut into definitions is of another type.
    parts = {each.name: [each, *(part for part in walk(each) if type(part) in PARTS)] for each in methods}

    def joined(value: ast.expr) -> bool:
        if not isinstance(value, ast.Call):
            return False
        return last(value.func) in JOINS or (isinstance(value.func, ast.Name) and joins(value.func.id))

    own = bound & _Holding(parts, joined).attributes
    if not own:
        return own
    kept = _Holding(parts, _parts_of(own, parts))
    # What a function outside is given with its arguments, `self` for example, is not looked at.
    fed = {call for call, is_given in kept.calls() if joined(call) and (is_given or last(call.func) not in JOINS)}
    return own & _Holding(parts, fed.__contains__).attributes if fed else frozenset()


def _parts_of(attributes: Set[str], parts: Parts) -> Callable[[ast.expr], bool]:
    """Tells what is one of some attributes, or a variable that one is bound to."""
    assigned = (node for some in parts.values() for node in some if isinstance(node, ast.Assign))
    values = (node.value for node in assigned if any(_is_one(target, attributes) for target in stored(node)))
    names = {each.id for value in values for each in walk(value) if isinstance(each, ast.Name)}
    return lambda value: _is_one(value, attributes) or (isinstance(value, ast.Name) and value.id in names)


def _is_one(value: ast.expr, attributes: Set[str]) -> bool:
    return isinstance(value, ast.Attribute) and value.attr in attributes


class _Holding:
    """What may hold certain values: variables by method, attributes by name, and the functions that give one back."""

    def __init__(self, parts: Parts, is_source: Callable[[ast.expr], bool]) -> None:
        self.attributes: set[str] = set()
        self._is_source = is_source
        self._giving: set[str] = set()
        self._variables: dict[str, set[str]] = {name: set() for name in parts}
        self._parts = parts
        self._functions = _functions(parts)
        self._names = {name for name, _ in self._functions} | PUTTING
        self._here = ""
        looked: dict[str, tuple[int, int, int]] = {}
        while unseen := [name for name in parts if looked.get(name) != self._known(name)]:
            for name in unseen:
                looked[name] = self._known(name)
                self._here = name
                self._look(parts[name])

    def calls(self) -> Iterator[tuple[ast.Call, bool]]:
        """Every call, with whether it may be given one of the values."""
        for name, parts in self._parts.items():
            self._here = name
            yield from ((each, any(map(self._holds, _given(each)))) for each in parts if isinstance(each, ast.Call))

    def _known(self, name: str) -> tuple[int, int, int]:
        """How much is known of what a method rests on."""
        return len(self.attributes), len(self._giving), len(self._variables[name])

    def _look(self, parts: Iterable[ast.AST]) -> None:
        for node in parts:
            match node:
                case ast.Call():
                    self._give(node)
                case ast.Return(value=ast.expr() as value) | ast.Yield(value=ast.expr() as value):
                    if self._holds(value):
                        self._giving |= {name for name, owner in self._functions if owner == self._here}
                case ast.For(iter=value) | ast.AsyncFor(iter=value) | ast.Assign(value=value):
                    self._bind(stored(node), value)
                case ast.AnnAssign(value=ast.expr() as value):
                    self._bind(stored(node), value)
                case ast.comprehension(target=target, iter=value) | ast.NamedExpr(target=target, value=value):
                    self._bind([target], value)

    def _bind(self, targets: Iterable[ast.expr], value: ast.expr) -> None:
        if self._holds(value):
            for target in targets:
                self._put(target)

    def _put(self, target: ast.expr) -> None:
        match target:
            case ast.Name(id=name):
                self._variables[self._here].add(name)
            case ast.Attribute(attr=name):
                self.attributes.add(name)
            case ast.Subscript(value=inner) | ast.Starred(value=inner):
                self._put(inner)
            case ast.Tuple(elts=items) | ast.List(elts=items):
                for item in items:
                    self._put(item)

    def _give(self, call: ast.Call) -> None:
        """What a container or a function of the class is given stays there."""
        name = last(call.func)
        if name not in self._names or not any(map(self._holds, _given(call))):
            return
        if isinstance(call.func, ast.Attribute) and name in PUTTING:
            self._put(call.func.value)
        for (each, owner), function in self._functions.items():
            if each == name:
                self._variables[owner] |= {part.arg for part in walk(function.args) if isinstance(part, ast.arg)}

    def _holds(self, value: ast.expr) -> bool:
        """Whether an expression may be one of the values, a view of one, or hold one."""
        if self._is_source(value):
            return True
        match value:
            case ast.Name(id=name):
                return name in self._variables[self._here]
            case ast.Attribute(value=inner, attr=name):
                return name in self.attributes or (name in VIEWS and self._holds(inner))
            case ast.Call():
                return self._gives(value)
        return any(map(self._holds, _held(value)))

    def _gives(self, call: ast.Call) -> bool:
        name = last(call.func)
        if name in self._giving:
            return True
        if isinstance(call.func, ast.Attribute):
            return name in KEEPING and self._holds(call.func.value)
        return self._holds(call.func) or any(map(self._holds, _given(call)))


def _functions(parts: Parts) -> dict[tuple[str, str], FunctionDef]:
    """Methods and the functions in them, by name and by the method they stand in."""
    return {(each.name, owner): each for owner, some in parts.items() for each in some if isinstance(each, FunctionDef)}


def _held(value: ast.expr) -> Iterator[ast.expr]:
    """What an expression that computes nothing is, or holds; operators and the like make something new."""
    match value:
        case ast.Subscript(value=inner) | ast.Starred(value=inner) | ast.Await(value=inner) | ast.NamedExpr(value=inner):
            yield inner
        case ast.ListComp(elt=inner) | ast.SetComp(elt=inner) | ast.GeneratorExp(elt=inner):
            yield inner
        case ast.DictComp(value=inner) | ast.Lambda(body=inner):
            yield inner
        case ast.Tuple(elts=items) | ast.List(elts=items) | ast.Set(elts=items) | ast.Dict(values=items):
            yield from items
        case ast.IfExp(body=one, orelse=other):
            yield from (one, other)


def _given(call: ast.Call) -> Iterator[ast.expr]:
    yield from call.args
    yield from (word.value for word in call.keywords)
