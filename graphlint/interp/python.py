"""What Python's own functions and containers do with abstract values."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TypeVar

from graphlint.events import GraphBreak, HostArgument, HostCast, HostCompare, HostMutation
from graphlint.interp.callbacks import compared, keyed
from graphlint.interp.conditions import truth
from graphlint.interp.dispatch import apply, attribute, element
from graphlint.interp.drifting import lengthens
from graphlint.interp.expressions import formats
from graphlint.interp.frame import Frame
from graphlint.interp.handlers import device_tensor, first, function
from graphlint.interp.results import origin_of_read
from graphlint.interp.specials import converted, special
from graphlint.interp.untraced import ask
from graphlint.syntax import last, last_called, spelled, stands_in, stored, walk
from graphlint.types import Target
from graphlint.values import (
    EITHER,
    Arguments,
    Bool,
    Function,
    Instance,
    Kind,
    Nothing,
    Number,
    Opaque,
    Origin,
    Seq,
    SliceValue,
    Table,
    Text,
    Unknown,
    Value,
    join,
    join_all,
    members,
    tensors_in,
)

N = TypeVar("N", bound=ast.AST)
INDICES = frozenset({"bin", "hex", "oct", "chr"})
MATH = "ceil floor sqrt log log2 log10 exp pow sin cos tan atan atan2 hypot fabs isnan isinf isfinite gcd trunc comb erf"


@function(
    "builtins.int",
    "builtins.float",
    "builtins.complex",
    "builtins.bool",
    "builtins.round",
    "operator.index",
    "builtins.bin",
    "builtins.hex",
    "builtins.oct",
    "builtins.divmod",
    "builtins.chr",
)
def cast(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    value = first(arguments)
    name = spelled(node.func) if isinstance(node, ast.Call) else "int"
    tensor = device_tensor(value)
    if tensor is not None:
        if name == "round":
            return tensor
        frame.emit(HostCast, node, tensor.sure, builtin=name)
    elif isinstance(value, Instance) and name != "bool":
        word = name.rpartition(".")[2]
        return converted(frame, value, "index" if word in INDICES else word, node) or Opaque()
    elif name != "round":
        ask(frame, value, node, name)
    return _converted(frame, name, value, node)


def _converted(frame: Frame, name: str, value: Value | None, node: ast.AST) -> Value:
    held = next(tensors_in(value), None) if value is not None else None
    origin = origin_of_read(held) if held is not None else value.origin if isinstance(value, Number) else Origin.CONFIG
    if name == "bool":
        if value is None or any(True for _ in tensors_in(value, 0)):
            return EITHER
        true, false = truth(frame, value, node, "bool")
        return Bool(true, false)
    kind = Kind.INT if name in ("int", "index", "operator.index") else Kind.FLOAT
    if isinstance(value, Number) and value.value is not None and kind is Kind.INT:
        return Number(kind, int(value.value), origin) if abs(value.value) < 1 << 40 else Number(kind, None, origin)
    if isinstance(value, Number) and value.value is not None and name == "float":
        return Number(kind, float(value.value), origin)
    return Number(kind, None, origin)


@function("builtins.len")
def length(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    value = first(arguments)
    if isinstance(value, (Seq, Table)) and value.items is not None and value.rest is None:
        return Number(Kind.INT, len(value.items))
    if isinstance(value, Instance):
        found = attribute(frame, value, "__len__", node)
        if isinstance(found, Function):
            return apply(frame, found, Arguments(), node)
    return Number(Kind.INT, None, Origin.STATE if _is_filled(frame, node) else Origin.SHAPE)


def _is_filled(frame: Frame, node: ast.AST) -> bool:
    """Whether what is measured is a container of an object that outlives the call, which its methods go on filling."""
    match node:
        case ast.Call(args=[ast.Attribute(value=ast.Name(id=name), attr=attr)]):
            owners = [each for each in members(frame.env.get(name, Unknown())) if isinstance(each, Instance)]
            return any(not each.fresh and lengthens(frame.machine, each.decl, attr) for each in owners)
    return False


@function("builtins.range")
def range_(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    for value in arguments.values():
        tensor = device_tensor(value)
        if tensor is not None:
            frame.emit(HostArgument, node, tensor.sure, call="range", argument="bound")
        else:
            ask(frame, value, node, "range")
    counts = [value.value if isinstance(value, Number) else None for value in arguments.positional]
    if len(counts) == 1 and isinstance(counts[0], int) and 0 <= counts[0] <= 16:
        return Seq("iter", tuple(Number(Kind.INT, i) for i in range(counts[0])))
    return Seq("iter", None, Number(Kind.INT, None, Origin.SHAPE))


@function("builtins.max", "builtins.min", "builtins.sorted")
def extreme(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    name = spelled(node.func) if isinstance(node, ast.Call) else "max"
    single = len(arguments.positional) == 1 and arguments.more is None
    parts = [element(frame, arguments.positional[0], node)] if single else list(arguments.positional)
    if arguments.more is not None:
        parts.append(arguments.more)
    tensor = next((found for found in map(compared, keyed(frame, arguments, parts, node)) if found is not None), None)
    whole = arguments.positional[0] if arguments.positional else None
    if tensor is not None and not (single and isinstance(whole, Seq) and whole.items is not None and len(whole.items) < 2):
        frame.emit(HostCompare, node, tensor.sure, builtin=name)
    for part in parts:
        asked = special(frame, part, "__lt__", (part,), node) if isinstance(part, Instance) else None
        if asked is not None:
            truth(frame, asked, node, name)
    value = join_all(parts) if parts else Unknown()
    if name == "sorted":
        return Seq("list", None, value)
    return join_all(
        [
            member.replace(value=None) if isinstance(member, Number) and len(parts) > 1 else member
            for member in members(value)
        ]
    )


@function("builtins.any", "builtins.all")
def quantifier(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    value = first(arguments)
    held = element(frame, value, node) if value is not None else Unknown()
    tensor = device_tensor(held)
    if tensor is not None:
        name = spelled(node.func) if isinstance(node, ast.Call) else "any"
        frame.emit(HostCompare, node, tensor.sure, builtin=name)
    flags = value.items if isinstance(value, Seq) and value.rest is None else None
    if not flags or not isinstance(node, ast.Call):
        return EITHER
    return _of_all(flags) if spelled(node.func) == "all" else _negated(_of_all([_negated(each) for each in flags]))


def _of_all(flags: Sequence[Value]) -> Value:
    """Whether all of several flags hold, target by target."""
    true, false = Target.BOTH, Target.NONE
    for each in flags:
        if not isinstance(each, Bool):
            return EITHER
        true, false = true & each.true_on, false | each.false_on
    return Bool(true, false)


def _negated(flag: Value) -> Value:
    return Bool(flag.false_on, flag.true_on, flag.origin) if isinstance(flag, Bool) else flag


@function("builtins.sum", "math.prod")
def total(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    from graphlint.interp.windows import note_window  # here because few files add up what containers hold

    value = first(arguments)
    note_window(frame, node)
    held = element(frame, value, node) if value is not None else Unknown()
    return join_all([member.replace(value=None) if isinstance(member, Number) else member for member in members(held)])


@function("builtins.abs", "builtins.pow")
def magnitude(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    value = first(arguments) or Unknown()
    if isinstance(value, Instance):
        return special(frame, value, "__abs__", (), node) or Opaque()
    return join_all([member.replace(value=None) if isinstance(member, Number) else member for member in members(value)])


@function("builtins.print", "builtins.str", "builtins.repr", "builtins.format", "builtins.ascii")
def texts(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    name = spelled(node.func) if isinstance(node, ast.Call) else "print"
    for value in arguments.values():
        formats(frame, value, node, name)
    if name == "print" and not any(device_tensor(value) for value in arguments.values()):
        frame.emit(GraphBreak, node, construct="print", why="Dynamo does not trace output")
    return Nothing() if name == "print" else Text()


@function("builtins.enumerate")
def enumerate_(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    value = first(arguments) or Unknown()
    return Seq("iter", None, Seq("tuple", (Number(Kind.INT, None, Origin.SHAPE), element(frame, value, node))))


@function("builtins.zip", "itertools.zip_longest", "itertools.product")
def zip_(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    parts = tuple(element(frame, value, node) for value in arguments.positional)
    if arguments.more is not None:
        return Seq("iter", None, Seq("tuple", None, element(frame, arguments.more, node)))
    return Seq("iter", None, Seq("tuple", parts))


@function("builtins.map")
def map_(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    callee, *rest = arguments.positional or (Unknown(),)
    parts = tuple(element(frame, value, node) for value in rest)
    return Seq("iter", None, apply(frame, callee, Arguments(parts), node))


@function("builtins.iter", "builtins.reversed", "itertools.chain.from_iterable", "itertools.cycle")
def iterate(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    value = first(arguments)
    return Seq("iter", None, element(frame, value, node) if value is not None else Unknown())


@function("itertools.islice", "itertools.repeat")
def counted(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    """What comes behind the first argument counts, on the host."""
    value, *counts = arguments.positional or (Unknown(),)
    name = spelled(node.func).rpartition(".")[2] if isinstance(node, ast.Call) else "islice"
    tensor = next((found for found in map(device_tensor, counts) if found is not None), None)
    if tensor is not None:
        frame.emit(HostArgument, node, tensor.sure, call=name, argument="bound")
    return Seq("iter", None, value if name == "repeat" else element(frame, value, node))


@function("itertools.chain")
def chain(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    held = [element(frame, value, node) for value in arguments.values()]
    return Seq("iter", None, join_all(held) if held else Unknown())


@function("builtins.next")
def next_(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    source = node.args[0] if isinstance(node, ast.Call) and node.args else None
    if source is not None and _is_kept(frame, source):
        frame.emit(HostMutation, node, target=ast.unparse(source), what="iterator")
    held = element(frame, first(arguments) or Unknown(), node)
    default = first(arguments, 1)
    return held if default is None else join(held, default)


def _is_kept(frame: Frame, source: ast.expr) -> bool:
    """Whether an iterator outlives the call: a variable of the file, or an attribute of what the call was given."""
    match source:
        case ast.Name(id=name):
            if name in frame.env:
                return _is_of_around(frame, name, source)
            around = frame.scope.find(name)
            return not frame.scope.ends_with(name) if around is not None else name in frame.module.symbols
        case ast.Attribute(value=ast.Name(id=name)):
            owner = frame.env.get(name)
            return owner is not None and any(isinstance(each, Instance) and not each.fresh for each in members(owner))
    return False


def _is_of_around(frame: Frame, name: str, source: ast.expr) -> bool:
    """Whether a variable that a capture block reads was bound before the block, and not to the parts of a module."""
    if not frame.recording or frame.summary.decl is not None:
        return False
    bound = [each for each in _every(frame, ast.Assign) if any(last(to) == name for to in stored(each))]
    if any(last_called(each.value) in OF_MODULES for each in bound):
        return False
    blocks = (each for each in _every(frame, ast.With) if stands_in(each.body, source))
    return not any(stands_in(block.body, each) for block in blocks for each in bound)


def _every(frame: Frame, kind: type[N]) -> list[N]:
    """All nodes of one kind in the function, or in the file."""
    if frame.decl is not None:
        return frame.decl.every(kind)
    return [each for each in walk(frame.module.source.tree) if isinstance(each, kind)]


OF_MODULES = frozenset({"parameters", "buffers", "modules", "children", "named_parameters", "named_buffers"})
"""Methods whose iterators give what is there for every replay."""


@function("builtins.slice")
def slice_(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    parts = list(arguments.positional)
    if len(parts) == 1:
        parts.insert(0, Nothing())
    parts += [Nothing()] * (3 - len(parts))
    return SliceValue(parts[0], parts[1], parts[2])


@function(*(f"math.{name}" for name in MATH.split()))
def arithmetic(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    for value in arguments.values():
        tensor = device_tensor(value)
        if tensor is not None:
            frame.emit(HostCast, node, tensor.sure, builtin=spelled(node.func) if isinstance(node, ast.Call) else "math")
            break
        ask(frame, value, node, spelled(node.func) if isinstance(node, ast.Call) else "math")
    origins = [value.origin for value in arguments.values() if isinstance(value, Number)]
    origins += [origin_of_read(tensor) for value in arguments.values() if (tensor := device_tensor(value)) is not None]
    return Number(Kind.FLOAT, None, max([Origin.CONFIG, *origins], key=lambda origin: origin.value))
