"""Calls of what the effects table knows: the value that comes back, and the events its effects are."""

from __future__ import annotations

import ast
from collections.abc import Callable

from graphlint import events
from graphlint.effects import grammar
from graphlint.effects.conditions import evaluate
from graphlint.effects.grammar import Effect, Row
from graphlint.effects.table import canonical, happens, lookup
from graphlint.interp.dispatch import count_unknown
from graphlint.interp.facts import Facts
from graphlint.interp.frame import Frame
from graphlint.interp.operators import highest_rank, note_frozen, place_of, promoted, surest
from graphlint.types import Confidence, Target
from graphlint.values import (
    EITHER,
    Arguments,
    Bool,
    DeviceValue,
    DtypeValue,
    External,
    ExternalObject,
    Kind,
    Method,
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
DTYPES = {
    "bool": Kind.BOOL,
    **dict.fromkeys(("uint8", "int8", "int16", "int32", "int64", "short", "int", "long", "uint16", "uint32", "uint64"), Kind.INT),
    **dict.fromkeys(("half", "float", "double", "float16", "float32", "float64", "bfloat16"), Kind.FLOAT),
    **dict.fromkeys(("complex64", "complex128", "cfloat", "cdouble"), Kind.COMPLEX),
}
DEVICE_WORDS = ("cuda", "xpu", "mps", "hpu", "npu")

Special = Callable[[Frame, Facts, ast.AST], Value]
SPECIAL: dict[str, Special] = {}
"""Calls whose overloads no row can spell, by canonical name; `transfers` fills it."""


def call_row(frame: Frame, name: str, arguments: Arguments, node: ast.AST, owner: ExternalObject | None, receiver: Value | None = None) -> Value:
    """Call what the row of `name` describes."""
    row = lookup(name)
    assert row is not None, name
    facts = Facts(frame, row, arguments, receiver, owner)
    special = SPECIAL.get(row.name)
    if special is not None:
        return special(frame, facts, node)
    for effect in row.effects:
        raise_effect(frame, row, effect, facts, node)
    note_frozen(frame, facts.given.values(), node)
    note_sizes(frame, row, facts, node)
    value = result(frame, row, row.result, facts)
    return ExternalObject(row.name, arguments) if value is MODULE else value


MODULE = ExternalObject("module")

SIZES = frozenset(
    "size sizes shape split_size split_sizes split_size_or_sections indices_or_sections repeats end k n steps length output_size".split()
)
"""Parameters that decide the shape of a result, among those that take host numbers."""


def note_sizes(frame: Frame, row: Row, facts: Facts, node: ast.AST) -> None:
    """A number that was read from the device decides the shape of a result."""
    for parameter in row.parameters:
        if parameter.host and parameter.name in SIZES and _is_data(facts.given.get(parameter.name)):
            frame.emit(events.DataSize, node, Confidence.LIKELY, call=short(row), argument=parameter.name)
            return


def _is_data(value: Value | None, depth: int = 2) -> bool:
    """Whether a value is a number that depends on tensor data, or a sequence with one."""
    if isinstance(value, Number):
        return value.origin is Origin.DATA
    if not isinstance(value, Seq) or not depth:
        return False
    parts = [*(value.items or ()), *([value.rest] if value.rest is not None else [])]
    return any(_is_data(part, depth - 1) for part in parts)


def call_tensor_method(frame: Frame, receiver: Tensor, name: str, arguments: Arguments, node: ast.AST) -> Value:
    full = f"torch.Tensor.{name}"
    if lookup(full) is None:
        count_unknown(frame, node)
        return Unknown()
    return call_row(frame, full, arguments, node, None, receiver)


def call_object_method(frame: Frame, receiver: ExternalObject, name: str, arguments: Arguments, node: ast.AST) -> Value:
    full = f"{receiver.name}.{name}"
    row = lookup(full)
    if row is None:
        if receiver.name.startswith("numpy."):
            return receiver
        count_unknown(frame, node)
        return Unknown()
    has_self = bool(row.parameters) and row.parameters[0].name == "self"
    return call_row(frame, full, arguments, node, receiver, receiver if has_self else None)


def raise_effect(frame: Frame, row: Row, effect: Effect, facts: Facts, node: ast.AST) -> None:
    """Turn an effect of a row into an event where its condition holds."""
    holds = happens(effect, facts)
    if holds is False or not effect.targets & frame.live:
        return
    sure = _sure(effect, facts)
    if holds is None:
        sure = Confidence.POSSIBLE
    before = frame.live
    frame.live &= effect.targets
    emitter = EMITTERS.get(effect.kind)
    if emitter is not None:
        emitter(frame, row, effect, facts, node, sure)
    frame.live = before


def _sure(effect: Effect, facts: Facts) -> Confidence:
    """As sure as the surest device tensor that the effect can be about."""
    subjects = [effect.subject] if effect.subject else list(facts.given)
    found = [tensor.sure for name in subjects for tensor in tensors_in(facts.value(name)) if tensor.place is Place.DEVICE]
    return max(found, default=Confidence.CERTAIN)


Emitter = Callable[[Frame, Row, Effect, Facts, ast.AST, Confidence], None]


def short(row: Row) -> str:
    """The name as users write it."""
    return row.name.replace("torch.Tensor.", "").removesuffix(".forward")


def _read(frame: Frame, row: Row, effect: Effect, facts: Facts, node: ast.AST, sure: Confidence) -> None:
    if row.name.startswith("torch.Tensor.") and isinstance(row.result, (grammar.Number, grammar.Plain)):
        # Only a tensor has the method, so that it is called says what the receiver is.
        frame.emit(events.HostRead, node, max(sure, Confidence.LIKELY), method=short(row))
    else:
        frame.emit(events.LibraryRead, node, sure, call=short(row), why=effect.why)


TRANSFERRED = ("self", "src", "new_scale")
"""Parameters of rows that are the very thing a call copies; another host tensor is an operand."""


def _copy(frame: Frame, row: Row, effect: Effect, facts: Facts, node: ast.AST, sure: Confidence) -> None:
    value = facts.value(effect.subject) if effect.subject else None
    if value is not None and any(True for _ in tensors_in(value)) and effect.subject in TRANSFERRED:
        frame.emit(events.HostToDevice, node, sure, call=short(row), origin="")
    elif value is not None and any(True for _ in tensors_in(value)):
        frame.emit(events.HostOperand, node, sure, call=short(row), argument=effect.subject)
    else:
        frame.emit(events.HostLiteral, node, sure, call=short(row))


EMITTERS: dict[str, Emitter] = {
    "read": _read,
    "sync": lambda f, row, e, facts, node, sure: f.emit(events.Synchronize, node, sure, call=short(row)),
    "shape": lambda f, row, e, facts, node, sure: f.emit(events.DataShape, node, sure, call=short(row), why=e.why),
    "d2h": lambda f, row, e, facts, node, sure: f.emit(events.DeviceToHost, node, sure, call=short(row)),
    "h2d": _copy,
    "argument": lambda f, row, e, facts, node, sure: f.emit(events.HostArgument, node, sure, call=short(row), argument=e.subject),
    "refused": lambda f, row, e, facts, node, sure: f.emit(events.LibraryRefused, node, sure, call=short(row), why=e.why),
    "pinned": lambda f, row, e, facts, node, sure: f.emit(events.PinnedMemory, node, sure, call=short(row)),
    "hostrandom": lambda f, row, e, facts, node, sure: f.emit(events.HostRandom, node, sure, call=short(row)),
    "generator": lambda f, row, e, facts, node, sure: f.emit(events.GeneratorUse, node, sure, call=short(row), what=e.why or "draw"),
    "seed": lambda f, row, e, facts, node, sure: f.emit(events.GeneratorUse, node, sure, call=short(row), what=e.why or "seed"),
    "clock": lambda f, row, e, facts, node, sure: f.emit(events.ClockRead, node, sure, call=short(row), what=e.why or "clock"),
    "state": lambda f, row, e, facts, node, sure: f.emit(events.HostMutation, node, sure, target=short(row), what=e.why or "state"),
    "break": lambda f, row, e, facts, node, sure: f.emit(events.GraphBreak, node, sure, construct=short(row), why=e.why),
}


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
        case grammar.Number(kind):
            return Number(KINDS[kind], None, _number_origin(facts))
        case grammar.Guard(graph, compiled):
            true = (Target.GRAPH if graph else Target.NONE) | (Target.COMPILE if compiled else Target.NONE)
            return Bool(true, Target.BOTH & ~true, Origin.CONST)
        case grammar.Argument(parameter):
            return facts.value(parameter) or Unknown()
        case grammar.Instance(name):
            return ExternalObject(name, facts.arguments if name == row.name else None)
    return _tensor(frame, tree, facts)


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
    return Origin.DATA if reads else Origin.SHAPE


def _tensor(frame: Frame, tree: grammar.Result, facts: Facts) -> Value:
    match tree:
        case grammar.Like(parameter, kind, rank):
            return placed(frame, facts, _map(facts.value(parameter), lambda t: _like(t, kind, rank, facts)))
        case grammar.Promote(parameters, kind, rank):
            return placed(frame, facts, _promote(parameters, kind, rank, facts))
        case grammar.Reduce(parameter, kind):
            return placed(frame, facts, _map(facts.value(parameter), lambda t: _reduce(t, kind, facts)))
        case grammar.New(kind, rank):
            base = Tensor(default_place(frame), KINDS.get(kind, Kind.ANY), rank_of(rank, facts))
            return placed(frame, facts, base)
        case grammar.OnDevice(parameter, kind):
            return _map(facts.value(parameter), lambda t: _like(t, kind, None, facts).replace(place=Place.DEVICE))
        case grammar.Host(parameter, kind):
            return _map(facts.value(parameter), lambda t: _like(t, kind, None, facts).replace(place=Place.HOST))
    return Unknown()


def default_place(frame: Frame) -> Place:
    """Where a factory without `device=` puts its tensor."""
    if frame.devices and isinstance(frame.devices[-1], DeviceValue):
        return frame.devices[-1].place
    return Place.HOST


def _map(value: Value | None, change: Callable[[Tensor], Tensor]) -> Value:
    """A tensor result from the tensors that an argument is or holds; an argument nobody knows gives a likely one."""
    found = list(tensors_in(value))
    if found:
        return join_all([change(tensor) for tensor in found])
    return change(Tensor(Place.UNKNOWN, Kind.ANY, None, Confidence.LIKELY))


def _like(tensor: Tensor, kind: str, rank: grammar.Rank | None, facts: Facts) -> Tensor:
    new_rank = tensor.rank if rank is None else rank_of(rank, facts)
    return Tensor(tensor.place, KINDS.get(kind, tensor.kind), new_rank, tensor.sure)


def _reduce(tensor: Tensor, kind: str, facts: Facts) -> Tensor:
    rank: int | None = 0
    if facts.none("dim") is not True:
        rank = _reduced_rank(tensor.rank, facts)
    return Tensor(tensor.place, KINDS.get(kind, tensor.kind), rank, tensor.sure)


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


def _promote(parameters: tuple[str, ...], kind: str, rank: grammar.Rank | None, facts: Facts) -> Value:
    operands: list[Value] = []
    for parameter in parameters:
        value = facts.value(parameter)
        if value is not None:
            operands.extend(_operands(value))
    if not any(isinstance(operand, Tensor) for operand in operands):
        operands.append(Tensor(Place.UNKNOWN, Kind.ANY, None, Confidence.LIKELY))
    new_kind = KINDS.get(kind) or promoted(*[operand for operand in operands if isinstance(operand, (Tensor, Number, Bool))])
    new_rank = highest_rank(*operands) if rank is None else rank_of(rank, facts)
    return Tensor(place_of(*operands), new_kind, new_rank, surest(*operands))


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


def placed(frame: Frame, facts: Facts, value: Value) -> Value:
    """The result where a `device` argument puts it, of the kind a `dtype` argument gives it."""
    device, dtype = facts.value("device"), facts.value("dtype")
    kind = kind_of(dtype)
    place = None if device is None else place_named(device)
    if facts.constant("pin_memory") is True and place is not Place.DEVICE:
        place = Place.PINNED
    if place is None and kind is None:
        return value
    return join_all([_moved(member, place, kind) for member in members(value)])


def _moved(value: Value, place: Place | None, kind: Kind | None) -> Value:
    if not isinstance(value, Tensor):
        return value
    sure = value.sure if place is not Place.UNKNOWN else Confidence.LIKELY
    return value.replace(
        place=value.place if place is None else Place.DEVICE if place is Place.UNKNOWN else place,
        kind=value.kind if kind is None else kind,
        sure=sure,
    )


def place_named(value: Value) -> Place | None:
    """The place that a device argument names; None when it is `None`."""
    places = [_place_named(member) for member in members(value)]
    known = [place for place in places if place is not None]
    if not known:
        return None
    return known[0] if len(set(known)) == 1 else Place.UNKNOWN


def _place_named(value: Value) -> Place | None:
    match value:
        case Nothing():
            return None
        case DeviceValue(place=place):
            return place
        case Text(value=text) if text is not None:
            return Place.HOST if text.startswith("cpu") else Place.DEVICE if text.startswith(DEVICE_WORDS) else Place.UNKNOWN
        case Number():
            return Place.DEVICE
    return Place.UNKNOWN


def kind_of(value: Value | None) -> Kind | None:
    """The kind that a dtype argument gives; None when there is none."""
    found = [_kind_of(member) for member in members(value)] if value is not None else []
    kinds = {kind for kind in found if kind is not None}
    return None if not kinds else kinds.pop() if len(kinds) == 1 else Kind.ANY


def _kind_of(value: Value) -> Kind | None:
    if isinstance(value, DtypeValue):
        return value.kind
    if isinstance(value, External):
        return {"builtins.bool": Kind.BOOL, "builtins.int": Kind.INT, "builtins.float": Kind.FLOAT}.get(value.name, Kind.ANY)
    return None if isinstance(value, Nothing) else Kind.ANY


def tensor_attribute(frame: Frame, tensor: Tensor, name: str, node: ast.AST) -> Value:
    """`tensor.name`: data the table has a row for, or a method."""
    if name == "device":
        return DeviceValue(tensor.place)
    if name == "dtype":
        return DtypeValue(tensor.kind)
    if name == "shape":
        return shape_of(tensor)
    row = lookup(f"torch.Tensor.{name}")
    if row is not None and row.attribute:
        return result(frame, row, row.result, Facts(frame, row, Arguments((), (("self", tensor),)), None, None))
    return Method(tensor, name) if row is not None else Unknown()


def shape_of(tensor: Tensor) -> Value:
    size = Number(Kind.INT, None, Origin.SHAPE)
    return Seq("tuple", None, size) if tensor.rank is None else Seq("tuple", (size,) * tensor.rank)


def object_attribute(frame: Frame, owner: ExternalObject, name: str, node: ast.AST) -> Value:
    """An attribute of an object from outside: parameters of torch modules are on the device."""
    row = lookup(f"{owner.name}.{name}")
    if row is not None:
        if row.attribute:
            return result(frame, row, row.result, Facts(frame, row, Arguments((), (("self", owner),)), None, owner))
        return Method(owner, name)
    if owner.name.startswith("torch.nn."):
        return _module_attribute(owner, name)
    if owner.name.startswith("numpy."):
        return Method(owner, name)
    return Method(owner, name) if owner.name.startswith("torch.") else Unknown()


def _module_attribute(owner: ExternalObject, name: str) -> Value:
    if name == "training":
        return EITHER
    if name in ("weight", "bias") or name.startswith(("weight_", "bias_", "running_")):
        tensor: Value = Tensor(Place.DEVICE, Kind.FLOAT, None, Confidence.CERTAIN, "parameter")
        return join_all([tensor, Nothing()]) if name == "bias" else tensor
    if owner.arguments is not None:
        row = lookup(owner.name)
        given = None if row is None else next((v for k, v in Facts_given(row, owner).items() if k == name), None)
        if given is not None:
            return given
    return Method(owner, name)


def Facts_given(row: Row, owner: ExternalObject) -> dict[str, Value]:
    from graphlint.interp.facts import bind_row

    assert owner.arguments is not None
    return bind_row(row, owner.arguments, None)


def external_attribute(name: str) -> Value:
    """`torch.float32`, `torch.pi`, or a longer dotted name."""
    if name.startswith("torch.") and name.count(".") == 1:
        kind = DTYPES.get(name[6:])
        if kind is not None:
            return DtypeValue(kind)
    row = lookup(name)
    if row is not None and row.attribute and isinstance(row.result, (grammar.Plain, grammar.Number)):
        return PLAIN.get(row.result.word, Opaque()) if isinstance(row.result, grammar.Plain) else Number(Kind.FLOAT)
    return External(canonical(name))
