"""Marks that are left on an object by a function that it is handed to: `make_ready(model)`, which sets `model.ready`.

Read from the syntax alone: statements are followed on paper, and calls to functions of the tree by their names.  Only a
mark that stands on every way through the code makes later calls pass it over.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from graphlint.interp.binding import own_name
from graphlint.interp.words import Words, asks, put
from graphlint.outline import mentions
from graphlint.project import ClassDecl, FunctionDecl, Project, imported
from graphlint.syntax import TRIES, nested, stored, walk

DEEPEST_HANDING = 3
"""How many functions the object may be handed through."""

CLEARED = ast.Constant(None)


class Scope(NamedTuple):
    """The function in which statements stand; `depth` is how many functions may be looked into.

    `owner` is the class of the object that a method runs on, where it is known: only then are its methods followed.
    """

    project: Project
    decl: FunctionDecl
    words: Words
    owner: ClassDecl | None = None
    depth: int = DEEPEST_HANDING


def scope_of(project: Project, decl: FunctionDecl, owner: ClassDecl | None = None, depth: int = DEEPEST_HANDING) -> Scope:
    body, own = decl.node.body, own_name(decl)
    return Scope(project, decl, Words(body if isinstance(body, list) else [], own and f"{own}."), owner, depth)


class Mark(NamedTuple):
    """An attribute as a dotted word; `is_off` if it is done where this is false or None, and not where it is set."""

    word: str
    is_off: bool = False


def leaves_mark(scope: Scope, block: list[ast.stmt], mark: Mark) -> bool:
    """Whether a block sets a mark on every way through it."""
    root, dot, _ = mark.word.partition(".")
    if dot and any(isinstance(each, ast.Name) and each.id == root for node in nested(block) for each in stored(node)):
        return False
    return _Way(scope, mark, all).stands(block, False)


def is_flag(scope: Scope, block: list[ast.stmt], word: str) -> bool:
    """Whether a block says of some state only that something is done."""
    given = [value for node in nested(block) for name, value in _set(node, scope.words) if name == word]
    return bool(given) and all(isinstance(value, ast.Constant) and value.value is True for value in given)


def keeps_mark(scope: Scope, node: ast.If, mark: Mark) -> bool:
    """Whether a mark that stands where a function begins stands at one of its questions, and where it ends."""
    body = scope.decl.node.body
    way = _Way(scope._replace(depth=0), mark, any)
    if not isinstance(body, list) or not way.stands(body, True):
        return False
    stood = [there for each, there in way.asked if each is node]
    return not stood or any(stood)


class _Way:
    """The ways through statements: whether the mark stands on `join` (all or any) of them.

    `left` has how it stood where the function was left, `asked` how it stood at each `if`.
    """

    def __init__(self, scope: Scope, mark: Mark, join: Callable[[Iterable[bool]], bool]) -> None:
        self.scope = scope
        self.mark = mark
        self.join = join
        self.left: list[bool] = []
        self.asked: list[tuple[ast.If, bool]] = []

    def stands(self, block: list[ast.stmt], there: bool) -> bool:
        ends = [*_reached(self.run(block, there)), *self.left]
        return bool(ends) and self.join(ends)

    def run(self, block: list[ast.stmt], there: bool) -> bool | None:
        """How the mark stands behind a block; None if nothing gets there."""
        now: bool | None = there
        for node in block:
            if now is None:
                break
            now = self._step(node, now)
        return now

    def _step(self, node: ast.stmt, there: bool) -> bool | None:
        match node:
            case ast.If():
                self.asked.append((node, there))
                return self._join([self.run(arm, there) for arm in self._arms(node, there)])
            case ast.With() | ast.AsyncWith():
                return self.run(node.body, there)
            case ast.For() | ast.AsyncFor() | ast.While():
                return self._join([there, self.run(node.body, there)])
            case ast.Match():
                return self._join([there, *(self.run(case.body, there) for case in node.cases)])
            case ast.Raise():
                return None
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                return there
        if isinstance(node, TRIES):
            return self._try(node, there)
        now = self._simple(node, there)
        if isinstance(node, ast.Return):
            self.left.append(now)
            return None
        return now

    def _arms(self, node: ast.If, there: bool) -> list[list[ast.stmt]]:
        """The arms of an `if` that are reached with the mark as it stands: one of them, if the mark decides it."""
        asked, word = asks(node.test, self.scope.words), self.mark.word
        lacking, held = word in asked.lacking, word in asked.there
        # A compound condition says something only of a mark that stands.
        if lacking == held or (_is_compound(node.test) and (self.mark.is_off or not there)):
            return [node.body, node.orelse]
        return [node.body if held == (there != self.mark.is_off) else node.orelse]

    def _try(self, node: ast.Try, there: bool) -> bool | None:
        outer, self.left = self.left, []
        end = self.run([*node.body, *node.orelse], there)
        inner, self.left = self.left, outer
        # What leaves from `finally` itself is added on the way.
        left = [self.run(node.finalbody, each) for each in inner]
        self.left.extend(each for each in left if each is not None)
        return self._join([self.run(node.finalbody, each) for each in _reached(end)])

    def _join(self, ends: Iterable[bool | None]) -> bool | None:
        reached = [each for each in ends if each is not None]
        return self.join(reached) if reached else None

    def _simple(self, node: ast.stmt, there: bool) -> bool:
        value = getattr(node, "value", None)
        if not there and isinstance(value, ast.Call) and self.scope.depth and _hands_on(self.scope, value, self.mark):
            there = True
        for word, given in _set(node, self.scope.words):
            if word == self.mark.word:
                there = self._is_done(given)
        return there

    def _is_done(self, given: ast.expr | None) -> bool:
        if self.mark.is_off:
            return _is_false(given)
        return not _is_false(given) and (self.join is any or not self._may_be_false(given))

    def _may_be_false(self, given: ast.expr | None) -> bool:
        is_argument = isinstance(given, ast.Name) and given.id in self.scope.decl.signature.order
        return is_argument or isinstance(given, DOUBTFUL)


DOUBTFUL = (ast.BinOp, ast.BoolOp, ast.Compare, ast.UnaryOp)
"""Values that may be false, and be so on every call."""


def _reached(end: bool | None) -> list[bool]:
    return [] if end is None else [end]


def _is_false(value: ast.expr | None) -> bool:
    return isinstance(value, ast.Constant) and not value.value


def _is_compound(test: ast.expr) -> bool:
    while isinstance(test, ast.UnaryOp):
        test = test.operand
    return isinstance(test, ast.BoolOp)


def _set(node: ast.AST, words: Words) -> Iterator[tuple[str, ast.expr | None]]:
    """The state that a statement sets or clears, and what it is set to where that stands in an expression."""
    match node:
        case ast.Assign() | ast.AnnAssign():
            for target, value in _paired(node):
                if isinstance(target, ast.Attribute) or (isinstance(target, ast.Name) and target.id in words.outer):
                    yield words.word(target), value
                elif isinstance(target, ast.Subscript):
                    yield words.word(target.value), None
        case ast.Expr(value=ast.Call(func=ast.Name(id="setattr"), args=[owner, ast.Constant(value=str(name)), value])):
            yield f"{words.word(owner)}.{name}", value
        case ast.Expr(value=ast.Call(func=ast.Name(id="delattr"), args=[owner, ast.Constant(value=str(name))])):
            yield f"{words.word(owner)}.{name}", CLEARED
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=owner, attr="clear"))):
            yield words.word(owner), CLEARED
        case ast.Expr(value=ast.Call() as call):
            for word in put(call, words):
                yield word, None
        case ast.Delete(targets=targets):
            for target in targets:
                yield words.word(target), CLEARED


def _paired(node: ast.Assign | ast.AnnAssign) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    """What is bound, each with its value: `self.a, self.b = None, x` binds two."""
    value, targets = node.value, list(stored(node))
    if isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(targets) > 1:
        yield from zip(targets, value.elts)
    else:
        yield from ((each, value) for each in targets)


def _hands_on(scope: Scope, call: ast.Call, mark: Mark) -> bool:
    """Whether a call hands the object to a function that always sets the mark on it."""
    handed = [*_handed(scope, call, mark.word)]
    if not handed:
        return False
    callee = _callee(scope, call.func)
    owner = scope.owner if callee is not None and callee.owner is not None else None
    return callee is not None and any(
        sets_mark(scope._replace(decl=callee, owner=owner), place, mark._replace(word=rest)) for place, rest in handed
    )


def _handed(scope: Scope, call: ast.Call, word: str) -> Iterator[tuple[int | str, str]]:
    """The places among the arguments at which the object or its owner is handed, with the rest of the word."""
    places: list[tuple[int | str, ast.expr]] = []
    first = [call.func.value] if isinstance(call.func, ast.Attribute) and _is_own(scope, call.func.value) else []
    for place, each in enumerate((*first, *call.args)):
        if isinstance(each, ast.Starred):
            break
        places.append((place, each))
    places += [(each.arg, each.value) for each in call.keywords if each.arg is not None]
    for where, node in places:
        owner = scope.words.word(node)
        if owner and word.startswith(f"{owner}."):
            yield where, word[len(owner) :]


def _is_own(scope: Scope, node: ast.expr) -> bool:
    """Whether an expression is the object that a method runs on."""
    return isinstance(node, ast.Name) and f"{node.id}." == scope.words.own


def sets_mark(scope: Scope, place: int | str, mark: Mark) -> bool:
    """Whether a function always sets a mark on what it is given at a place among its arguments."""
    callee, name = scope.decl, mark.word.rpartition(".")[2]
    # A function that only hands the object on stands in a file that knows the mark.
    if not mentions(callee.node, name) and (scope.depth == 1 or name not in callee.module.source.text):
        return False
    node, named = callee.node, callee.signature.named
    if isinstance(place, int):
        place = named[place].arg if place < len(named) else ""
    if place not in callee.signature.order or not isinstance(node, ast.FunctionDef) or _is_generator(node):
        return False
    inner = scope_of(scope.project, callee, scope.owner, scope.depth - 1)
    return leaves_mark(inner, node.body, mark._replace(word=f"{place}{mark.word}"))


def _is_generator(node: ast.FunctionDef) -> bool:
    return any(isinstance(each, (ast.Yield, ast.YieldFrom)) for each in walk(node))


def _callee(scope: Scope, func: ast.expr) -> FunctionDecl | None:
    """The function of the tree that a name stands for where it is called."""
    decl = scope.decl
    if isinstance(func, ast.Attribute) and _is_own(scope, func.value):
        return None if scope.owner is None else method_of(scope.project, scope.owner, func.attr)
    root = func
    while isinstance(root, ast.Attribute):
        root = root.value
    if not isinstance(root, ast.Name) or root.id in decl.signature.order or not isinstance(decl.node.body, list):
        return None
    found = scope.project.dotted(decl.module, func)
    for each in nested(decl.node.body):
        if isinstance(each, (ast.Import, ast.ImportFrom)):
            bound = imported(decl.module, each, root.id)
            found = found if bound is None or root is not func else scope.project.follow(bound, decl.module)
        elif getattr(each, "name", "") == root.id or any(isinstance(t, ast.Name) and t.id == root.id for t in stored(each)):
            return None
    return found if isinstance(found, FunctionDecl) else None


def method_of(project: Project, owner: ClassDecl, name: str) -> FunctionDecl | None:
    """A method that gets its object as the first argument."""
    found = project.member(owner, name)
    if found is None or not isinstance(found[1][-1], ast.FunctionDef):
        return None
    base, symbols = found
    node = symbols[-1]
    assert isinstance(node, ast.FunctionDef)
    marks = {each.id for each in node.decorator_list if isinstance(each, ast.Name)}
    return None if marks & {"staticmethod", "classmethod", "property"} else base.module.function(node, base, name)
