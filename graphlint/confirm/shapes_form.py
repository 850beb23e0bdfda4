"""How `--shapes` is written.

    --shapes length=1..512             buckets are the powers of two up to 512
    --shapes length=64,128,512         these buckets
    --lengths 17,60,61,300             the sizes that really occur (all of the range otherwise)

The name is a parameter of the factory, or a dimension in `--input x=float32[length,64]`.
"""

from __future__ import annotations

from graphlint.confirm.plan import Plan
from graphlint.errors import UsageError

FORM = "write `--shapes length=1..512` or `--shapes batch=1,2,4,8`"


def parse(text: str) -> tuple[str, tuple[int, ...], tuple[int, ...]]:
    """The name, the buckets (ascending) and the sizes that may occur; raises `UsageError`."""
    name, equals, sizes = text.partition("=")
    low, dots, high = sizes.partition("..")
    if dots and low.isdigit() and high.isdigit() and 0 < int(low) <= int(high):
        powers = [1 << n for n in range(int(high).bit_length()) if int(low) <= 1 << n < int(high)]
        return name, (*powers, int(high)), tuple(range(int(low), int(high) + 1))
    words = [each.strip() for each in sizes.split(",")]
    if not equals or not name.isidentifier() or not all(word.isdigit() and int(word) > 0 for word in words):
        raise UsageError(f"`{text}` names no shapes", FORM)
    buckets = tuple(sorted({int(word) for word in words}))
    return name, buckets, tuple(range(1, buckets[-1] + 1))


def first(plan: Plan) -> dict[str, int]:
    """The sizes that the case itself is built with: the largest bucket."""
    if not plan.options.shapes:
        return {}
    name, buckets, _ = parse(plan.options.shapes)
    return {name: buckets[-1]}
