"""Defaults that a file changes for the whole process: `Distribution.set_default_validate_args(False)`."""

from __future__ import annotations

import ast

from graphlint.effects.grammar import MISSING
from graphlint.interp.frame import Frame
from graphlint.syntax import walk

SETTERS = {"validate_args": "set_default_validate_args"}
"""The function that sets what a parameter is where nobody gives it (torch 2.13 documentation)."""


def changed(frame: Frame, parameter: str) -> object:
    """The constant that the file of the frame makes the default of a parameter, MISSING where it makes none."""
    setter = SETTERS.get(parameter)
    source = frame.module.source
    if setter is None or setter not in source.text:
        return MISSING
    given = [each.args[0] for each in walk(source.tree) if isinstance(each, ast.Call) and _sets(each, setter)]
    values = {each.value for each in given if isinstance(each, ast.Constant)}
    return values.pop() if len(values) == 1 and all(isinstance(each, ast.Constant) for each in given) else MISSING


def _sets(call: ast.Call, setter: str) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr == setter and len(call.args) == 1
