"""What the emulation needs to know of one operator, read from its schema once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import torch

from graphlint.emulate.rows import Row, compiled, known, rows_for

_SAFE_TAGS = ("pointwise", "inplace_view")
_TAGS = {"data_dependent_output": "read", "dynamic_output_shape": "shape"}
"""What an operator's tag says that the host must learn from the device, for operators that nobody measured."""


@dataclass(frozen=True, slots=True)
class Plan:
    """`refusals`, `accepts` and `on_host` are the operator's rows; `writes` the names of the arguments it changes.

    `is_known` says that a capture was seen to go through with it, or that its schema leaves nothing to doubt.
    """

    name: str
    parameters: tuple[str, ...]
    refusals: tuple[Row, ...]
    accepts: tuple[Row, ...]
    on_host: tuple[int, ...]
    writes: tuple[str, ...]
    is_view: bool
    is_random: bool
    is_known: bool

    def bound(self, args: tuple[Any, ...], kwargs: dict[str, Any], defaults: dict[str, Any]) -> dict[str, Any]:
        return {**defaults, **dict(zip(self.parameters, args)), **kwargs}


@cache
def plan_of(func: Any) -> Plan:
    """What the rows, tags and schema of an ATen overload say of it; made once for each overload."""
    schema = func._schema
    rows = rows_for(func)
    tags = {each.name for each in func.tags}
    measured = tuple(row for row in rows if row.effect)
    refusals = measured or tuple(tagged(str(func), tag) for tag in sorted(tags & set(_TAGS)))
    writes = tuple(each.name for each in schema.arguments if each.alias_info is not None and each.alias_info.is_write)
    is_view = "inplace_view" in tags or (not writes and any(each.alias_info is not None for each in schema.returns))
    is_known = bool(rows) or is_view or bool(tags & set(_SAFE_TAGS)) or _is_listed(func)
    return Plan(
        str(func),
        tuple(each.name for each in schema.arguments),
        refusals,
        tuple(row for row in rows if not row.effect and row.place < 0),
        tuple(row.place for row in rows if row.place >= 0),
        writes,
        is_view,
        "nondeterministic_seeded" in tags,
        is_known and len(measured) == len(refusals),
    )


def tagged(name: str, tag: str) -> Row:
    """A row that only the operator's own tag speaks for."""
    return Row(name, _TAGS[tag], compiled("True"), f"tag:{tag}")


def _is_listed(func: Any) -> bool:
    return str(func) in known() or func.namespace in ("prim", "prims") or func is torch.ops.aten.lift_fresh.default


@cache
def defaults_of(func: Any) -> dict[str, Any]:
    """The default values of an operator's arguments, None for those that must be given."""
    return {each.name: each.default_value if each.has_default_value() else None for each in func._schema.arguments}
