"""Assignments to attributes that no replay can miss: nothing of one call is carried over into the next by them."""

from __future__ import annotations

import ast

from graphlint.interp.fields import is_record
from graphlint.interp.frame import Frame
from graphlint.interp.members import methods
from graphlint.interp.objects import is_module
from graphlint.outline import mentions
from graphlint.project import ClassDecl
from graphlint.syntax import nested
from graphlint.values import Instance


def carries_nothing(frame: Frame, lasting: list[Instance], target: ast.Attribute) -> bool:
    """Whether a rebound attribute is a message of this call, not state that the next one starts from."""
    if all(_is_message(frame, each, target) for each in lasting):
        return True
    return all(_is_used_up(frame, each.decl, target) for each in lasting)


def _is_message(frame: Frame, owner: Instance, target: ast.Attribute) -> bool:
    """An object that is made anew for every call: a record given as an argument, or what others write to."""
    if owner.arguments is not None or is_module(frame.machine, owner.decl):
        return False
    if is_record(frame.machine.project, owner.decl):
        return True
    return isinstance(target.value, ast.Name) and frame.env.get(target.value.id) is owner is not frame.receiver


def _is_used_up(frame: Frame, owner: ClassDecl, target: ast.Attribute) -> bool:
    """Whether whoever reads an attribute deletes it."""
    known, key = frame.machine.read.used_up, (owner, target.attr)
    if key not in known:
        known[key] = any(
            isinstance(part, ast.Attribute) and part.attr == target.attr
            for _, method in methods(frame.machine, owner)
            if mentions(method, f".{target.attr}") and mentions(method, "del ")
            for each in nested(method.body)
            if isinstance(each, ast.Delete)
            for part in each.targets
        )
    return known[key]
