"""Objects of the tree's classes: how they come to be and what their attributes hold.

An object's attributes are those its `__init__` leaves behind, joined with what its other methods write later.  Values
that a configuration decides (constructor arguments nobody passed, class flags) are kept without their constants, since
another configuration may change them.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from graphlint.interp.annotations import annotated
from graphlint.interp.binding import bind, defaults, parameters
from graphlint.interp.carried import key_of
from graphlint.interp.dispatch import ATTRIBUTES, ITEMS, apply, attribute, item, register
from graphlint.interp.drifting import counts_in_record
from graphlint.interp.fields import constructor, field_at, fill, held
from graphlint.interp.frame import Frame, Summary
from graphlint.interp.late import explore
from graphlint.interp.makers import passed
from graphlint.interp.members import is_counter, is_flipped, late_writers
from graphlint.interp.naming import is_host
from graphlint.interp.record import Record, as_brought
from graphlint.interp.room import DEEPEST_CONSTRUCTION
from graphlint.outline import mentions
from graphlint.project import ClassDecl, FunctionDecl, Outside, Symbol, assigned
from graphlint.syntax import last_called, refuses
from graphlint.values import (
    EITHER,
    MOVING,
    Arguments,
    Bool,
    Candidate,
    ClassValue,
    Function,
    Instance,
    Method,
    Nothing,
    Number,
    Opaque,
    Origin,
    Place,
    Seq,
    Table,
    Tensor,
    Text,
    Union,
    Unknown,
    Value,
    hosted,
    join,
    join_all,
    loosened,
    members,
    on_device,
    or_numbers,
    tensors_in,
)

if TYPE_CHECKING:
    from graphlint.interp.machine import Machine


def is_module(machine: Machine, decl: ClassDecl) -> bool:
    """Whether instances are modules: through `nn.Module`, any torch module class, or a base nobody can resolve."""
    bases = [base.name for base in machine.project.mro(decl) if isinstance(base, Outside)]
    return any(name.startswith("torch.nn.") for name in bases)


def record_of(machine: Machine, instance: Instance) -> Record:
    """The attributes of an object, built on first use."""
    known = machine.records.get(instance)
    if known is not None:
        machine.owe(known.depth if known.building else known.owed)
        return known
    record = machine.records[instance] = Record(instance)
    record.depth = machine.depth + 1
    outer = machine.begin()
    if machine.depth < DEEPEST_CONSTRUCTION and machine.left > 0:
        _build(machine, instance, record)
    else:
        machine.owe(0)
    record.building = False
    record.owed = machine.settle(record.depth, outer)
    machine.keep(machine.records, instance, record.owed)
    return record


def _build(machine: Machine, instance: Instance, record: Record) -> None:
    """Run the constructor, or fill in the fields of a class that has none of its own."""
    init = constructor(machine.project, instance.decl)
    if init is not None:
        _construct(machine, instance, Function(init, instance, None, init.owner))
    else:
        fill(machine, instance, record)


def _construct(machine: Machine, instance: Instance, init: Function) -> None:
    if instance.arguments is None:
        env = guessed(machine, init.decl)
        for name, part in passed(machine, init.decl, instance.decl).items():
            env[name] = part if isinstance(env[name], Opaque) else env[name]
        first = parameters(init.decl)
        if first:
            env[first[0].arg] = instance
    else:
        env = bind(machine, init, instance.arguments)
    machine.execute(init, env, Summary("__init__"), recording=False)


def guessed(machine: Machine, decl: FunctionDecl) -> dict[str, Value]:
    """Constructor arguments nobody knows: of the default's or the annotation's type, without its constant."""
    found: dict[str, Value] = {}
    defaulted = defaults(decl)
    spec = decl.node.args
    for arg in (*parameters(decl), *spec.kwonlyargs):
        hint = annotated(machine, decl.module, arg.annotation, decl.owner) if arg.annotation is not None else None
        default = machine.default(decl, defaulted[arg.arg]) if arg.arg in defaulted else None
        found[arg.arg] = _guess(hint, default)
    if spec.vararg is not None:
        found[spec.vararg.arg] = Seq("tuple", None, Opaque())
    if spec.kwarg is not None:
        found[spec.kwarg.arg] = Table((), Opaque())
    return found


def _guess(hint: Value | None, default: Value | None) -> Value:
    if hint is not None and not isinstance(hint, Unknown):
        given = loosened(hint)
        return or_numbers(given if default is None else join(given, loosened(default)))
    if default is None:
        return Opaque()
    return join(Opaque(), default) if isinstance(default, Nothing) else loosened(default)


@register(ATTRIBUTES, Instance)
def instance_attribute(frame: Frame, value: Instance, name: str, node: ast.AST) -> Value:
    """An attribute of an object, or its class."""
    machine = frame.machine
    record = record_of(machine, value)
    known = record.answers.get(name)
    if known is None or record.building:
        outer = machine.begin()
        known, lasting = _attribute(frame, value, record, name, node)
        if machine.ends(outer) and lasting and not record.building:
            record.answers[name] = known
    found, key = known
    if key:
        frame.touch(key)
    return as_brought(machine.brought, value, name, found) if machine.brought else found


def _attribute(frame: Frame, value: Instance, record: Record, name: str, node: ast.AST) -> tuple[tuple[Value, str], bool]:
    """What an attribute holds and the word under which reads of it are kept; whether it holds that for good."""
    machine = frame.machine
    key = key_of(value, name) if not value.fresh else ""
    found = _written(machine, value, record, name)
    if found is not None:
        if type(found) in (Tensor, Union) and (frame.recording or not record.building):
            from graphlint.interp.refilled import refilled  # here because not every object holds tensors

            found = refilled(machine, value.decl, name, found)
        kept = isinstance(found, (Seq, Table)) or is_followed(machine, value, name)
        return (found, key if kept else ""), True
    inherited = class_member(frame, value.decl, name, value, node)
    if inherited is not None:
        kept = not isinstance(inherited, Function) and is_followed(machine, value, name)
        return (inherited, key if kept else ""), not is_computed(machine, value.decl, name)
    if name == "__class__":
        return (ClassValue(value.decl), ""), True
    outside = [base.name for base in machine.project.mro(value.decl) if isinstance(base, Outside)]
    if any(base.startswith("torch.") for base in outside):
        groups = held(outside, name)
        if groups is not None:
            return (groups, ""), True
        return (EITHER if name == "training" else Method(value, name), ""), True
    getter = machine.project.member(value.decl, "__getattr__")
    given = Unknown() if getter is None else _call_getter(frame, value, getter, name, node)
    return (given, ""), getter is None


def is_computed(machine: Machine, decl: ClassDecl, name: str) -> bool:
    """Whether reading a class attribute runs a function: a property."""
    found = machine.project.member(decl, name)
    symbol = found[1][-1] if found is not None else None
    marks = symbol.decorator_list if isinstance(symbol, (ast.FunctionDef, ast.AsyncFunctionDef)) else ()
    return any(last_called(mark) in COMPUTED for mark in marks)


COMPUTED = frozenset({"property", "cached_property", "getter", "setter"})


def is_followed(machine: Machine, value: Instance, name: str) -> bool:
    """Whether reads of an attribute are kept, to be held against where it is bound."""
    return bool(late_writers(machine, value.decl, name)) or not is_module(machine, value.decl)


def _call_getter(frame: Frame, value: Instance, getter: tuple[ClassDecl, list[Symbol]], name: str, node: ast.AST) -> Value:
    owner, (*_, symbol) = getter
    if not isinstance(symbol, ast.FunctionDef):
        return Unknown()
    function = Function(owner.module.function(symbol, owner, symbol.name), value, None, owner)
    return apply(frame, function, Arguments((Text(name),)), node)


def _written(machine: Machine, value: Instance, record: Record, name: str) -> Value | None:
    """What `__init__` and later writers put into the attribute."""
    first = record.read(machine, name)
    if first is not None and not record.building:
        from graphlint.interp.taken_along import along  # not every region reads attributes

        first = along(machine.project, value.decl, name, first)
        if isinstance(first, Seq) and first.form == "list" and first.items == ():
            from graphlint.interp.appended import filled  # few classes leave a list empty

            first = filled(machine, value, name, first)
        elif isinstance(first, Table) and not first.items:
            from graphlint.interp.registries import filled_attribute  # nor a dictionary

            first = filled_attribute(machine, value.decl, name, first)
    if isinstance(first, Bool) and not record.building:
        # A flag stays one, whoever switches it.
        return MOVING if not value.fresh and is_flipped(machine, value.decl, name) else EITHER
    if isinstance(first, Union) and _is_registered(record, name):
        # What decides that it is registered decides as well whether it was made as a parameter.
        first = without_host(first) or first
    late = None if record.building else explore(machine, value, record, name, first)
    if first is not None and not record.building:
        rewritten = late is not None or bool(late_writers(machine, value.decl, name))
        lasting = isinstance(first, Number) and not value.fresh
        counted = lasting and (is_counter(machine, value.decl, name) or counts_in_record(machine, value.decl, name))
        first = settled(first, rewritten, counted)
    if first is None or late is None:
        return first if late is None else late
    if is_module(machine, value.decl) and on_device(late) is not None:
        # The calls before the capture have written the attribute: what `__init__` left on the host is gone by then.
        first = without_host(first)
    elif any(tensor.role in ("buffer", "parameter") for tensor in tensors_in(first, 0)):
        # What is bound to a buffer's name is a buffer, and moves with its module.
        late = without_host(late) or first
    return late if first is None else join(first, late)


def without_host(value: Value) -> Value | None:
    """The value without what holds tensors on the host only."""
    kept = [member for member in members(value) if not any(tensor.place is Place.HOST for tensor in tensors_in(member))]
    return join_all(kept) if kept else None


def settled(value: Value, rewritten: bool, counted: bool) -> Value:
    """An attribute's value once `__init__` is over: flags may be switched, and a None nobody fills may still be."""
    if isinstance(value, Bool):
        return EITHER
    if isinstance(value, Nothing) and not rewritten:
        return join(value, Unknown())
    if isinstance(value, Number) and (rewritten or counted):
        return Number(value.kind, None, Origin.STATE if counted else Origin.CONFIG)
    return value


