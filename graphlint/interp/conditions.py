"""Conditions: which arm runs under which target, what each arm may believe, and when the host must wait to know.

A condition on static facts (None, types, shapes, training, configuration) forks without alarm and narrows the variables
it speaks of; a capture guard removes an arm for the targets it names; a condition on device data is a `HostBranch`.
"""

from __future__ import annotations

import ast

from graphlint.effects.table import lookup
from graphlint.events import HostBranch
from graphlint.interp.agreeing import agreed
from graphlint.interp.asking import asked_place, kept_condition, looked_at
from graphlint.interp.dispatch import apply, attribute
from graphlint.interp.frame import Frame, State
from graphlint.interp.isinstance import split
from graphlint.interp.mutation import path_of
from graphlint.interp.naming import is_capturing, is_pinning
from graphlint.interp.ranks import asked_rank
from graphlint.interp.steered import note_steered
from graphlint.interp.untraced import ask, or_number
from graphlint.platforms import is_question, platform
from graphlint.record import NamedTuple
from graphlint.syntax import against_none, walk
from graphlint.types import Confidence, Target
from graphlint.values import (
    Arguments,
    Bool,
    ClassValue,
    DeviceValue,
    DtypeValue,
    External,
    ExternalObject,
    Function,
    Instance,
    Method,
    ModuleValue,
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
    join_all,
    members,
)

IS_TENSOR = External("torch.is_tensor")
EXACT = {ast.Eq: True, ast.Is: True, ast.NotEq: False, ast.IsNot: False}
"""How types are compared, and whether that asks if they are the same."""


class Arm(NamedTuple):
    """One outcome: the targets for which it can come about, and what variables hold then."""

    live: Target
    facts: dict[str, Value]


class Test(NamedTuple):
    """Both outcomes of a condition."""

    true: Arm
    false: Arm
    moves: bool = False
    """Whether it asks a number or a flag that calls move on."""

    @property
    def is_static(self) -> bool:
        return not self.true.live & self.false.live


def test(frame: Frame, node: ast.expr, construct: str) -> Test:
    """Evaluate a condition that decides control flow; `construct` is the keyword."""
    outcome = _asked(frame, node, construct)
    facts = agreed(frame, node) if frame.decided else None
    if facts is None:
        return outcome
    return Test(
        Arm(outcome.true.live, {**facts.true, **outcome.true.facts}),
        Arm(outcome.false.live, {**facts.false, **outcome.false.facts}),
        outcome.moves,
    )


def _asked(frame: Frame, node: ast.expr, construct: str) -> Test:
    match node:
        case ast.BoolOp():
            return _chain(frame, node, construct)
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            outcome = test(frame, inner, within(construct, "not"))
            return Test(outcome.false, outcome.true, outcome.moves)
        case ast.Compare(left=left) if (absent := against_none(node)) is not None:
            outcome = _is_none(frame, left)
            return outcome if absent else Test(outcome.false, outcome.true)
        case ast.Call(func=ast.Name(id="isinstance"), args=[subject, classes]):
            return _isinstance(frame, subject, frame.eval(classes))
        case ast.Compare(left=ast.Call(func=ast.Name(id="type"), args=[subject]), ops=[op], comparators=[cls]):
            same = EXACT.get(type(op))
            if same is not None:
                outcome = _of_type(frame, subject, frame.eval(cls))
                return outcome if same else Test(outcome.false, outcome.true)
        case ast.Call(func=func, args=[subject]) if frame.eval(func) is IS_TENSOR:
            return _isinstance(frame, subject, External("torch.Tensor"))
        case ast.NamedExpr(target=target, value=inner):
            value = frame.eval(node)
            return _truthy(frame, target, value, inner, construct)
        case ast.Name(id=name) if (kept := kept_condition(frame, name)) is not None:
            return _asked_by(frame, name, kept, construct)
    value = frame.eval(node)
    outcome = (
        _about_platform(frame, node, value)
        or _about_place(frame, node, construct)
        or _about_rank(frame, node, construct)
        or _truthy(frame, node, value, node, construct)
    )
    if type(node) is not ast.Compare or type(node.ops[0]) not in (ast.Eq, ast.NotEq):
        return outcome
    from graphlint.interp.beside import beside  # here because few conditions compare where things are

    return beside(frame, node, outcome)


