"""What a file switches, once for all: `Distribution.set_default_validate_args(False)`, the device, the mode of modules."""

from __future__ import annotations

import ast

from graphlint.effects.grammar import MISSING
from graphlint.interp.frame import Frame
from graphlint.modules import once_a_module
from graphlint.project import Module
from graphlint.syntax import last_called, walk

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


@once_a_module
def mode(module: Module) -> bool | None:
    """Whether all modules that a file switches train, or, where it computes without gradients, all are evaluated."""
    text = module.source.text
    if ".train(" not in text and ".eval()" not in text:
        return None
    modes = {_mode(each) for each in walk(module.source.tree) if isinstance(each, ast.Call)} - {None}
    if modes == {False}:
        return False if any(word in text for word in UNLEARNED) else None
    return True if modes == {True} else None


UNLEARNED = ("no_grad", "inference_mode", "requires_grad_(False)", "requires_grad = False")
"""How a file says that it does not train; a backward pass would go through modules in evaluation as well."""


def _mode(call: ast.Call) -> object:
    """The mode that a call of `train` or `eval` sets, MISSING where it is computed; None of any other call."""
    match call:
        case ast.Call(func=ast.Attribute(attr="eval"), args=[], keywords=[]):
            return False
        case ast.Call(func=ast.Attribute(attr="train"), args=args, keywords=words):
            given = [*args, *(each.value for each in words)]
            modes = [bool(each.value) if isinstance(each, ast.Constant) else MISSING for each in given]
            return modes[0] if modes else True
    return None


DEVICE_SETTERS = ("set_default_device", "set_default_tensor_type")


@once_a_module
def is_device_default(module: Module) -> bool:
    """Whether a file makes a device the place of tensors that name none; it may set it back, out of sight of a call."""
    text = module.source.text
    return any(each in text for each in DEVICE_SETTERS) and any(
        last_called(each) in DEVICE_SETTERS
        and any(not _is_host(given) for given in (*each.args, *(word.value for word in each.keywords)))
        for each in walk(module.source.tree)
        if isinstance(each, ast.Call)
    )


def _is_host(given: ast.expr) -> bool:
    """The host by name, the default of the default, or a type of tensors on the host."""
    if isinstance(given, ast.Call) and last_called(given) == "device" and given.args:
        return _is_host(given.args[0])
    if isinstance(given, ast.Constant):
        return given.value is None or (isinstance(given.value, str) and "cuda" not in given.value)
    text = ast.unparse(given)
    return "Tensor" in text and "cuda" not in text
