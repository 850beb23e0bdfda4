"""Functions that a module is told to run over its parts: `module.apply(function)` over modules, `_apply` over tensors."""

from __future__ import annotations

import ast

from graphlint.interp.dispatch import apply
from graphlint.interp.frame import Frame
from graphlint.interp.handlers import first, module_method
from graphlint.interp.modules import PARAMETER, submodule
from graphlint.values import Arguments, Unknown, Value, join, members


@module_method("apply")
def over_modules(frame: Frame, receiver: Value, arguments: Arguments, node: ast.AST) -> Value:
    """The parts come first; what runs before a capture, such as setting weights, is no part of it."""
    function = first(arguments, 0, "fn")
    if function is not None and frame.recording:
        for each in members(join(receiver, submodule(frame, receiver))):
            if not isinstance(each, Unknown):
                apply(frame, function, Arguments((each,)), node)
    return receiver


@module_method("_apply")
def over_tensors(frame: Frame, receiver: Value, arguments: Arguments, node: ast.AST) -> Value:
    function = first(arguments, 0, "fn")
    if function is not None and frame.recording:
        apply(frame, function, Arguments((PARAMETER,)), node)
    return receiver