def _asked_by(frame: Frame, name: str, kept: ast.expr, construct: str) -> Test:
    """What the condition that a variable keeps says, which does not ask for that variable again."""
    outer = frame.kept
    frame.kept = {other: condition for other, condition in outer.items() if other != name}
    outcome = test(frame, kept, construct)
    frame.kept = outer
    return outcome


def _about_platform(frame: Frame, node: ast.expr, value: Value) -> Test | None:
    """`if is_npu():` and the like: code for another platform runs under no CUDA graph; `if in_capture_mode():` does."""
    called = isinstance(node, ast.Call) and not node.args and not node.keywords
    node = node.func if isinstance(node, ast.Call) and called else node
    name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
    if not name or not all(isinstance(each, (Unknown, Opaque, Bool)) for each in members(value)):
        return None
    answer = True if _is_yes(frame, name, value) else platform(name) if called or is_question(name) else None
    if answer is None:
        return None
    if isinstance(node, ast.Attribute) and any(isinstance(each, Tensor) for each in members(frame.eval(node.value))):
        return None
    return Test(Arm(Target.BOTH if answer else Target.NONE, {}), Arm(Target.NONE if answer else Target.BOTH, {}))


def _is_yes(frame: Frame, name: str, value: Value) -> bool:
    if is_pinning(name):
        known = any(isinstance(each, Bool) and Target.NONE in (each.true_on, each.false_on) for each in members(value))
        return not known and _pins_memory(frame)
    return is_capturing(name) and may_be_flag(value)


def _pins_memory(frame: Frame) -> bool:
    """Whether a function page-locks memory: entries of a cache are pinned too, and threads to cores."""
    around = frame.module.source.tree if frame.decl is None else frame.decl.node
    return any(
        (isinstance(each, ast.Attribute) and each.attr == "pin_memory")
        or (isinstance(each, ast.keyword) and each.arg == "pin_memory")
        for each in walk(around)
    )


def may_be_flag(value: Value) -> bool:
    """Whether an answer is none of torch's: nobody knows it, or it is what a flag holds before anything is captured."""
    return all(
        not isinstance(each, Bool) or (each.false_on is Target.BOTH and each.true_on in (Target.BOTH, Target.NONE))
        for each in members(value)
    )


def _about_place(frame: Frame, node: ast.expr, construct: str) -> Test | None:
    """`if x.is_cuda:`, `if x.device.type == "cpu":`: each arm knows where the tensor is.

    An assertion is believed before what was thought of an argument.
    """
    asked = asked_place(node)
    path = path_of(asked[0]) if asked is not None else None
    if asked is None or path is None:
        return None
    subject, is_host, holds = asked
    value = frame.eval(subject)
    if not any(isinstance(member, Tensor) for member in members(value)):
        return None
    there = [member for member in members(value) if isinstance(member, Tensor)]
    host = [each for each in there if each.place is not Place.DEVICE]
    device = [each for each in there if each.place in (Place.DEVICE, Place.UNKNOWN)]
    on_host = Arm(
        Target.BOTH if host else Target.NONE, {path: join_all([_at(each, Place.HOST) for each in host])} if host else {}
    )
    on_device = Arm(
        Target.BOTH if device else Target.NONE,
        {path: join_all([_at(each, Place.DEVICE) for each in device])} if device else {},
    )
    true, false = (on_host, on_device) if is_host == holds else (on_device, on_host)
    if construct.startswith("assert") and not true.live:
        true = Arm(
            Target.BOTH, {path: join_all([_at(each, Place.HOST if is_host == holds else Place.DEVICE) for each in there])}
        )
    return Test(true, false)


