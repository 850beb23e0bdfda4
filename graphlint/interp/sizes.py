"""Sizes among the arguments of a constructor: what a model's layers differ in, and what they do does not depend on."""

from __future__ import annotations

from graphlint.values import Arguments, Number, Origin, Value

LARGE = 8
"""The greatest number that keeps its value: up to here counts, strides and flags are found, above widths of layers."""


def without_sizes(arguments: Arguments) -> Arguments:
    """The arguments of an object that is there before the region, so that layers of other widths are one object."""
    return Arguments(
        tuple(map(_without_size, arguments.positional)),
        tuple((name, _without_size(value)) for name, value in arguments.keywords),
        arguments.more,
        arguments.more_keywords,
    )


def _without_size(value: Value) -> Value:
    if isinstance(value, Number) and (value.value is None or value.value > LARGE):
        return Number(value.kind, None, Origin.CONFIG)
    return value
