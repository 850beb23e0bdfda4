"""What optimizers hold: the parameters they were given, group by group."""

from __future__ import annotations

from collections.abc import Iterable

from graphlint.types import Confidence
from graphlint.values import Kind, Place, Seq, Table, Tensor, Unknown, Value

PARAMETER = Tensor(Place.DEVICE, Kind.FLOAT, None, Confidence.CERTAIN, "parameter")
GROUPS = Seq("list", None, Table((("params", Seq("list", None, PARAMETER)),), Unknown()))
"""`optimizer.param_groups`: tables with the parameters and the options of each group (torch 2.13 documentation)."""


def held(bases: Iterable[str], name: str) -> Value | None:
    """An attribute that an object has from being an optimizer, which one of its classes says; None if there is none."""
    optimizer = name == "param_groups" and any(base.startswith("torch.optim.") for base in bases)
    return GROUPS if optimizer else None
