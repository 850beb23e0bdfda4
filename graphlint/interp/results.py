"""The values that calls give back, as the effects table has them."""

from __future__ import annotations

from collections.abc import Callable

from graphlint.effects import grammar
from graphlint.effects.conditions import evaluate
from graphlint.effects.grammar import Row
from graphlint.effects.table import lookup
from graphlint.interp.facts import Facts
from graphlint.interp.frame import Frame
from graphlint.interp.operators import highest_rank, place_of, promoted, role_of, role_on_host, surest
from graphlint.interp.placement import default_place, default_sure, placed
from graphlint.types import Confidence, Target
from graphlint.values import (
    EITHER,
    MOVED,
    READ_BACK,
    Arguments,
    Bool,
    DeviceValue,
    DtypeValue,
    ExternalObject,
    Kind,
    Nothing,
    Number,
    Opaque,
    Origin,
    Place,
    Seq,
    Tensor,
    Text,
    Unknown,
    Value,
    join_all,
    members,
    tensors_in,
)

KINDS = {"bool": Kind.BOOL, "int": Kind.INT, "float": Kind.FLOAT, "complex": Kind.COMPLEX, "any": Kind.ANY}
MODULE = ExternalObject("module")


def result(frame: Frame, row: Row, tree: grammar.Result, facts: Facts) -> Value:
    """The value that a row's result stands for."""
    match tree:
        case grammar.Choice(condition, then, otherwise):
            holds = evaluate(condition, facts)
            if holds is not None:
                return result(frame, row, then if holds else otherwise, facts)
            return join_all([result(frame, row, then, facts), result(frame, row, otherwise, facts)])
        case grammar.Several("tuple", items):
            return Seq("tuple", tuple(result(frame, row, item, facts) for item in items))
        case grammar.Several(_, items):
            return Seq("tuple", None, result(frame, row, items[0], facts))
        case grammar.Plain(word):
            return PLAIN[word]
        case grammar.Number(kind, rank):
            value = rank_of(rank, facts)
            return Number(KINDS[kind], value, _number_origin(facts) if value is None else Origin.CONST)
        case grammar.Guard(graph, compiled):
            true = (Target.GRAPH if graph else Target.NONE) | (Target.COMPILE if compiled else Target.NONE)
            return Bool(true, Target.BOTH & ~true, Origin.CONST)
        case grammar.Argument(parameter):
            return facts.value(parameter) or Unknown()
        case grammar.Instance(name):
            return ExternalObject(name, facts.arguments if name == row.name else _made_with(name, facts))
    return _tensor(frame, tree, facts)


def _made_with(name: str, facts: Facts) -> Arguments | None:
    """What a function was given that makes objects of a class whose own constructor nobody calls."""
    return Arguments((), tuple(facts.given.items())) if facts.given and lookup(name) is None else None


PLAIN: dict[str, Value] = {
    "bool": EITHER,
    "text": Text(),
    "none": Nothing(),
    "shape": Seq("tuple", None, Number(Kind.INT, None, Origin.SHAPE)),
    "device": DeviceValue(Place.DEVICE),
    "dtype": DtypeValue(Kind.ANY),
    "module": MODULE,
    "object": Opaque(),
    "generator": ExternalObject("torch.Generator"),
    "unknown": Unknown(),
}


def _number_origin(facts: Facts) -> Origin:
    reads = any(effect.kind == "read" for effect in facts.row.effects)
    return origin_of_read(facts.value("self")) if reads else Origin.SHAPE


def origin_of_read(tensor: Value | None) -> Origin:
    """What a number read from a tensor depends on: on what the region computes, or on what it was given on the host.

    What may as well be a number that the region is given is not taken for data.
    """
    if not isinstance(tensor, Tensor):
        return Origin.DATA
    if tensor.role == MOVED:
        return Origin.STATE
    given = tensor.place in (Place.HOST, Place.PINNED) and tensor.role != READ_BACK
    return Origin.ARGUMENT if given or tensor.sure is Confidence.POSSIBLE else Origin.DATA


def _tensor(frame: Frame, tree: grammar.Result, facts: Facts) -> Value:
    match tree:
        case grammar.Like(parameter, kind, rank):
            return placed(frame, facts, _map(facts.value(parameter), lambda t: _like(t, kind, rank, facts)))
        case grammar.Promote(parameters, kind, rank):
            return placed(frame, facts, _promote(frame, parameters, kind, rank, facts))
        case grammar.Reduce(parameter, kind):
            return placed(frame, facts, _map(facts.value(parameter), lambda t: _reduce(t, kind, facts)))
        case grammar.New(kind, rank):
            sure = default_sure(frame, facts.value("device"), facts.row.name)
            # What is made without elements holds the place of what comes later, and moving it copies nothing.
            sure = Confidence.POSSIBLE if facts.value("device") is None and _is_without_elements(facts) else sure
            base = Tensor(default_place(frame), KINDS.get(kind, Kind.ANY), rank_of(rank, facts), sure)
            return placed(frame, facts, base)
        case grammar.OnDevice(parameter, kind):
            return _map(facts.value(parameter), lambda t: _on_device(_like(t, kind, None, facts)))
        case grammar.Host(parameter, kind):
            return _map(facts.value(parameter), lambda t: _like(t, kind, None, facts).replace(place=Place.HOST))
    return Unknown()