def class_member(
    frame: Frame, decl: ClassDecl, name: str, receiver: Value | None, node: ast.AST, after: ClassDecl | None = None
) -> Value | None:
    """A method (bound to the receiver), property or class variable along the bases."""
    machine = frame.machine
    found = machine.project.member(decl, name, after)
    if found is None:
        return None
    owner, symbols = found
    symbol = symbols[-1]
    if isinstance(symbol, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return _method(frame, owner, symbol, receiver or ClassValue(decl), node)
    if isinstance(symbol, ast.ClassDef):
        return ClassValue(owner.module.class_(symbol, symbol.name))
    if isinstance(symbol, (ast.Assign, ast.AnnAssign)):
        value = machine.variable(assigned(owner.module, symbols))
        value = hosted(value) if is_host(name) else value
        value = bound(value, receiver)
        return loosened(value) if isinstance(receiver, Instance) and isinstance(value, (Bool, Number, Text)) else value
    return Unknown()


def bound(value: Value, receiver: Value | None) -> Value:
    """A function found in a class becomes a method of the receiver."""
    if isinstance(value, Function) and value.receiver is None and receiver is not None:
        return value.replace(receiver=receiver)
    return value


def _method(
    frame: Frame, owner: ClassDecl, symbol: ast.FunctionDef | ast.AsyncFunctionDef, receiver: Value, node: ast.AST
) -> Value:
    decl = owner.module.function(symbol, owner, symbol.name)
    names = {last_called(item) for item in symbol.decorator_list}
    if "staticmethod" in names:
        return frame.machine.decorated(decl, start=owner)
    if "classmethod" in names:
        cls = ClassValue(receiver.decl) if isinstance(receiver, Instance) else receiver
        return bound(frame.machine.decorated(decl, start=owner), cls)
    if isinstance(receiver, ClassValue):
        return frame.machine.decorated(decl, start=owner)
    if names & COMPUTED:
        getter = _getter(owner, symbol)
        return apply(frame, Function(getter, receiver, None, owner), Arguments(), node)
    method = bound(frame.machine.decorated(decl, start=owner), receiver)
    if isinstance(receiver, Instance) and receiver.arguments is None and not receiver.fresh and is_abstract(symbol):
        found = [
            Candidate(bound(frame.machine.decorated(each, start=each.owner), receiver.replace(decl=cls)))
            for cls, each in overrides(receiver.decl, symbol.name)
        ]
        return join_all(found if found and refuses(symbol) else [method, *found])
    return method


def is_abstract(symbol: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """A method that only says what derived classes must do."""
    body = [node for node in symbol.body if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))]
    if not body or any(last_called(item) == "abstractmethod" for item in symbol.decorator_list):
        return True
    return len(body) == 1 and (refuses(symbol) or isinstance(body[0], ast.Pass))


