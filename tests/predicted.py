"""What a row's result says of one described call: the oracle that holds result rules against recorded results."""

from __future__ import annotations

from typing import NamedTuple

from graphlint.effects.conditions import evaluate
from graphlint.effects.described import Described, DescribedCall, Opaque
from graphlint.effects.grammar import (
    Argument,
    Choice,
    Host,
    Instance,
    Like,
    New,
    Number,
    OnDevice,
    Plain,
    Promote,
    Rank,
    Reduce,
    Result,
    Several,
)

KINDS = ("bool", "int", "float", "complex")


class Said(NamedTuple):
    """A predicted tensor; None where the rule leaves it open."""

    kind: str | None
    rank: int | None


class SaidMany(NamedTuple):
    form: str
    items: tuple[object, ...]


def said(result: Result, call: DescribedCall) -> object:
    """A `Said`, a `SaidMany`, or the word of a result that is no tensor."""
    match result:
        case Choice(condition, then, otherwise):
            return said(then if evaluate(condition, call) else otherwise, call)
        case Several(form, items):
            return SaidMany(form, tuple(said(item, call) for item in items))
        case Argument(parameter):
            return Said(call.kind(parameter), call.rank(parameter))
        case Number(kind):
            return f"number({kind})"
        case Plain(word) | Instance(word):
            return word
        case Like(parameter, kind, rank):
            return Said(_kind(kind, [parameter], call), _rank(rank, call) if rank else call.rank(parameter))
        case Host(parameter, kind) | OnDevice(parameter, kind):
            return Said(_kind(kind, [parameter], call), call.rank(parameter))
        case New(kind, rank):
            return Said(_kind(kind, [], call), _rank(rank, call) if rank else None)
        case Promote(parameters, kind, rank):
            ranks = [known for p in parameters if (known := call.rank(p)) is not None]
            return Said(_kind(kind, list(parameters), call), _rank(rank, call) if rank else max(ranks, default=None))
        case Reduce(parameter, kind):
            return Said(_kind(kind, [parameter], call), _reduced(parameter, call))
    raise TypeError(f"not predicted: {result!r}")


def _kind(kind: str, parameters: list[str], call: DescribedCall) -> str | None:
    dtype = call.values.get("dtype")
    if isinstance(dtype, Opaque):
        return Described(dtype.text.removeprefix("torch."), (), "").kind
    if kind == "same":
        return call.kind(parameters[0])
    if kind == "promoted":
        kinds = [tensor.kind for p in parameters for tensor in call.tensors(p)] + _number_kinds(parameters, call)
        return max(kinds, key=KINDS.index, default=None)
    return None if kind == "any" else kind


def _number_kinds(parameters: list[str], call: DescribedCall) -> list[str]:
    values = [call.value(p) for p in parameters]
    return [type(value).__name__ for value in values if isinstance(value, (bool, int, float, complex))]


def _reduced(parameter: str, call: DescribedCall) -> int | None:
    rank, dim, kept = call.rank(parameter), call.value("dim"), call.value("keepdim") is True
    if rank is None or kept:
        return rank
    if dim is None or dim == [] or isinstance(dim, bool):  # a bool in its place is `unbiased`
        return 0
    return max(0, rank - (len(dim) if isinstance(dim, list) else 1))


def _rank(rank: Rank, call: DescribedCall) -> int | None:
    total = rank.offset
    for word, parameter in rank.terms:
        value = call.value(parameter)
        count = len(value) if isinstance(value, list) else 1
        found = call.rank(parameter) if word == "rank" else None if word == "unknown" else count
        if found is None:
            return None
        total += found
    return total
