"""What the emulation needs to know of one operator, read from its schema once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import torch

from graphlint.emulate.rows import Row, known, rows_for

_SAFE_TAGS = ("pointwise", "inplace_view")
_UNSURE_TAGS = ("data_dependent_output", "dynamic_output_shape")


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
    is_unsure: bool

    def bound(self, args: tuple[Any, ...], kwargs: dict[str, Any], defaults: dict[str, Any]) -> dict[str, Any]:
        return {**defaults, **dict(zip(self.parameters, args)), **kwargs}


@cache
def plan_of(func: Any) -> Plan:
    schema = func._schema
    rows = rows_for(func)
    refusals = tuple(row for row in rows if row.effect)
    tags = {each.name for each in func.tags}
    writes = tuple(each.name for each in schema.arguments if each.alias_info is not None and each.alias_info.is_write)
    is_view = "inplace_view" in tags or (not writes and any(each.alias_info is not None for each in schema.returns))
    is_unsure = not refusals and bool(tags & set(_UNSURE_TAGS))
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
        is_known and not is_unsure,
        is_unsure,
    )


def _is_listed(func: Any) -> bool:
    return str(func) in known() or func.namespace in ("prim", "prims") or func is torch.ops.aten.lift_fresh.default


@cache
def defaults_of(func: Any) -> dict[str, Any]:
    """The default values of an operator's arguments, None for those that must be given."""
    return {each.name: each.default_value if each.has_default_value() else None for each in func._schema.arguments}
