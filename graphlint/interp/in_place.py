"""`x += y` on tensors, which writes in place: the name keeps its storage, so nothing is rebound."""

from __future__ import annotations

from graphlint.values import Nothing, Tensor, Value, members


def is_tensor(value: Value) -> bool:
    """Whether a value is a tensor wherever it is not None."""
    held = [each for each in members(value) if not isinstance(each, Nothing)]
    return bool(held) and all(isinstance(each, Tensor) for each in held)


def in_place(old: Value, new: Value) -> Value:
    """What is written, as what it was before."""
    return new.replace(role=old.role) if isinstance(old, Tensor) and isinstance(new, Tensor) else new
