"""Where a function hands its parameters on by name: what a callee does with one says what it is."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from graphlint.interp.binding import own_name, parameters, receiver_missing
from graphlint.project import ClassDecl, FunctionDecl

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
