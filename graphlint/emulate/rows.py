"""Which operator a capture refuses under which arguments, read from `aten.rows`.

A condition may use the names of the operator's arguments and these words:

    host(p)       p is or holds a host tensor         device(p)    p is or holds a device tensor
    mask(p)       p is or holds a bool or uint8 one on the device      hostmask(p)   the same on the host
    count(p)      how many tensors p holds
    given(p)      p is not None                       numel(p)     how many elements the tensor p has
    rank(p)       its rank                            size(p, n)   its size in dimension n
    dtype(p)      its dtype's name                    same_shape(p, q)   both have the same shape
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from types import CodeType
from typing import Any

import torch

from graphlint.emulate.tensor import DeviceTensor

EFFECTS = {
    "read": ("AcceleratorError", "operation not permitted when stream is capturing: the host reads a device value"),
    "shape": ("AcceleratorError", "operation not permitted when stream is capturing: the size depends on device values"),
    "sync": ("AcceleratorError", "operation not permitted when stream is capturing: the host waits for the device"),
    "h2d": ("RuntimeError", "cannot copy from pageable host memory to the device during capture"),
    "d2h": ("RuntimeError", "cannot copy from the device to pageable host memory during capture"),
    "solver": ("RuntimeError", "a library handle or workspace is set up during capture"),
    "event": ("AcceleratorError", "operation not permitted on an event last recorded in a capturing stream"),
    "generator": ("RuntimeError", "a generator that is not registered with the graph is drawn from"),
    "refused": ("RuntimeError", "not permitted during capture"),
    "seed": ("RuntimeError", "a generator is seeded or made during capture"),
    "unjoined": ("AcceleratorError", "a stream that took part in the capture was not joined before its end"),
    "communicator": ("DistBackendError", "the first collective of a group makes its communicator, which a warm-up must do"),
    "isolation": ("AcceleratorError", "dependency created on uncaptured work in another stream"),
}
LIBRARIES = ("cublas", "cudnn", "cusolver")
EFFECTS |= {
    each: ("RuntimeError", f"the first use of {each} sets it up, which a warm-up must have done") for each in LIBRARIES
}
_ROW = re.compile(
    r"(?P<name>[\w:.]+) "
    r"(?:! (?P<effect>\w+)(?: when (?P<when>.+?))?|~ (?P<accepts>.+?)|> (?P<place>\d+)) @ (?P<how>.+)$"
)
_NODES = (ast.Expression, ast.BoolOp, ast.And, ast.Or, ast.UnaryOp, ast.Not, ast.USub, ast.Compare, ast.Eq, ast.NotEq,
          ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Is, ast.IsNot, ast.In, ast.Call, ast.Name, ast.Load, ast.Constant,
          ast.Tuple, ast.BinOp, ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow)  # fmt: skip


class RowError(ValueError):
    """A row that does not follow the form; the message shows it."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table; an empty `effect` says that host operands are accepted, or which result is on the host."""

    name: str
    effect: str
    condition: CodeType
    how: str
    place: int = -1

    def holds(self, arguments: Mapping[str, object]) -> bool:
        """Words win over arguments of the same name, such as `device`."""
        return bool(eval(self.condition, {"__builtins__": {}, **arguments}, WORDS))  # checked by `compiled`


def _tensors(value: object) -> list[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, (list, tuple)):
        return [each for each in value if isinstance(each, torch.Tensor)]
    return []


def _host(value: object) -> bool:
    return any(not isinstance(each, DeviceTensor) for each in _tensors(value))


def _device(value: object) -> bool:
    return any(isinstance(each, DeviceTensor) for each in _tensors(value))


def _masks(value: object) -> list[torch.Tensor]:
    return [each for each in _tensors(value) if each.dtype in (torch.bool, torch.uint8)]


def _numel(value: object) -> int:
    return sum(each.numel() for each in _tensors(value))


def _same_shape(one: object, other: object) -> bool:
    return [each.shape for each in _tensors(one)] == [each.shape for each in _tensors(other)]


WORDS: dict[str, Callable[..., object]] = {
    "host": _host,
    "device": _device,
    "mask": lambda value: _device(_masks(value)),
    "hostmask": lambda value: _host(_masks(value)),
    "count": lambda value: len(_tensors(value)),
    "given": lambda value: value is not None,
    "numel": _numel,
    "rank": lambda value: value.dim(),
    "size": lambda value, n: value.shape[n],
    "dtype": lambda value: str(_tensors(value)[0].dtype)[6:],
    "same_shape": _same_shape,
}


def compiled(condition: str) -> CodeType:
    """The code of a condition that uses nothing but operators, argument names and the words above."""
    tree = ast.parse(condition, mode="eval")
    for node in ast.walk(tree):
        calls_word = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in WORDS
        if not isinstance(node, _NODES) or (isinstance(node, ast.Call) and not calls_word):
            raise RowError(f"`{condition}` is not a condition")
    return compile(tree, "<condition>", "eval")


def parsed(lines: Iterable[str]) -> dict[str, list[Row]]:
    """Rows by operator name, in the order they are written."""
    table: dict[str, list[Row]] = {}
    for line in filter(None, (each.split("#")[0].strip() for each in lines)):
        found = _ROW.match(line)
        if found is None or (found["effect"] and found["effect"] not in EFFECTS):
            raise RowError(f"`{line}` is not a row")
        condition = compiled(found["when"] or found["accepts"] or "True")
        row = Row(found["name"], found["effect"] or "", condition, found["how"], int(found["place"] or -1))
        table.setdefault(row.name, []).append(row)
    return table


@lru_cache(maxsize=1)
def table() -> dict[str, list[Row]]:
    """The rows that ship with the package."""
    return parsed(files("graphlint.emulate").joinpath("aten.rows").read_text().splitlines())


@lru_cache(maxsize=1)
def known() -> frozenset[str]:
    """Operators that were seen inside a capture that went through, from `known.words`."""
    path = files("graphlint.emulate").joinpath("known.words")
    text = path.read_text() if path.is_file() else ""
    return frozenset(word for line in text.splitlines() for word in line.split("#")[0].split())


def rows_for(func: Any) -> list[Row]:
    """The rows of one overload: those of its own name and those of all overloads."""
    name = func.name()
    every = [*table().get(name, ()), *table().get(name.split(".")[0], ())]
    return every if "." in name else [*table().get(name, ()), *table().get(f"{name}.default", ())]
