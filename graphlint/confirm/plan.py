"""What a child is told to do: one target, how to build it and what to try; plain data that survives JSON.

target   path/to/file.py:make_case    a factory in a file
         pkg.mod:make_case            a factory in a module
         pkg.mod:Model                an `nn.Module` class, with `--init k=v` and `--input name=float32[2,16,64]`
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from graphlint.errors import UsageError, near

FORM = "write `path/to/file.py:make_case` or `package.module:make_case`"
DTYPES = (
    "float32", "float64", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool", "complex64",
)  # fmt: skip
SPEC = re.compile(r"(?P<dtype>\w+)\[(?P<shape>[^\]]*)\](?:@(?P<device>[\w:]+))?(?:=(?P<values>.+))?$")
INPUT = "write `name=float32[2,16,64]`, with `@cpu` for the host and `=0..99`, `=ones`, `=zeros`, `=arange` for values"
VALUES = ("ones", "zeros", "arange", "rand", "randn", "sorted")


@dataclass(frozen=True, slots=True)
class InputSpec:
    """One input of a module; a dimension that is a word is filled in by `--shapes`. `values` may be empty, `low..high`."""

    name: str
    dtype: str
    shape: tuple[int | str, ...]
    device: str = ""
    values: str = ""


@dataclass(frozen=True, slots=True)
class Options:
    """What to try and how hard; times in seconds, memory in GiB (0: no limit of ours); `ranks` 0 is a single process."""

    device: str = "auto"
    warmup: int = 3
    replays: int = 3
    seed: int = 0
    mode: str = "global"
    timeout: float = 300.0
    memory: float = 0.0
    worth: bool = True
    compile: bool = False
    graphed: bool = False
    shapes: str = ""
    lengths: tuple[int, ...] = ()
    ranks: int = 0


@dataclass(frozen=True, slots=True)
class Plan:
    """One target; exactly one of `path` and `module` is set. `root` is the folder that relative imports may need."""

    target: str
    name: str
    path: str = ""
    module: str = ""
    root: str = ""
    init: dict[str, Any] = field(default_factory=dict)
    inputs: tuple[InputSpec, ...] = ()
    options: Options = Options()

    @property
    def source(self) -> str:
        return self.path or self.module


def parse_target(text: str, options: Options, root: Path) -> Plan:
    """The plan that a target's text names; raises `UsageError` saying how one is written."""
    where, colon, name = text.rpartition(":")
    if not colon or not where or not re.fullmatch(r"[^\W\d]\w*(\.[^\W\d]\w*)*", name):
        raise UsageError(f"`{text}` is not a target", FORM)
    base = Path(os.path.abspath(root))
    if where.endswith(".py") or os.sep in where:
        path = base / where
        if not path.is_file():
            raise UsageError(f"`{where}` is not a file", FORM)
        return Plan(text, name, path=str(path), root=str(base), options=options)
    return Plan(text, name, module=where, root=str(base), options=options)


def parse_input(text: str) -> InputSpec:
    """`name=float32[2,16,64]@cuda=0..9`; raises `UsageError`."""
    name, equals, rest = text.partition("=")
    found = SPEC.match(rest)
    if not equals or not name.isidentifier() or found is None:
        raise UsageError(f"`{text}` is not an input", INPUT)
    if found["dtype"] not in DTYPES:
        raise UsageError(f"`{found['dtype']}` is not a dtype", near(found["dtype"], DTYPES) or ", ".join(DTYPES))
    values = found["values"] or ""
    if values and values not in VALUES and not re.fullmatch(r"-?[\d.]+?\.\.-?[\d.]+", values):
        raise UsageError(f"`{values}` does not say how to fill `{name}`", f"use low..high or {', '.join(VALUES)}")
    return InputSpec(name, found["dtype"], _shape(found["shape"], text), found["device"] or "", values)


def _shape(text: str, whole: str) -> tuple[int | str, ...]:
    words = [word.strip() for word in text.split(",") if word.strip()]
    if all(word.isdigit() or word.isidentifier() for word in words):
        return tuple(int(word) if word.isdigit() else word for word in words)
    raise UsageError(f"`{whole}` has a dimension that is neither a number nor a name", INPUT)


def parse_init(text: str) -> tuple[str, Any]:
    """`key=value`, the value read as a Python literal, or as text where it is none."""
    key, equals, value = text.partition("=")
    if not equals or not key.isidentifier():
        raise UsageError(f"`{text}` is not `key=value`", "write `--init hidden_size=64`")
    try:
        return key, ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return key, value


def encode(plan: Plan) -> dict[str, Any]:
    """A plan as JSON holds it, for the child process; `decode` reads it back."""
    return asdict(plan)


def decode(plain: Mapping[str, Any]) -> Plan:
    """The plan that `encode` wrote."""
    inputs = tuple(InputSpec(**{**each, "shape": tuple(each["shape"])}) for each in plain["inputs"])
    options = {**plain["options"], "lengths": tuple(plain["options"]["lengths"])}
    return Plan(**{**plain, "inputs": inputs, "options": Options(**options)})


def configured(table: Mapping[str, object] | None) -> Iterable[Mapping[str, object]]:
    """The entries of `[tool.graphlint.confirm] targets`: texts, or tables with `target`, `init`, `input`."""
    targets = (table or {}).get("targets", [])
    if not isinstance(targets, list):
        raise UsageError("`confirm.targets` must be a list", 'write `targets = ["model.py:make_case"]`')
    for each in targets:
        yield {"target": each} if isinstance(each, str) else each
