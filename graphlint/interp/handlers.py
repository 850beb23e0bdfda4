"""Functions and methods that are known by name: the tables, and what those who fill them need."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from functools import partial
from importlib import import_module
from typing import TypeVar

from graphlint.interp.frame import Frame
from graphlint.values import (
    Arguments,
    External,
    Partial,
    Place,
    Tensor,
    Value,
    members,
)

K = TypeVar("K")
H = TypeVar("H")
FunctionHandler = Callable[[Frame, Arguments, ast.AST], Value]
MethodHandler = Callable[[Frame, Value, Arguments, ast.AST], Value]
FUNCTIONS: dict[str, FunctionHandler] = {}
METHODS: dict[tuple[type[Value], str], MethodHandler] = {}
MODULE_METHODS: dict[str, MethodHandler] = {}

LATER = {
    "operator.": "operator_functions",
    "torch.ops.aten.": "operator_functions",
    "torch.func.": "differentials",
    "torch.autograd.functional.": "differentials",
    "torch.nn.utils.stateless.": "differentials",
}
"""Modules of handlers that few files need, by how the names begin that they enter: imported when such a name is called."""
_BEGINNINGS = tuple(LATER)


def handler_of(name: str) -> FunctionHandler | None:
    """What runs a function that is known by name."""
    if name.startswith(_BEGINNINGS):
        for beginning, module in LATER.items():
            if name.startswith(beginning):
                import_module(f"graphlint.interp.{module}")
    return FUNCTIONS.get(name)


def entered(table: dict[K, H], keys: Iterable[K]) -> Callable[[H], H]:
    """A decorator that enters a function in a table under these keys."""

    def enter(handler: H) -> H:
        table.update(dict.fromkeys(keys, handler))
        return handler

    return enter


def function(*names: str) -> Callable[[FunctionHandler], FunctionHandler]:
    """Enter a function for these dotted names."""
    return entered(FUNCTIONS, names)


def later(name: str, arguments: Arguments) -> Partial:
    """A function that another gives back, with what it kept; what runs it is entered under the name with `.made`."""
    return Partial(External(f"{name}.made"), arguments)


def made_by(
    *names: str, kept: Callable[[Arguments], Arguments] = lambda given: given
) -> Callable[[FunctionHandler], FunctionHandler]:
    """Enter a function for what functions of these names give back: it gets what they kept, and then what it is given."""

    FUNCTIONS.update({name: partial(_made_later, name, kept) for name in names})
    return entered(FUNCTIONS, [f"{name}.made" for name in names])


def _made_later(
    name: str, kept: Callable[[Arguments], Arguments], frame: Frame, arguments: Arguments, node: ast.AST
) -> Value:
    return later(name, kept(arguments))


def method(kind: type[Value], *names: str) -> Callable[[MethodHandler], MethodHandler]:
    """Enter a function for these methods of a type of value."""
    return entered(METHODS, [(kind, name) for name in names])


def module_method(*names: str) -> Callable[[MethodHandler], MethodHandler]:
    """Enter a function for these methods that classes of the tree have from `nn.Module`."""
    return entered(MODULE_METHODS, names)


def first(arguments: Arguments, position: int = 0, name: str = "") -> Value | None:
    """The argument at a position or of a name."""
    if position < len(arguments.positional):
        return arguments.positional[position]
    return arguments.keyword(name) if name else arguments.more


def device_tensor(value: Value | None) -> Tensor | None:
    """A device tensor among the members of a value itself, not inside its containers."""
    for member in members(value) if value is not None else ():
        if isinstance(member, Tensor) and member.place is Place.DEVICE:
            return member
    return None
