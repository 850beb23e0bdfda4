"""What calling, reading an attribute, indexing and iterating mean, by the type of the value.

Each table is filled by the modules that know a type; a union is asked member by member.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TypeVar

from graphlint.events import UnknownCall
from graphlint.interp.frame import Frame
from graphlint.syntax import spelled
from graphlint.values import (
    Arguments,
    Candidate,
    Method,
    Nothing,
    Opaque,
    Seq,
    Union,
    Unknown,
    Value,
    join_all,
    one_of,
)

SOMETHING = "something"
"""What an unknown call may use of the libraries that a first use sets up."""

Caller = Callable[..., Value]
Reader = Callable[..., Value]
C = TypeVar("C", bound=Callable[..., Value])

CALLS: dict[type[Value], Caller] = {}
ATTRIBUTES: dict[type[Value], Reader] = {}
ITEMS: dict[type[Value], Reader] = {}
ELEMENTS: dict[type[Value], Reader] = {}


def register(table: dict[type[Value], Callable[..., Value]], *kinds: type[Value]) -> Callable[[C], C]:
    """Enter a function for these types of value."""

    def enter(function: C) -> C:
        for kind in kinds:
            table[kind] = function
        return function

    return enter


def apply(frame: Frame, callee: Value, arguments: Arguments, node: ast.AST) -> Value:
    """The value of calling something; of several things that may be meant, each is called and the values are joined."""
    if isinstance(callee, Union):
        callees = [member for member in callee.members if not isinstance(member, Nothing)]
        # Methods of what one thing may be are one function; others are several.
        several = sum(not isinstance(member, Method) for member in callees) > 1
        frame.choosing += several
        found = [apply(frame, member, arguments, node) for member in callees]
        frame.choosing -= several
        value = join_all(found) if found else Unknown()
        # Which class an object of an abstract type has, only the caller of the region knows.
        return one_of(value) if any(isinstance(member, Candidate) for member in callees) else value
    if isinstance(callee, Opaque):
        return Unknown() if any(True for _ in arguments.values()) else Opaque()
    handler = CALLS.get(type(callee))
    if handler is None:
        count_unknown(frame, node)
        return Unknown()
    return handler(frame, callee, arguments, node)


def count_unknown(frame: Frame, node: ast.AST) -> None:
    """Count a call of which nothing is known; whatever libraries do may happen in it."""
    frame.machine.libraries.add(SOMETHING)
    if frame.recording and frame.live:
        text = spelled(node.func) if isinstance(node, ast.Call) else type(node).__name__
        frame.emit(UnknownCall, node, call=text)


def attribute(frame: Frame, value: Value, name: str, node: ast.AST) -> Value:
    """The value of `value.name`; of what may be several things, any that has it."""
    if isinstance(value, Union):
        found = [attribute(frame, member, name, node) for member in value.members if not isinstance(member, Nothing)]
        return join_all(found) if found else Unknown()
    if isinstance(value, Opaque):
        return value
    handler = ATTRIBUTES.get(type(value))
    return Unknown() if handler is None else handler(frame, value, name, node)


def item(frame: Frame, value: Value, index: Value, node: ast.AST) -> Value:
    """The value of `value[index]`; of what may be several containers, any that holds something."""
    if isinstance(value, Union):
        found = [item(frame, member, index, node) for member in value.members if _holds_any(member)]
        return join_all(found) if found else Unknown()
    if isinstance(value, Opaque):
        return value
    handler = ITEMS.get(type(value))
    return Unknown() if handler is None else handler(frame, value, index, node)


def _holds_any(value: Value) -> bool:
    """Whether there is anything to be had: where a list is still empty, nothing is taken from it."""
    return not isinstance(value, Nothing) and not (isinstance(value, Seq) and value.items == () and value.rest is None)


def element(frame: Frame, value: Value, node: ast.AST) -> Value:
    """Any one value that iterating over `value` gives."""
    if isinstance(value, Union):
        found = [element(frame, member, node) for member in value.members if _holds_any(member)]
        return join_all(found) if found else Unknown()
    if isinstance(value, Opaque):
        return value
    handler = ELEMENTS.get(type(value))
    return Unknown() if handler is None else handler(frame, value, node)
