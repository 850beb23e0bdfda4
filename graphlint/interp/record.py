"""What the attributes of one object hold, evaluated as late as possible.

A constructor builds far more than any region ever reads, so the right-hand sides of its assignments are kept with the
variables of that moment and evaluated when the attribute is first asked for.

Attributes that code around a capture puts on the device in place of what was made on the host.

batch = Batch(torch.tensor(rows))
batch.rows = batch.rows.to(device)     # here, in a helper that is given the batch, or in a method of its own
with torch.cuda.graph(graph):
    out = model(batch)                 # reads what was put there

Objects are known by how they were made, so those that were made alike are taken to be brought along alike.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from graphlint.interp.frame import Frame, Summary
from graphlint.project import FunctionDecl
from graphlint.record import NamedTuple
from graphlint.values import Function, Instance, Place, Tensor, Value, join_all, members, tensors_in

if TYPE_CHECKING:
    from graphlint.interp.machine import Machine

MOST_WRITES = 12


class Deferred:
    """An expression with the variables it sees."""

    __slots__ = ("env", "frame", "node")

    def __init__(self, frame: Frame, node: ast.expr) -> None:
        self.frame = frame
        self.env = dict(frame.env)
        self.node = node

    def callee(self, machine: Machine) -> Value | None:
        """What would be called, if the expression is a call: that takes no more than looking it up."""
        node = self.node
        return (
            machine.once((self, "callee"), lambda: self._again(machine).eval(node.func))
            if isinstance(node, ast.Call)
            else None
        )

    def evaluate(self, machine: Machine) -> Value:
        return machine.once(self, lambda: as_member(self._again(machine).eval(self.node)))

    def _again(self, machine: Machine) -> Frame:
        old = self.frame
        frame = Frame(machine, old.module, Summary("deferred"), dict(self.env), old.scope.parent)
        frame.owner, frame.receiver, frame.recording = old.owner, old.receiver, False
        return frame


def as_member(value: Value) -> Value:
    """A tensor as a plain attribute of an object."""
    return value.replace(role="state") if isinstance(value, Tensor) and value.role == "" else value


class Effect(NamedTuple):
    """A call in a constructor that was put off, with the attributes that it may write.

    `parts` says whether one of them may get a tensor or an object, and not only text, numbers and containers.
    """

    call: Deferred
    names: frozenset[str]
    parts: bool


class Record:
    """The attributes of one object; `children` are the items of a module container that the class derives from.

    `late` is what other methods than the constructor were found to write, None where there are none.  `effects` are
    calls in the constructor that still have to be made, and `called` the methods that ran in it without arguments.
    `answers` are attributes that were read before, with the word under which the read is kept.
    """

    __slots__ = ("answers", "building", "called", "children", "depth", "effects", "instance", "late", "owed", "written")

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self.effects: list[Effect] = []
        self.called: set[FunctionDecl] = set()
        self.written: dict[str, list[Value | Deferred]] = {}
        self.late: dict[str, Value | None] = {}
        self.answers: dict[str, tuple[Value, str]] = {}
        self.children: Value | None = None
        self.building = True
        self.depth = 0
        self.owed = 1 << 30

    def write(self, name: str, what: Value | Deferred, always: bool) -> None:
        """One assignment; `always` if nothing decides whether it happens, so that it replaces what was there."""
        known = self.written.get(name)
        if always or known is None:
            self.written[name] = [what]
        elif what not in known and len(known) < MOST_WRITES:
            known.append(what)

    def make(self, machine: Machine, name: str) -> None:
        """Make the calls that were put off and may write an attribute, and those before them."""
        while any(name in effect.names for effect in self.effects):
            self._make(machine, self.effects.pop(0))

    def _make(self, machine: Machine, effect: Effect) -> None:
        if self.building:
            effect.call.evaluate(machine)
            return
        depth, self.building, self.depth = self.depth, True, machine.depth + 1
        outer = machine.begin()
        effect.call.evaluate(machine)
        owed = machine.settle(self.depth, outer)
        self.building, self.depth = False, depth
        if owed < self.owed:
            self.owed = owed
            machine.keep(machine.records, self.instance, owed)

    def read(self, machine: Machine, name: str) -> Value | None:
        """What the constructor leaves in an attribute; None if it does not set it."""
        if self.effects:
            self.make(machine, name)
        found = self.written.get(name)
        if found is None:
            return None
        return join_all([each.evaluate(machine) if isinstance(each, Deferred) else each for each in found])

    def parts(
        self, machine: Machine, is_wanted: Callable[[str, list[Value | Deferred]], bool]
    ) -> Iterator[tuple[str, Value]]:
        """Every attribute that may hold a tensor or an object, if it is wanted: by its name and what it is bound to."""
        while any(effect.parts for effect in self.effects):
            self._make(machine, self.effects.pop(0))
        unwanted = {name for name, bound in self.written.items() if not is_wanted(name, bound)}
        return self._held(machine, unwanted.union(*(effect.names for effect in self.effects)))

    def items(self, machine: Machine) -> Iterator[tuple[str, Value]]:
        """Every attribute with what it holds."""
        while self.effects:
            self._make(machine, self.effects.pop(0))
        return self._held(machine, set())

    def _held(self, machine: Machine, without: set[str]) -> Iterator[tuple[str, Value]]:
        for name in list(self.written):
            value = self.read(machine, name) if name not in without else None
            if value is not None:
                yield name, value


Brought = dict[tuple[Instance, str], None]


def note_brought(frame: Frame, owner: Value, name: str, value: Value) -> None:
    """An assignment outside of regions; what other methods may do some day is not looked at."""
    brought = frame.machine.brought
    if brought is None or frame.recording or frame.machine.writes:
        return
    if name == "forward" and isinstance(value, Function):
        found = {each: value for each in members(owner) if isinstance(each, Instance)}
        frame.machine.replaced = {**frame.machine.replaced, **found}
    places = {tensor.place for tensor in tensors_in(value)}
    if Place.DEVICE in places and Place.HOST not in places:
        brought.update(((each, name), None) for each in members(owner) if isinstance(each, Instance))


def replaced(frame: Frame, owner: Instance, name: str) -> Value | None:
    """The function that code around captures has put in the place of the `forward` of an object."""
    held = frame.machine.replaced
    return held.get(owner) if held and name == "forward" else None


def as_brought(brought: Brought, owner: Instance, name: str, value: Value) -> Value:
    """What an attribute holds, without what was on the host before."""
    if (owner, name) not in brought:
        return value
    kept = [each for each in members(value) if all(tensor.place is not Place.HOST for tensor in tensors_in(each))]
    moved = [each.replace(place=Place.DEVICE, role="") for each in tensors_in(value, 0) if each.place is Place.HOST]
    return join_all(kept or moved) if kept or moved else value
