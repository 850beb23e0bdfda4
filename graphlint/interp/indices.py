"""What an index says of that which it is looked up in."""

from __future__ import annotations

import ast

from graphlint.types import Confidence
from graphlint.values import Kind, Nothing, Number, Place, Seq, SliceValue, Tensor, Value, members


def is_of_array(index: Value, written: ast.expr) -> bool:
    """Whether an index has a list of numbers beside a slice, `x[:, [0, 2]]`, which only arrays of some kind take."""
    if not isinstance(written, ast.Tuple) or not isinstance(index, Seq) or index.items is None:
        return False
    cuts = any(isinstance(part, SliceValue) for part in index.items)
    return cuts and any(
        isinstance(part, Seq) and part.form == "list" and all(isinstance(each, Number) for each in members(part.element()))
        for part in index.items
    )


def is_sure_mask(part: Value) -> bool:
    """Whether a component of an index is surely a mask on the device: what it selects from is a tensor there."""
    found = [each for each in members(part) if not isinstance(each, Nothing)]
    return all(
        isinstance(each, Tensor)
        and each.place is Place.DEVICE
        and each.kind is Kind.BOOL
        and each.rank != 0
        and each.sure is Confidence.CERTAIN
        for each in found
    ) and bool(found)