def overrides(decl: ClassDecl, name: str) -> list[tuple[ClassDecl, FunctionDecl]]:
    """The classes beside an abstract one that derive from it and define the method, in their order."""
    found: list[tuple[ClassDecl, FunctionDecl]] = []
    family = {decl.name}
    for symbols in decl.module.symbols.values():
        node = symbols[-1]
        if isinstance(node, ast.ClassDef) and _derives(node, family):
            family.add(node.name)
            cls = decl.module.class_(node, node.name)
            symbol = cls.members.get(name, [None])[-1]
            if isinstance(symbol, ast.FunctionDef):
                found.append((cls, decl.module.function(symbol, cls, name)))
    return found


def _derives(node: ast.ClassDef, family: set[str]) -> bool:
    return any(mentions(node, name) for name in family) and any(last_called(base) in family for base in node.bases)


def _getter(owner: ClassDecl, symbol: ast.FunctionDef | ast.AsyncFunctionDef) -> FunctionDecl:
    """Of a property's functions (getter, setter, deleter under one name) the first is the getter."""
    first = next(s for s in owner.members[symbol.name] if isinstance(s, (ast.FunctionDef, ast.AsyncFunctionDef)))
    return owner.module.function(first, owner, first.name)


@register(ITEMS, Instance)
def instance_item(frame: Frame, instance: Instance, index: Value, node: ast.AST) -> Value:
    method = attribute(frame, instance, "__getitem__", node)
    given = apply(frame, method, Arguments((index,)), node) if isinstance(method, Function) else Unknown()
    if not isinstance(given, Unknown) or (
        isinstance(method, Function) and constructor(frame.machine.project, instance.decl) is not None
    ):
        return given
    record = record_of(frame.machine, instance)
    if record.children is not None:
        return item(frame, record.children, index, node)
    if isinstance(index, Text) and index.value is not None:
        return attribute(frame, instance, index.value, node)
    if isinstance(index, Number) and record.written:
        return field_at([value for _, value in record.items(frame.machine)], index)
    return Unknown()