def _on_device(tensor: Tensor) -> Tensor:
    return tensor.replace(place=Place.DEVICE, role=tensor.role if tensor.role == READ_BACK else "")


def _is_without_elements(facts: Facts) -> bool:
    sizes = [each for member in members(facts.value("size") or Unknown()) for each in _sizes(member)]
    return any(isinstance(each, Number) and each.value == 0 for each in sizes)


def _sizes(value: Value) -> list[Value]:
    """The sizes that are given one by one, or as one tuple."""
    if not isinstance(value, Seq):
        return [value]
    return [size for each in value.items or () for member in members(each) for size in _sizes(member)]


def _map(value: Value | None, change: Callable[[Tensor], Tensor]) -> Value:
    """A tensor result from the tensors that an argument is or holds; an argument nobody knows gives a likely one."""
    found = list(tensors_in(value))
    if found:
        return join_all([change(tensor) for tensor in found])
    return change(Tensor(Place.UNKNOWN, Kind.ANY, None, Confidence.LIKELY))


def _like(tensor: Tensor, kind: str, rank: grammar.Rank | None, facts: Facts) -> Tensor:
    new_rank = tensor.rank if rank is None else rank_of(rank, facts)
    return Tensor(tensor.place, KINDS.get(kind, tensor.kind), new_rank, tensor.sure, _kept(tensor))


def _kept(tensor: Tensor) -> str:
    """What is computed of values that were read back depends on the device as they do."""
    return tensor.role if tensor.role == READ_BACK else role_on_host(tensor)


def _reduce(tensor: Tensor, kind: str, facts: Facts) -> Tensor:
    rank: int | None = 0
    if facts.none("dim") is not True:
        rank = _reduced_rank(tensor.rank, facts)
    return Tensor(tensor.place, KINDS.get(kind, tensor.kind), rank, tensor.sure, _kept(tensor))


def _reduced_rank(rank: int | None, facts: Facts) -> int | None:
    if rank is None:
        return None
    if facts.constant("keepdim") is True:
        return rank
    dims = facts.value("dim")
    if isinstance(dims, Number):
        return max(rank - 1, 0)
    if isinstance(dims, Seq) and dims.items is not None:
        return max(rank - len(dims.items), 0)
    return None


def _promote(frame: Frame, parameters: tuple[str, ...], kind: str, rank: grammar.Rank | None, facts: Facts) -> Value:
    operands: list[Value] = []
    for parameter in parameters:
        value = facts.value(parameter)
        if value is not None:
            operands.extend(_operands(value))
    if not any(isinstance(operand, Tensor) for operand in operands):
        if operands and all(isinstance(each, Number) for each in operands) and parameters[0].startswith("ctor."):
            # Whoever makes a distribution of numbers has it draw where torch makes tensors of them.
            return Tensor(default_place(frame), KINDS.get(kind, Kind.FLOAT), _rank_drawn(facts))
        operands.append(Tensor(Place.UNKNOWN, Kind.ANY, None, Confidence.LIKELY))
    new_kind = KINDS.get(kind) or promoted(
        *[operand for operand in operands if isinstance(operand, (Tensor, Number, Bool))]
    )
    new_rank = highest_rank(*operands) if rank is None else rank_of(rank, facts)
    place = place_of(*operands)
    return Tensor(place, new_kind, new_rank, surest(*operands), role_of(place, *operands))


def _rank_drawn(facts: Facts) -> int | None:
    """The rank of what a distribution of numbers draws: that of the shape it is asked for."""
    asked = facts.value("sample_shape")
    if asked is None:
        return 0
    return len(asked.items) if isinstance(asked, Seq) and asked.items is not None and asked.rest is None else None


def _operands(value: Value) -> list[Value]:
    found: list[Value] = []
    for member in members(value):
        found.extend(tensors_in(member) if isinstance(member, Seq) else [member])
    return found


def rank_of(rank: grammar.Rank | None, facts: Facts) -> int | None:
    """The sum that a rank expression spells, None when a part of it is unknown."""
    if rank is None:
        return None
    total = rank.offset
    for word, parameter in rank.terms:
        part = _rank_term(word, parameter, facts)
        if part is None:
            return None
        total += part
    return total


def _rank_term(word: str, parameter: str, facts: Facts) -> int | None:
    if word == "rank":
        return facts.rank(parameter)
    value = facts.value(parameter)
    if isinstance(value, Seq) and value.items is not None and value.rest is None:
        return len(value.items)
    return 1 if isinstance(value, Number) and word == "size" else None