def _about_rank(frame: Frame, node: ast.expr, construct: str) -> Test | None:
    """`if x.ndim == 2:`: decided where the rank is known, and told to the arms where it is not."""
    asked = asked_rank(frame, node) if isinstance(node, ast.Compare) else None
    if asked is None:
        return None
    path, true, false = asked
    if construct == "assert" and true is None:
        return None
    return Test(_arm(path, true), _arm(path, false))


def _arm(path: str, value: Value | None) -> Arm:
    return Arm(Target.NONE, {}) if value is None else Arm(Target.BOTH, {path: value})


def _at(tensor: Tensor, place: Place) -> Tensor:
    return (
        tensor
        if tensor.place is place or tensor.place is Place.PINNED
        else tensor.replace(place=place, sure=Confidence.LIKELY)
    )


def asserting(node: ast.Assert) -> str:
    """Dynamo makes an assertion on the device only of one with a constant message, or none."""
    parts = node.msg.values if isinstance(node.msg, ast.JoinedStr) else [node.msg]
    is_constant = node.msg is None or all(isinstance(each, ast.Constant) for each in parts)
    return "assert" if is_constant else within("assert", "with a message")


def within(construct: str, word: str) -> str:
    """An `assert` whose condition is not itself the value that is asked for."""
    return f"assert {word}" if construct == "assert" else construct


def _chain(frame: Frame, node: ast.BoolOp, construct: str) -> Test:
    """`and` and `or`: a later operand runs only where the earlier ones did not decide."""
    is_and = isinstance(node.op, ast.And)
    before, ceiling, moves = frame.save(), frame.ceiling, False
    going, decided = Arm(frame.live, {}), Arm(Target.NONE, {})
    for operand in node.values:
        if not frame.live:
            break
        last = operand is node.values[-1]
        outcome = test(frame, operand, construct if last else within(construct, "and" if is_and else "or"))
        moves = moves or outcome.moves
        on, off = (outcome.true, outcome.false) if is_and else (outcome.false, outcome.true)
        facts = off.facts if not decided.live else {}
        decided = Arm(
            decided.live | (off.live & frame.live), facts if len(node.values) == 1 else _shared(decided, off, frame)
        )
        going = Arm(on.live & frame.live, {**going.facts, **on.facts})
        if not outcome.is_static:
            frame.ceiling = min(frame.ceiling, Confidence.LIKELY)
        frame.restore(State({**frame.env, **on.facts}, going.live))
    walrus = {name: value for name, value in frame.env.items() if name not in before.env and "." not in name}
    frame.restore(before)
    frame.ceiling = ceiling
    frame.env.update(walrus)
    return Test(going, decided, moves) if is_and else Test(decided, going, moves)


def _shared(decided: Arm, off: Arm, frame: Frame) -> dict[str, Value]:
    """Facts that hold however the chain was cut short: those of the only operand that can have cut it.

    Where another cuts it for Dynamo alone, as `not is_compiling()` does, a place is still what a capture finds it to be.
    """
    cut = off.live & frame.live
    if not decided.live or not cut:
        return decided.facts if decided.live else off.facts if cut else {}
    if not cut & Target.GRAPH or not decided.live & Target.GRAPH:
        facts = off.facts if cut & Target.GRAPH else decided.facts
        return {path: value for path, value in facts.items() if _is_tensor(value) and _is_tensor(frame.env.get(path))}
    return {}


def _is_tensor(value: Value | None) -> bool:
    return value is not None and all(isinstance(each, Tensor) for each in members(value))


def _is_none(frame: Frame, node: ast.expr) -> Test:
    value = looked_at(frame, node)
    path = path_of(node)
    nothing = [member for member in members(value) if isinstance(member, Nothing)]
    others = [member for member in members(value) if not isinstance(member, Nothing)]
    maybe = [member for member in others if may_be_none(member)]
    true = Target.BOTH if nothing or maybe else Target.NONE
    false = Target.BOTH if others else Target.NONE
    if path is None:
        return Test(Arm(true, {}), Arm(false, {}))
    return Test(Arm(true, {path: Nothing()}), Arm(false, {path: join_all(others)} if others else {}))