def _is_registered(record: Record, name: str) -> bool:
    """Whether a name is bound to a buffer or a parameter somewhere."""
    written = [part for each in record.written.get(name, ()) if isinstance(each, Value) for part in members(each)]
    return any(isinstance(each, Tensor) and each.role in ("buffer", "parameter") for each in written)


def _registered(record: Record, name: str, value: Value) -> Value:
    """A tensor that is bound to the name of a buffer or parameter takes its place, and moves with the module."""
    known = [each for each in record.written.get(name, ()) if isinstance(each, Tensor)]
    role = next((each.role for each in known if each.role in ("buffer", "parameter")), "")
    if not role:
        return value
    return join_all(
        [
            each.replace(place=Place.DEVICE, role=role) if isinstance(each, Tensor) and each.place is Place.HOST else each
            for each in members(value)
        ]
    )


def store_attribute(frame: Frame, owner: Value, name: str, value: Value) -> None:
    """Remember a write to an attribute: of an object under construction, or of one whose writers are being explored."""
    machine = frame.machine
    for member in members(owner):
        if not isinstance(member, Instance):
            continue
        record = machine.records.get(member)
        if record is not None and record.building:
            if record.effects:
                record.make(machine, name)
            record.write(name, _registered(record, name, value), not frame.conditional)
        elif machine.writes and machine.writes[-1][0] is member:
            writes = machine.writes[-1][1]
            writes[name] = join(writes[name], value) if name in writes else value
