"""Transfers whose overloads no table row can spell: `to`, `type`, `cuda`, `copy_`, and tensors made of Python values.

A copy between pageable host memory and the device is refused under capture; a tensor that is already there is not
copied.  Measured on an H200 with torch 2.11: an empty literal is no copy, a pinned source with `non_blocking=True`
and a non-blocking copy to the host are allowed.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from graphlint.events import DeviceToHost, FrozenScalar, HostLiteral, HostToDevice, LibraryRead, PinnedMemory
from graphlint.interp.facts import Facts
from graphlint.interp.frame import Frame
from graphlint.interp.handlers import entered
from graphlint.interp.naming import is_device
from graphlint.interp.placement import default_place, is_pinned, kind_of, place_named, sure_named
from graphlint.interp.raising import raise_effects, short
from graphlint.interp.relocation import moving, stays_there
from graphlint.interp.results import origin_of_read
from graphlint.interp.torch_calls import SPECIAL, Special
from graphlint.types import Confidence
from graphlint.values import (
    READ_BACK,
    Bool,
    DeviceValue,
    DtypeValue,
    External,
    Kind,
    Method,
    Number,
    Opaque,
    Place,
    Seq,
    Tensor,
    Text,
    Unknown,
    Value,
    join,
    join_all,
    members,
    tensors_in,
)

GIVEN = "input"
"""The role of what was there before a region."""

UNPINNED_REFUSED = (2, 11)
"""The first torch that refuses a copy from pageable memory that does not block (pytorch#172156).

Before, it was captured, and every replay copied from where the tensor had been.
"""


def special(*names: str) -> Callable[[Special], Special]:
    """Register what a call of these names does beyond its row."""
    return entered(SPECIAL, names)


def move(frame: Frame, tensor: Tensor, place: Place | None, facts: Facts, node: ast.AST) -> Place:
    """The place of a tensor after a move to `place`; emits the copy that takes."""
    if place is None or place is tensor.place:
        return tensor.place
    if place is Place.DEVICE and tensor.place in (Place.HOST, Place.PINNED) and not _is_made_empty(node):
        if tensor.place is Place.HOST and _non_blocking(facts) and frame.machine.told.torch < UNPINNED_REFUSED:
            frame.emit(FrozenScalar, node, tensor.sure, what="pageable host tensor", recorded="address")
        elif not (tensor.place is Place.PINNED and _non_blocking(facts)):
            origin = "" if tensor.role == READ_BACK else tensor.role
            sure = Confidence.POSSIBLE if stays_there(frame, node, moving(frame)) else tensor.sure
            frame.emit(HostToDevice, node, sure, call=short(facts.row), origin=origin)
    elif place is Place.UNKNOWN and tensor.place is Place.HOST and tensor.role == GIVEN and not _is_made_empty(node):
        # Who captures what takes a host tensor somewhere takes it to the device, whatever that is called.
        frame.emit(HostToDevice, node, min(tensor.sure, Confidence.LIKELY), call=short(facts.row), origin=GIVEN)
    elif place is Place.HOST and tensor.place is Place.DEVICE and not _non_blocking(facts):
        sure = Confidence.POSSIBLE if stays_there(frame, node, (ast.Call,)) else tensor.sure
        frame.emit(DeviceToHost, node, sure, call=short(facts.row))
    # Code inside a region moves things to the device it runs on, whatever the device is called there.
    return Place.DEVICE if place is Place.UNKNOWN else place


def _is_made_empty(node: ast.AST) -> bool:
    """Whether what a method moves is made without elements, which takes no copy: `torch.tensor([]).to(device)`."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Call(func=ast.Attribute(attr=made), args=[first, *_]))):
            literal = isinstance(first, (ast.List, ast.Tuple)) and not first.elts and made in ("tensor", "as_tensor")
            return literal or (isinstance(first, ast.Constant) and first.value == 0 and made in ("empty", "zeros", "ones"))
    return False


def _beside_another(node: ast.AST) -> bool:
    """Whether a call names the device of something else: `x.to(other.device)`."""
    given = [*node.args, *(each.value for each in node.keywords)] if isinstance(node, ast.Call) else []
    return any(isinstance(each, ast.Attribute) and each.attr == "device" for each in given)


def _non_blocking(facts: Facts) -> bool:
    return facts.constant("non_blocking") is True


@special("torch.Tensor.to", "torch.Tensor.type", "torch.Tensor.type_as")
def to(frame: Frame, facts: Facts, node: ast.AST) -> Value:
    """`x.to(device, dtype)`, `x.to(other)`, `x.type(torch.LongTensor)` and so on; `x.type()` is the name of a type."""
    if facts.row.name == "torch.Tensor.type" and facts.none("dtype") is True:
        return Text()
    place: Place | None = None
    kind: Kind | None = None
    sure = Confidence.CERTAIN
    for name, value in _named(facts, node):
        if name in ("self", "non_blocking", "copy", "memory_format"):
            continue
        new_place, new_kind = _target(value, name)
        sure = min(sure, sure_named(value), _sure_beside(value))
        place, kind = new_place if new_place is not None else place, new_kind if new_kind is not None else kind
    moved = facts.value("self")
    if place in (None, Place.UNKNOWN) and _beside_another(node) and _is_born_here(_whole(frame, moved, node)):
        # What the others of a region are beside is the device, even where nobody can say what it is.
        likely = Confidence.POSSIBLE if stays_there(frame, node, moving(frame)) else Confidence.LIKELY
        frame.emit(HostToDevice, node, likely, call=short(facts.row), origin="")
        return join_all([_taken(each, kind) for each in members(moved)]) if moved is not None else Unknown()
    return _moved(frame, facts, node, place, kind, sure)


def _sure_beside(value: Value) -> Confidence:
    """How sure it is that what is to be gone to, a tensor of the host, is there."""
    host = [each.sure for each in members(value) if isinstance(each, Tensor) and each.place is Place.HOST]
    return max(host, default=Confidence.CERTAIN)


def _whole(frame: Frame, member: Value | None, node: ast.AST) -> Value:
    """What a method is called on, where the call is made once for each of the things that may be."""
    owner = node.func.value if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else None
    return frame.eval(owner) if isinstance(owner, ast.Name) else member or Unknown()


def _is_born_here(value: Value) -> bool:
    """Whether a value is a host tensor that the region has made, and surely so."""
    return all(
        isinstance(each, Tensor) and each.place is Place.HOST and not each.role and each.sure is not Confidence.POSSIBLE
        for each in members(value)
    )


def _taken(value: Value, kind: Kind | None) -> Value:
    assert isinstance(value, Tensor)
    kind = value.kind if kind is None else kind
    return value.replace(place=Place.DEVICE, kind=kind, sure=min(value.sure, Confidence.LIKELY))


def _named(facts: Facts, node: ast.AST) -> Iterator[tuple[str, Value]]:
    """The arguments by name; positional ones of overloaded calls have none, unless they say so themselves."""
    for name, value in facts.given.items():
        if name != "args" or not isinstance(value, Seq):
            yield name, value
            continue
        spelled = node.args if isinstance(node, ast.Call) else []
        for position, part in enumerate(value.items or ()):
            given = spelled[position] if position < len(spelled) else None
            yield "device" if isinstance(part, (Unknown, Opaque)) and _says_device(given) else "", part


def _says_device(given: ast.expr | None) -> bool:
    """Whether what is given is called a device: `x.to(self.device)`, `x.to(local_rank)`."""
    name = given.id if isinstance(given, ast.Name) else given.attr if isinstance(given, ast.Attribute) else ""
    return is_device(name)


def _target(value: Value, name: str) -> tuple[Place | None, Kind | None]:
    """(place, kind) that one argument of `to` names."""
    tensor = next(tensors_in(value, 0), None)
    if tensor is not None:
        return tensor.place, tensor.kind
    kinds = [member for member in members(value) if isinstance(member, (DtypeValue, External))]
    if kinds or name in ("dtype", "dst_type") or _legacy_place(value) is not None:
        return _legacy_place(value), kind_of(value)
    if name == "device" or any(isinstance(member, (DeviceValue, Text, Number)) for member in members(value)):
        return place_named(value), None
    return None, None


def _legacy_place(value: Value) -> Place | None:
    """`x.type(torch.LongTensor)` means the host, `torch.cuda.LongTensor` the device, by name or as text."""
    for member in members(value):
        name = member.name if isinstance(member, External) else member.value if isinstance(member, Text) else None
        if name is not None and name.startswith("torch.") and name.endswith("Tensor"):
            return Place.DEVICE if ".cuda." in name else Place.HOST
    return None


def _moved(
    frame: Frame,
    facts: Facts,
    node: ast.AST,
    place: Place | None,
    kind: Kind | None,
    named: Confidence = Confidence.CERTAIN,
) -> Value:
    """What is called on where a call puts it; `named` is how sure it is that the call names that place."""
    changed: list[Value] = []
    for member in members(facts.value("self") or Unknown()):
        if not isinstance(member, Tensor):
            changed.append(member)
            continue
        doubted = member.replace(sure=min(member.sure, named))
        there = move(frame, doubted, _settled(place, member), facts, node)
        was_read = member.role == READ_BACK or member.place is Place.DEVICE
        role = READ_BACK if was_read and there is Place.HOST else ""
        if there is not member.place and member.sure is Confidence.POSSIBLE:
            member = _whatever(frame, member, node)
        # Wherever it was before, the copy is where the call puts it.
        sure = member.sure if there is member.place else max(doubted.sure, Confidence.LIKELY)
        changed.append(member.replace(place=there, kind=member.kind if kind is None else kind, sure=sure, role=role))
    return join_all(changed) if changed else Unknown()


def _whatever(frame: Frame, tensor: Tensor, node: ast.AST) -> Tensor:
    """One of several tensors that may be meant, moved: that makes its place likely, and neither its kind nor its rank."""
    several = [each for each in members(_whole(frame, tensor, node)) if isinstance(each, Tensor)]
    return tensor.replace(kind=Kind.ANY, rank=None) if len({(each.kind, each.rank) for each in several}) > 1 else tensor


def _settled(place: Place | None, tensor: Tensor) -> Place | None:
    """A device nobody can name is the device the region runs on, if the tensor is there already."""
    return Place.DEVICE if place is Place.UNKNOWN and tensor.place is Place.DEVICE else place


@special("torch.Tensor.tolist")
def tolist(frame: Frame, facts: Facts, node: ast.AST) -> Value:
    """Nested lists of numbers, as deep as the tensor has dimensions."""
    raise_effects(frame, facts, node)
    tensor = facts.value("self")
    number: Value = Number(tensor.kind if isinstance(tensor, Tensor) else Kind.ANY, None, origin_of_read(tensor))
    rank = tensor.rank if isinstance(tensor, Tensor) else None
    if rank is None:
        return Seq("list", None, join(number, Opaque()))
    for _ in range(rank):
        number = Seq("list", None, number)
    return number


@special("torch.Tensor.set_")
def set_(frame: Frame, facts: Facts, node: ast.AST) -> Value:
    raise_effects(frame, facts, node)
    tensor, source = facts.value("self") or Unknown(), facts.value("source")
    if source is not None and isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        from graphlint.interp.exchanged import exchanged  # here because few files do this

        exchanged(frame, tensor, node.func.value, source, node)
    return tensor


@special("torch.Tensor.cuda")
def cuda(frame: Frame, facts: Facts, node: ast.AST) -> Value:
    return _moved(frame, facts, node, Place.DEVICE, None)


@special("torch.Tensor.cpu")
def cpu(frame: Frame, facts: Facts, node: ast.AST) -> Value:
    return _moved(frame, facts, node, Place.HOST, None)


@special("torch.Tensor.pin_memory")
def pin_memory(frame: Frame, facts: Facts, node: ast.AST) -> Value:
    """A copy in page-locked memory, which a capture may copy from without blocking."""
    frame.emit(PinnedMemory, node, call=short(facts.row))
    return join_all(
        [
            each.replace(place=Place.PINNED) if isinstance(each, Tensor) else each
            for each in members(facts.value("self") or Unknown())
        ]
    )


@special("torch.tensor", "torch.as_tensor", "torch.asarray", "torch.Tensor.new_tensor", "torch.from_numpy")
def literal(frame: Frame, facts: Facts, node: ast.AST) -> Value:
    """A tensor made of Python values, arrays or another tensor."""
    data = facts.value("data") or facts.value("obj") or facts.value("ndarray") or Unknown()
    device, owner = facts.value("device"), facts.value("self")
    place = place_named(device) if device is not None else None
    sure = sure_named(device)
    if place is None and isinstance(owner, Tensor):
        place, sure = owner.place, max(owner.sure, Confidence.LIKELY)
    wanted = place if place is not None or not any(True for _ in tensors_in(data, 0)) else None
    made = [_made(frame, facts, member, wanted, sure, node) for member in members(data)]
    kind = kind_of(facts.value("dtype"))
    return join_all(
        [value.replace(kind=kind) if kind is not None and isinstance(value, Tensor) else value for value in made]
    )


def _made(frame: Frame, facts: Facts, data: Value, wanted: Place | None, named: Confidence, node: ast.AST) -> Value:
    place = wanted if wanted is not None else default_place(frame)
    target = Place.DEVICE if place is Place.UNKNOWN else place
    doubt = Confidence.LIKELY if place is Place.UNKNOWN else named
    if isinstance(data, Tensor):
        doubted = data.replace(sure=min(data.sure, doubt))
        if wanted is None:
            return data.replace(role="")
        there = move(frame, doubted, target, facts, node)
        if data.sure is Confidence.POSSIBLE:
            # Whatever else is handed in, numbers or another tensor, the result is a tensor there.
            return Tensor(there, sure=Confidence.LIKELY)
        return data.replace(place=there, role="")
    if isinstance(data, Seq) and any(tensor.place is Place.DEVICE for tensor in tensors_in(data)):
        _tensors_inside(frame, facts, data, node)
    if target is Place.DEVICE and not _is_empty(data):
        # An attribute of an object of the tree that nobody is seen binding may hold anything.
        unknown = isinstance(data, (Unknown, Method))
        if unknown and facts.row.name != "torch.tensor":
            doubt = Confidence.POSSIBLE
        sure = min(doubt, Confidence.LIKELY if unknown else Confidence.CERTAIN)
        frame.emit(HostLiteral, node, sure, call=short(facts.row))
    if target is Place.HOST and is_pinned(facts):
        target = Place.PINNED
    doubt = min(doubt, Confidence.LIKELY) if _may_be_one(data) else doubt
    if target is Place.HOST and _is_written_empty(node):
        # It holds the place of what comes later, and nothing of it is ever copied.
        doubt = Confidence.POSSIBLE
    return Tensor(target, literal_kind(data), literal_rank(data), doubt)


def _may_be_one(data: Value) -> bool:
    """Whether what a hint says are several, tensors among them, may as well be one tensor, which stays where it is."""
    return (
        isinstance(data, Seq) and data.items is None and any(isinstance(each, Tensor) for each in members(data.element()))
    )


def _tensors_inside(frame: Frame, facts: Facts, data: Seq, node: ast.AST) -> None:
    """`torch.tensor([a, b])` of device scalars reads each of them."""
    sure = max((tensor.sure for tensor in tensors_in(data) if tensor.place is Place.DEVICE), default=Confidence.LIKELY)
    frame.emit(LibraryRead, node, sure, call=short(facts.row), why="each element is a device tensor")


def _is_empty(data: Value) -> bool:
    return isinstance(data, Seq) and data.items == () and data.rest is None


def _is_written_empty(node: ast.AST) -> bool:
    """Whether the list is empty where it stands; one in a variable may have been filled in a loop."""
    match node:
        case ast.Call(args=[ast.List(elts=[]), *_]):
            return True
    return False


def literal_kind(data: Value) -> Kind:
    """The kind of a tensor made of these values."""
    if isinstance(data, Number):
        return data.kind
    if isinstance(data, Bool):
        return Kind.BOOL
    if isinstance(data, Tensor):
        return data.kind
    if isinstance(data, Seq):
        kinds = {literal_kind(member) for member in members(data.element())}
        return Kind.FLOAT if Kind.FLOAT in kinds else kinds.pop() if len(kinds) == 1 else Kind.ANY
    return Kind.ANY


def literal_rank(data: Value) -> int | None:
    """The rank of a tensor made of these values."""
    if isinstance(data, (Number, Bool)):
        return 0
    if isinstance(data, Tensor):
        return data.rank
    if isinstance(data, Seq):
        ranks = {literal_rank(member) for member in members(data.element())} if data.items != () else {0}
        inner = ranks.pop() if len(ranks) == 1 else None
        return None if inner is None else inner + 1
    return None
