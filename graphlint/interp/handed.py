"""Where parameters go, as what a callee does with one says what it is; and whose it is that a caller gives.

def scale(data):                          data = self.prepare(x)      # made by this call: the next one makes another
    data["x"] = data["x"] * 2             scale(data)
                                          scale(self.state)           # outlives it
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from graphlint.events import HostMutation
from graphlint.interp.binding import own_name, parameters, receiver_missing
from graphlint.interp.frame import Link, Summary
from graphlint.project import ClassDecl, FunctionDecl
from graphlint.syntax import argument, last_called

if TYPE_CHECKING:
    from graphlint.interp.machine import Machine


def handed(machine: Machine, decl: FunctionDecl, owner: ClassDecl | None, name: str) -> Iterator[tuple[FunctionDecl, str]]:
    """The functions of the tree that are given a parameter as it is, each with what it calls it.

    `owner` is the class of the object that a method runs on: its own methods come before those of the bases.
    """
    for call in decl.every(ast.Call):
        place = _place(call, name)
        callee = None if place is None else _callee(machine, decl, owner, call.func)
        parameter = None if callee is None or place is None else _parameter(callee, call.func, place)
        if callee is not None and parameter is not None:
            yield callee, parameter


def _place(call: ast.Call, name: str) -> int | str | None:
    """The position or keyword under which a call gives a name; None behind a star, where positions are unknown."""
    for position, arg in enumerate(call.args):
        if isinstance(arg, ast.Starred):
            break
        if isinstance(arg, ast.Name) and arg.id == name:
            return position
    for keyword in call.keywords:
        if keyword.arg is not None and isinstance(keyword.value, ast.Name) and keyword.value.id == name:
            return keyword.arg
    return None


def _callee(machine: Machine, decl: FunctionDecl, owner: ClassDecl | None, func: ast.expr) -> FunctionDecl | None:
    match func:
        case ast.Attribute(value=ast.Name(id=receiver), attr=attr) if owner is not None and receiver == own_name(decl):
            member = machine.project.member(owner, attr)
            if member is None or not isinstance(member[1][-1], (ast.FunctionDef, ast.AsyncFunctionDef)):
                return None
            return member[0].module.function(member[1][-1], member[0], attr)
    found = machine.project.dotted(decl.module, func)
    return found if isinstance(found, FunctionDecl) else None


def _parameter(callee: FunctionDecl, func: ast.expr, place: int | str) -> str | None:
    named = parameters(callee)
    if isinstance(place, str):
        return place if place in callee.signature.order else None
    place += callee.owner is not None and not receiver_missing(callee)
    return named[place].arg if place < len(named) else None


MADE = (ast.Dict, ast.List, ast.DictComp, ast.ListComp)
FETCHING = ("get", "next", "pop", "setdefault")
"""First letters of what is called to hand out something that is kept elsewhere."""
Calls = dict[Summary, list[tuple[Summary, Link]]]


class Whose:
    """The calls below the summary of a region, which are only gone through once something asks for them."""

    __slots__ = ("_calls", "_root")

    def __init__(self, root: Summary) -> None:
        self._root = root
        self._calls: Calls | None = None

    def is_passing(self, here: Summary, event: HostMutation) -> bool:
        """Whether the container of an entry is made anew by every call of the region."""
        name = event.target.partition("[")[0]
        if event.what != "entry" or not event.why or "." in name:
            return False
        return self._is_made(here, name, event.span.line, frozenset())

    def _is_made(self, here: Summary, name: str, line: int, asked: frozenset[Summary]) -> bool:
        if here.decl is None or here in asked:
            return False
        bound = list(_bound(here.decl, name, line))
        if not all(map(_is_new, bound)):
            return False
        if any(isinstance(each, (*MADE, ast.Call)) for each in bound):
            return True
        calls = self._below().get(here, [])
        return bool(calls) and all(self._gives_new(here, name, *call, asked | {here}) for call in calls)

    def _gives_new(self, here: Summary, name: str, caller: Summary, link: Link, asked: frozenset[Summary]) -> bool:
        """Whether a call gives a function something new for a parameter."""
        assert here.decl is not None
        node = None if caller.decl is None else _at(caller.decl, link)
        given = None if node is None else _argument(node, here.decl, name)
        if isinstance(given, ast.Name) and node is not None:
            return self._is_made(caller, given.id, node.lineno, asked)
        return given is not None and _is_new(given)

    def _below(self) -> Calls:
        if self._calls is None:
            self._calls = {}
            waiting = [self._root]
            while waiting:
                here = waiting.pop()
                for link in here.links:
                    if link.summary not in self._calls:
                        waiting.append(link.summary)
                    self._calls.setdefault(link.summary, []).append((here, link))
        return self._calls


def _bound(decl: FunctionDecl, name: str, line: int) -> Iterator[ast.expr]:
    """What a variable is bound to before a line, but for itself; both arms of a conditional."""
    for each in decl.every(ast.Assign):
        if each.lineno < line and any(isinstance(to, ast.Name) and to.id == name for to in each.targets):
            arms = (each.value.body, each.value.orelse) if isinstance(each.value, ast.IfExp) else (each.value,)
            yield from (arm for arm in arms if not (isinstance(arm, ast.Name) and arm.id == name))


def _is_new(value: ast.expr) -> bool:
    return isinstance(value, MADE) or (isinstance(value, ast.Call) and not last_called(value).startswith(FETCHING))


def _at(decl: FunctionDecl, link: Link) -> ast.Call | None:
    end = (link.span.end_line, link.span.end_column)
    return next((each for each in decl.every(ast.Call) if (each.end_lineno, each.end_col_offset) == end), None)


def _argument(node: ast.Call, callee: FunctionDecl, name: str) -> ast.expr | None:
    """What a call gives for a parameter; None where that cannot be told."""
    has_own = callee.owner is not None and not receiver_missing(callee)
    return argument(node, [each.arg for each in parameters(callee)][has_own:], name)
