"""A call described in text, as measurements record it, and the facts that a row's conditions ask of it.

    float32[5, 5]@device, 'fro', [-2, -1], keepdim=True

is a 5x5 tensor on the device, two constants' worth of positional arguments and a keyword.  Places are `device`,
`host` and `pinned`; other words (`torch.float32`, `Ellipsis`) stand for objects of no interest.
"""

from __future__ import annotations

import ast
import math
import re

from graphlint.effects.conditions import UNKNOWN
from graphlint.effects.grammar import MISSING, Parameter, Row
from graphlint.record import NamedTuple

_TENSOR = re.compile(r"(\w+)\[([\d, ]*)\]@(\w+)")


class Described(NamedTuple):
    """A tensor of a recorded call."""

    dtype: str
    shape: tuple[int, ...]
    place: str

    @property
    def kind(self) -> str:
        if self.dtype == "bool":
            return "bool"
        return next((word for word in ("float", "complex") if word in self.dtype), "int")


class Opaque(NamedTuple):
    """An argument that is neither a tensor nor a constant, such as a dtype."""

    text: str


class CallText(NamedTuple):
    arguments: list[object]
    keywords: dict[str, object]


def read_call(text: str) -> CallText:
    """The arguments that the text describes."""
    spelled = _TENSOR.sub(lambda m: f"T('{m[1]}', ({m[2]}{',' if m[2] else ''}), '{m[3]}')", text)
    call = ast.parse(f"f({spelled})", mode="eval").body
    assert isinstance(call, ast.Call)
    return CallText([_value(node) for node in call.args], {k.arg or "": _value(k.value) for k in call.keywords})


def _value(node: ast.expr) -> object:
    match node:
        case ast.Call(func=ast.Name(id="T"), args=args):
            return Described(*(ast.literal_eval(arg) for arg in args))
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return [_value(item) for item in items]
    text = ast.unparse(node)
    if text.lstrip("-") in ("inf", "nan"):
        return float(text)
    try:
        return ast.literal_eval(node)
    except ValueError:
        return Opaque(text)


class DescribedCall:
    """One described call bound to a row's parameters; answers as `conditions.ArgumentFacts`."""

    def __init__(self, row: Row, call: CallText, *, training: bool | None = None, grad: bool | None = None) -> None:
        self.row = row
        self.values = _bind(row.parameters, call)
        self._training, self._grad = training, grad

    def value(self, parameter: str) -> object:
        """The argument, or the parameter's default, or MISSING."""
        if parameter in self.values:
            return self.values[parameter]
        return next((p.default for p in self.row.parameters if p.name == parameter), MISSING)

    def tensors(self, parameter: str) -> list[Described]:
        """The tensors that the argument is or contains."""
        return list(_tensors(self.value(parameter)))

    def device(self, parameter: str) -> bool | None:
        return any(tensor.place == "device" for tensor in self.tensors(parameter))

    def host(self, parameter: str) -> bool | None:
        return any(tensor.place != "device" for tensor in self.tensors(parameter))

    def pinned(self, parameter: str) -> bool | None:
        return any(tensor.place == "pinned" for tensor in self.tensors(parameter))

    def is_object(self, parameter: str) -> bool | None:
        return False

    def tensor(self, parameter: str) -> bool | None:
        return bool(self.tensors(parameter))

    def scalar(self, parameter: str) -> bool | None:
        return self.rank(parameter) == 0

    def number(self, parameter: str) -> bool | None:
        return isinstance(self.value(parameter), (int, float, complex))

    def is_list(self, parameter: str) -> bool | None:
        return isinstance(self.value(parameter), list)

    def missing(self, parameter: str) -> bool | None:
        return parameter not in self.values

    def none(self, parameter: str) -> bool | None:
        return self.value(parameter) is None

    def constant(self, parameter: str) -> object:
        value = self.value(parameter)
        return value if isinstance(value, (bool, int, float, str, type(None))) else UNKNOWN

    def rank(self, parameter: str) -> int | None:
        return max((len(tensor.shape) for tensor in self.tensors(parameter)), default=None)

    def kind(self, parameter: str) -> str | None:
        return next((tensor.kind for tensor in self.tensors(parameter)), None)

    def nonempty(self, parameter: str) -> bool | None:
        value = self.value(parameter)
        return len(value) > 0 if isinstance(value, list) else None

    def one(self, parameter: str) -> bool | None:
        value = self.value(parameter)
        return len(value) == 1 if isinstance(value, list) else None

    def elements(self, parameter: str) -> int | None:
        return next((math.prod(tensor.shape) for tensor in self.tensors(parameter)), None)

    def square(self, parameter: str) -> bool | None:
        shapes = [tensor.shape for tensor in self.tensors(parameter)]
        return len(shapes[0]) > 1 and shapes[0][-1] == shapes[0][-2] if shapes else None

    def training(self) -> bool | None:
        return self._training

    def grad(self) -> bool | None:
        return self._grad


def _tensors(value: object) -> list[Described]:
    if isinstance(value, Described):
        return [value]
    return [tensor for item in value for tensor in _tensors(item)] if isinstance(value, list) else []


def _bind(parameters: tuple[Parameter, ...], call: CallText) -> dict[str, object]:
    values: dict[str, object] = dict(call.keywords)
    given = list(call.arguments)
    for parameter in parameters:
        if parameter.form == "star" and given:
            values[parameter.name] = given[0] if len(given) == 1 and isinstance(given[0], list) else given
            given = []
        elif parameter.form == "positional" and given:
            values[parameter.name] = given.pop(0)
    if given:
        raise ValueError(f"{len(given)} arguments too many")
    return values