def may_be_none(value: Value) -> bool:
    return isinstance(value, (Unknown, Opaque))


def _of_type(frame: Frame, subject: ast.expr, wanted: Value) -> Test:
    """`type(x) == Tensor`: what is of a class itself; what is not may be of one derived from it."""
    outcome = _isinstance(frame, subject, wanted)
    return Test(outcome.true, Arm(Target.BOTH, {}))


def _isinstance(frame: Frame, subject: ast.expr, wanted: Value) -> Test:
    value = frame.eval(subject)
    inside, outside = split(frame, value, wanted)
    path = path_of(subject)
    true = Arm(Target.NONE if inside is None else Target.BOTH, {path: inside} if path and inside is not None else {})
    false = Arm(Target.NONE if outside is None else Target.BOTH, {path: outside} if path and outside is not None else {})
    return Test(true, false)


def _truthy(frame: Frame, node: ast.expr, value: Value, place: ast.expr, construct: str) -> Test:
    """A bare value as a condition."""
    true, false = truth(frame, value, place, construct)
    path = path_of(node)
    moves = isinstance(value, (Bool, Number)) and value.origin is Origin.STATE and true is false
    if moves:
        note_steered(frame, place)
    if path is None:
        return Test(Arm(true, {}), Arm(false, {}), moves)
    kept = [member for member in members(value) if not isinstance(member, Nothing)]
    facts = {path: join_all(kept)} if kept and len(kept) < len(members(value)) else {}
    return Test(Arm(true, facts), Arm(false, {}), moves)


def truth(frame: Frame, value: Value, node: ast.AST, construct: str, whole: Value | None = None) -> tuple[Target, Target]:
    """The targets for which a value can be true and false; a device tensor makes the host wait."""
    if isinstance(value, Union):
        pairs = [truth(frame, member, node, construct, value) for member in value.members]
        true = false = Target.NONE
        for can_be_true, can_be_false in pairs:
            true, false = true | can_be_true, false | can_be_false
        return true, false
    if isinstance(value, Tensor):
        if value.place is Place.DEVICE:
            frame.emit(HostBranch, node, value.sure, construct=construct, or_number=or_number(whole))
        elif construct != "assert":
            ask(frame, whole or value, node, construct)
        return Target.BOTH, Target.BOTH
    ask(frame, value, node, construct)
    return _known_truth(frame, value, node)


def _known_truth(frame: Frame, value: Value, node: ast.AST) -> tuple[Target, Target]:
    always, never, either = (Target.BOTH, Target.NONE), (Target.NONE, Target.BOTH), (Target.BOTH, Target.BOTH)
    match value:
        case Bool():
            return value.true_on, value.false_on
        case Nothing():
            return never
        case Number(value=number) if number is not None:
            return always if number else never
        case Text(value=text) if text is not None:
            return always if text else never
        case Seq(items=items, rest=None) if items is not None:
            return always if items else never
        case Table(items=items, rest=None):
            return always if items else never
        case ExternalObject(name=name) if name.startswith("numpy."):
            return either
        case Function() | ClassValue() | ModuleValue() | Method() | DtypeValue() | DeviceValue() | ExternalObject():
            return always
        case External(name="typing.TYPE_CHECKING"):
            return never
        case External(name=name):
            return always if _is_thing(name) else either
        case Instance():
            return _instance_truth(frame, value, node)
    return either


def _is_thing(name: str) -> bool:
    """Whether a name from outside the tree stands for a package, a class or a known function; a flag may be false."""
    last = name.rpartition(".")[2]
    is_class = last[:1].isupper() and not last.isupper() and "_" not in last
    return last == name or is_class or lookup(name) is not None


def _instance_truth(frame: Frame, value: Instance, node: ast.AST) -> tuple[Target, Target]:
    project = frame.machine.project
    for name in ("__bool__", "__len__"):
        if project.member(value.decl, name) is not None:
            result = apply(frame, attribute(frame, value, name, node), Arguments(), node)
            return truth(frame, result, node, "if")
    return Target.BOTH, Target.NONE
