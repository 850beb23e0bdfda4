"""Calls that no tensor takes: what an unknown object is given tells that it is none, whatever its method is called.

ext.norm(x, weight)      # a library of one's own: `norm` of a tensor takes a number there
"""

from __future__ import annotations

from graphlint.effects.table import lookup
from graphlint.values import Arguments, Tensor, Value

HELD = ("parameter", "buffer")


def is_misfit(name: str, arguments: Arguments) -> bool:
    """Whether a method of tensors is given an array where it takes a number, or more than it takes."""
    row = lookup(f"torch.Tensor.{name}")
    if row is None or arguments.more is not None:
        return False
    parameters = [each for each in row.parameters[1:] if each.form in ("positional", "star")]
    given = arguments.positional
    if len(given) > len(parameters) and not any(each.form == "star" for each in parameters):
        return True
    rest = [parameters[-1]] * max(len(given) - len(parameters), 0) if parameters else []
    return any(each.host and _is_array(value) for each, value in zip([*parameters, *rest], given))


def _is_array(value: Value) -> bool:
    """Whether a tensor cannot be a number: a parameter of a module, or one that has dimensions."""
    return isinstance(value, Tensor) and (value.role in HELD or bool(value.rank))
