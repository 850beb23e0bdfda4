"""Effects of what a call does, as the effects table has them, turned into events.

Clocks that are read to tell how long something took: what a replay does not read again, it does not compute with.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from graphlint import events
from graphlint.effects import grammar
from graphlint.effects.grammar import Effect, Row
from graphlint.effects.table import happens
from graphlint.interp import untraced, warmth
from graphlint.interp.facts import Facts
from graphlint.interp.frame import Frame
from graphlint.interp.moving import sets_back
from graphlint.project import FunctionDecl
from graphlint.syntax import against_none, last, receiver_name, spelled, stands_in, walk
from graphlint.types import Confidence, Target
from graphlint.values import (
    Arguments,
    ExternalObject,
    Instance,
    Place,
    Tensor,
    Text,
    Union,
    members,
    tensors_in,
)


def raise_effects(frame: Frame, facts: Facts, node: ast.AST) -> bool:
    """What a call does by itself, as its row has it; False if that is nothing, whoever makes it with these arguments."""
    says = [_raise_effect(frame, facts.row, effect, facts, node) for effect in facts.row.effects]
    return any(says)


def _raise_effect(frame: Frame, row: Row, effect: Effect, facts: Facts, node: ast.AST) -> bool:
    """Turn an effect of a row into an event where its condition holds; False if it never does for these arguments."""
    if not effect.targets & frame.live:
        return True
    holds = happens(effect, facts, frame.machine.told.torch)
    asked = holds is not True and effect.kind in ASKING and _ask_host(frame, row, effect, facts, node)
    if holds is False:
        return asked
    sure = _sure(effect, facts)
    if holds is None:
        sure = Confidence.POSSIBLE
    elif row.provenance == DOCUMENTED:
        sure = min(sure, Confidence.LIKELY)
    before = frame.live
    frame.live &= effect.targets
    emitter = EMITTERS.get(effect.kind)
    if emitter is not None:
        emitter(frame, row, effect, facts, node, sure)
    frame.live = before
    return True


SEED_SET = "the seed is set while capturing only"
"""What the table says of calls that set a seed."""
DOCUMENTED = ("doc",)
"""How rows are known that nobody measured, and of which no source was read: nothing is certain of them."""
ASKING = frozenset({"read", "shape"})
"""Effects that host tensors have too, where Dynamo traces them."""


def _ask_host(frame: Frame, row: Row, effect: Effect, facts: Facts, node: ast.AST) -> bool:
    """What is free on the host for a capture: Dynamo is asked for values of host tensors as for those of others."""
    hosted = [t.sure for value in facts.given.values() for t in tensors_in(value) if t.place in untraced.ON_HOST]
    if hosted and effect.targets & frame.live & Target.COMPILE:
        with facts.anywhere():
            if happens(effect, facts, frame.machine.told.torch):
                untraced.split(frame, node, max(hosted), short(row))
    if hosted and row.name == "torch.Tensor.item":
        from graphlint.interp.frozen import note_read_out  # few regions read host tensors

        note_read_out(frame, facts.value("self"), node)
    return bool(hosted)


def _sure(effect: Effect, facts: Facts) -> Confidence:
    """As sure as the surest device tensor that the effect can be about; a copy as its end on the host, too."""
    subjects = [effect.subject] if effect.subject else list(facts.given)
    found = [tensor.sure for name in subjects for tensor in tensors_in(facts.value(name)) if tensor.place is Place.DEVICE]
    sure = max(found, default=Confidence.CERTAIN)
    if effect.kind not in ("h2d", "d2h"):
        return sure
    ends = [tensor.sure for name in TRANSFERRED for tensor in tensors_in(facts.value(name)) if tensor.place is Place.HOST]
    return min(sure, max(ends, default=sure))


Emitter = Callable[[Frame, Row, Effect, Facts, ast.AST, Confidence], None]


def short(row: Row) -> str:
    """The name as users write it."""
    return row.name.replace("torch.Tensor.", "").removeprefix("builtins.").removesuffix(".forward")


def _read(frame: Frame, row: Row, effect: Effect, facts: Facts, node: ast.AST, sure: Confidence) -> None:
    if row.name.startswith("torch.linalg.") and sure is not Confidence.POSSIBLE:
        # Solvers that check their result use the same handles as those that do not.
        frame.machine.libraries |= warmth.REFUSED
    if row.name.startswith("torch.Tensor.") and isinstance(row.result, (grammar.Number, grammar.Plain)):
        # Only a tensor has the method: that it is called says what the receiver is, though not where.
        if facts.device("self") is None and not _may_be_host(frame, node):
            sure = max(sure, Confidence.LIKELY)
        frame.emit(events.HostRead, node, sure, method=short(row))
    else:
        frame.emit(events.LibraryRead, node, sure, call=short(row), why=effect.why, splits=True)


def _may_be_host(frame: Frame, node: ast.AST) -> bool:
    """Whether what a method is called on is, of several tensors that may be meant, one on the host."""
    owner = node.func.value if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else None
    whole = frame.eval(owner) if isinstance(owner, (ast.Name, ast.Subscript)) else None
    return whole is not None and any(isinstance(each, Tensor) and each.place is Place.HOST for each in members(whole))


TRANSFERRED = ("self", "src", "new_scale")
"""Parameters of rows that are the very thing a call copies; another host tensor is an operand."""


def _copy(frame: Frame, row: Row, effect: Effect, facts: Facts, node: ast.AST, sure: Confidence) -> None:
    value = facts.value(effect.subject) if effect.subject else None
    is_tensor = value is not None and any(True for _ in tensors_in(value))
    if effect.subject in TRANSFERRED and (is_tensor or isinstance(value, ExternalObject)):
        frame.emit(events.HostToDevice, node, sure, call=short(row), origin="")
    elif is_tensor:
        frame.emit(events.HostOperand, node, sure, call=short(row), argument=effect.subject)
    else:
        frame.emit(events.HostLiteral, node, sure, call=short(row), why=effect.why)


def _remark(frame: Frame, row: Row, effect: Effect, facts: Facts, node: ast.AST, sure: Confidence) -> None:
    """A warning behind a condition speaks of what hardly ever happens, unless it asks for an argument left out."""
    sure = Confidence.POSSIBLE if frame.branches else sure
    frame.emit(events.GraphBreak, node, sure, construct=short(row), why=effect.why)


def _break(frame: Frame, call: str, why: str, node: ast.AST, sure: Confidence) -> None:
    """Told once a line: where Dynamo has left its graph for one `x.data_ptr()`, the next ones split nothing more."""
    said = (call, frame.span(node).line)
    seen, made = frame.summary.seen, frame.summary.events
    if said in seen and made[seen[said]].confidence >= sure and made[seen[said]].targets & frame.live == frame.live:
        return
    frame.emit(events.GraphBreak, node, sure, construct=call, why=why)
    if (events.GraphBreak, frame.span(node)) in seen:
        seen[said] = seen[events.GraphBreak, frame.span(node)]


def _seed(frame: Frame, row: Row, effect: Effect, facts: Facts, node: ast.AST, sure: Confidence) -> None:
    """The state of a generator; that of the host is as it was where a function keeps it and sets it again.

    That of the device is not: what the region drew has moved it on in every replay.
    """
    kept = not row.name.startswith("torch.cuda.") and sets_back(frame.summary.decl, short(row))
    from graphlint.interp import seeding  # here because few regions set seeds

    is_default = not row.name.startswith(seeding.OBJECTS)
    if not kept and is_default and effect.why == SEED_SET and seeding.reseeds(frame, facts.value("seed"), node):
        frame.emit(events.LibraryRefused, node, Confidence.LIKELY, call=short(row), why=seeding.REFUSED)
        return
    _state(frame, row, effect, facts, node, min(sure, Confidence.POSSIBLE if kept else Confidence.LIKELY))


def _state(frame: Frame, row: Row, effect: Effect, facts: Facts, node: ast.AST, sure: Confidence) -> None:
    frame.emit(events.HostMutation, node, sure, target=short(row), what="call", why=effect.why)


def _handle(frame: Frame, row: Row, effect: Effect, facts: Facts, node: ast.AST, sure: Confidence) -> None:
    if facts.owner is None:
        warmth.use(frame, effect.why, node, short(row), sure)
    else:
        frame.machine.libraries.add(effect.why)


def _argument(frame: Frame, row: Row, effect: Effect, facts: Facts, node: ast.AST, sure: Confidence) -> None:
    """A tensor where a number belongs: of several functions that may be called, it is hardly this one."""
    sure = Confidence.POSSIBLE if frame.choosing else sure
    doubt = untraced.or_number(facts.value(effect.subject))
    frame.emit(events.HostArgument, node, sure, call=short(row), argument=_named(row, effect, facts), or_number=doubt)


def _named(row: Row, effect: Effect, facts: Facts) -> str:
    """The parameter of an effect; the one number that a range is given is its end."""
    ends = any(parameter.name == "end" for parameter in row.parameters)
    return "end" if effect.subject == "start" and ends and "end" not in facts.given else effect.subject


def _generator(frame: Frame, row: Row, effect: Effect, facts: Facts, node: ast.AST, sure: Confidence) -> None:
    """A draw from a generator, unless a graph of the file is told of one by that name."""
    words = node.keywords if isinstance(node, ast.Call) else []
    given = next((word.value for word in words if word.arg == "generator"), None)
    if given is None or last(given) not in _registered(frame):
        if sure is Confidence.POSSIBLE and isinstance(given, ast.Attribute):
            from graphlint.interp import drawing  # here because hardly any code keeps generators of its own

            sure = Confidence.LIKELY if drawing.is_filled(frame, effect, facts, given) else sure
        if type(facts.value("device")) in (Union, Text):
            from graphlint.interp import drawing  # here because hardly any code chooses where it draws

            sure = Confidence.POSSIBLE if drawing.may_be_on_host(facts) else sure
        frame.emit(events.GeneratorUse, node, sure, call=short(row))


def _draw(frame: Frame, row: Row, effect: Effect, facts: Facts, node: ast.AST, sure: Confidence) -> None:
    """A draw on the host; one of several objects that may be meant, of which others draw on the device, hardly does."""
    owner = node.func.value if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else None
    several = members(frame.eval(owner)) if facts.owner is not None and isinstance(owner, (ast.Name, ast.Attribute)) else ()
    if any(isinstance(each, Instance) and _is_made_on_device(each) for each in several):
        sure = Confidence.POSSIBLE
    frame.emit(events.HostRandom, node, sure, call=short(row))


def _is_made_on_device(value: Instance) -> bool:
    made = value.arguments or Arguments()
    given = (*made.positional, *(each for _, each in made.keywords))
    return any(tensor.place is Place.DEVICE for each in given for tensor in tensors_in(each))


REGISTERS = "register_generator_state"


def _registered(frame: Frame) -> frozenset[str]:
    """The names of generators that graphs are told of, so that a replay advances them."""
    source = frame.module.source
    if REGISTERS not in source.text:
        return frozenset()
    calls = [node for node in walk(source.tree) if isinstance(node, ast.Call) and node.args]
    return frozenset(last(node.args[0]) for node in calls if last(node.func) == REGISTERS)


def _clock(frame: Frame, row: Row, effect: Effect, facts: Facts, node: ast.AST, sure: Confidence) -> None:
    """A clock moves on; an address or an environment is hardly ever another at the next call."""
    decl = frame.summary.decl
    counts = _is_number(frame, node) if effect.why else not is_measured(decl, node) and not is_only_kept(decl, node)
    sure = sure if counts else Confidence.POSSIBLE
    frame.emit(events.ClockRead, node, sure, call=short(row), what=effect.why or "clock")


NUMBERS = frozenset({"float", "int", "len"})


def _is_number(frame: Frame, node: ast.AST) -> bool:
    """Whether a text becomes a number to compute with: `float(os.environ["SCALE"])`; `int(...)` alone makes a switch."""
    decl = frame.summary.decl
    if decl is None:
        return False
    calls = [each for each in decl.every(ast.Call) if isinstance(each.func, ast.Name) and each.func.id in NUMBERS]
    return any(
        last(each.func) == "float" or any(stands_in((sum_,), each) for sum_ in decl.every(ast.BinOp))
        for each in calls
        if stands_in((each,), node)
    )


EMITTERS: dict[str, Emitter] = {
    "read": _read,
    "sync": lambda f, row, e, facts, node, sure: f.emit(events.Synchronize, node, sure, call=short(row)),
    "shape": lambda f, row, e, facts, node, sure: f.emit(events.DataShape, node, sure, call=short(row), why=e.why),
    "d2h": lambda f, row, e, facts, node, sure: f.emit(events.DeviceToHost, node, sure, call=short(row)),
    "h2d": _copy,
    "argument": _argument,
    "refused": lambda f, row, e, facts, node, sure: f.emit(events.LibraryRefused, node, sure, call=short(row), why=e.why),
    "pinned": lambda f, row, e, facts, node, sure: f.emit(events.PinnedMemory, node, sure, call=short(row)),
    "hostrandom": _draw,
    "generator": _generator,
    "seed": _seed,
    "clock": _clock,
    "state": _state,
    "backward": lambda f, row, e, facts, node, sure: f.emit(
        events.LibraryRead, node, min(sure, Confidence.LIKELY), call=short(row), why=e.why, backward=True
    ),
    "handle": _handle,
    "gradient": lambda f, row, e, facts, node, sure: f.emit(events.BackwardRun, node, sure),
    "remark": _remark,
    "skip": lambda f, row, e, facts, node, sure: f.emit(events.GraphsSkipped, node, sure, call=short(row), why=e.why),
    "break": lambda f, row, e, facts, node, sure: _break(f, short(row), e.why, node, sure),
}


def is_measured(decl: FunctionDecl | None, node: ast.AST) -> bool:
    """Whether a clock is read for a duration that decides nothing: `took = time.time() - start`, and its `start`."""
    if decl is None:
        return False
    differences = [each for each in decl.every(ast.BinOp) if isinstance(each.op, ast.Sub)]
    ends = [each for each in differences if each.left is node]
    if ends:
        return all(_is_only_told(decl, each) for each in ends)
    starts = list(_bound_to(decl, node))
    if not starts:
        return _is_timed(decl, node)
    taken = [each for each in differences if isinstance(each.right, ast.Name) and each.right.id in starts]
    return bool(taken) and _reads(decl, starts) == len(taken) and all(_is_only_told(decl, each) for each in taken)


def is_only_kept(decl: FunctionDecl | None, node: ast.AST) -> bool:
    """Whether an object keeps a clock that nobody reads."""
    from graphlint.interp.unread import is_unread  # here because few regions ask a clock

    names = _kept_as(decl, node) if decl is not None else ()
    return decl is not None and bool(names) and all(is_unread((decl.module,), each, node, decl) for each in names)


def _is_timed(decl: FunctionDecl, node: ast.AST) -> bool:
    """Whether an object keeps a clock for durations alone: `self.at = time.time()`, then `time.time() - self.at`."""
    from graphlint.interp.unread import attributes  # here because few regions ask a clock

    owner, names = decl.owner, _kept_as(decl, node)
    if owner is None or not names:
        return False
    symbols = [(name, found[-1]) for name, found in owner.members.items()]
    methods = [owner.module.function(each, owner, name) for name, each in symbols if isinstance(each, ast.FunctionDef)]
    asked = [part for each in methods for part in each.every(ast.Compare) if against_none(part) is not None]
    named = [part for each in methods for part in each.every(ast.Attribute) if part.attr in names]
    if any(each not in named for name in names for each in attributes(owner.module, name)):
        return False  # somebody else in the file reads it
    reads = [part for part in named if isinstance(part.ctx, ast.Load)]
    taken = [(each, part) for each in methods for part in each.every(ast.BinOp) if isinstance(part.op, ast.Sub)]
    taken = [(each, part) for each, part in taken if any(part.right is read for read in reads)]
    plain = [each for each in reads if not any(part.left is each for part in asked)]
    return len(plain) == len(taken) > 0 and all(_is_only_told(each, part) for each, part in taken)


def _kept_as(decl: FunctionDecl, node: ast.AST) -> frozenset[str]:
    """The attributes of its object that a method binds to an expression, as it is or as one of two."""
    own = receiver_name(decl.node) if isinstance(decl.node, ast.FunctionDef) else ""
    bound = [each for each in decl.every(ast.Assign) if each.value is node or getattr(each.value, "body", None) is node]
    targets = [target for each in bound for target in each.targets if isinstance(target, ast.Attribute)]
    return frozenset(target.attr for target in targets if spelled(target.value) == own)


def _bound_to(decl: FunctionDecl, value: ast.AST) -> Iterator[str]:
    """The variables that are bound to an expression."""
    for each in decl.every(ast.Assign):
        if each.value is value:
            yield from (target.id for target in each.targets if isinstance(target, ast.Name))


def _reads(decl: FunctionDecl, names: list[str]) -> int:
    return sum(isinstance(each.ctx, ast.Load) and each.id in names for each in decl.every(ast.Name))


def _is_only_told(decl: FunctionDecl, difference: ast.BinOp) -> bool:
    """Whether no condition and no product rests on a duration, nor on the variable that holds it."""
    names = list(_bound_to(decl, difference))
    deciding = [*decl.every(ast.Compare), *(each for each in decl.every(ast.BinOp) if _is_product(each))]
    return not any(
        part is difference or (isinstance(part, ast.Name) and part.id in names) for each in deciding for part in walk(each)
    )


def _is_product(node: ast.BinOp) -> bool:
    """A product or remainder that is more than another unit: `(end - start) * 1000`."""
    scaled = isinstance(node.left, ast.Constant) or isinstance(node.right, ast.Constant)
    return isinstance(node.op, (ast.Mult, ast.Mod, ast.Pow, ast.MatMult)) and not scaled
