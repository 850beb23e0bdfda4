"""The ranks that operators on several tensors give."""

from __future__ import annotations

from graphlint.values import Tensor, Unknown, Value


def highest_rank(*values: Value) -> int | None:
    """The rank after broadcasting."""
    ranks = [value.rank for value in values if isinstance(value, Tensor)]
    if any(rank is None for rank in ranks) or any(isinstance(value, Unknown) for value in values):
        return None
    return max((rank for rank in ranks if rank is not None), default=None)


def product_rank(left: Value, right: Value) -> int | None:
    """The rank of a matrix product: a vector on either side takes a dimension away (documentation of `torch.matmul`)."""
    highest = highest_rank(left, right)
    vectors = [isinstance(value, Tensor) and value.rank == 1 for value in (left, right)]
    return None if highest is None else max(highest - sum(vectors), 0) if any(vectors) else highest
