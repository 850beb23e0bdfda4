"""What Python's own functions and containers do with abstract values."""

from __future__ import annotations

import ast
from collections.abc import Callable

from fnmatch import fnmatchcase

from graphlint.effects.table import lookup
from graphlint.events import GraphBreak, HostArgument, HostCast, HostCompare, HostFormat, HostMutation
from graphlint.interp.annotations import PLAIN
from graphlint.interp.conditions import truth
from graphlint.interp.dispatch import apply, attribute, element
from graphlint.interp.expressions import formats
from graphlint.interp.frame import Frame
from graphlint.interp.indexing import with_entry
from graphlint.interp.isinstance import split
from graphlint.interp.mutation import path_of, report_growth
from graphlint.interp.objects import record_of, store_attribute
from graphlint.types import Confidence, Target
from graphlint.values import (
    EITHER,
    FALSE,
    TRUE,
    Arguments,
    Bool,
    ClassValue,
    External,
    ExternalObject,
    Function,
    Instance,
    Kind,
    Nothing,
    Number,
    Opaque,
    Origin,
    Partial,
    Place,
    Seq,
    SliceValue,
    SuperValue,
    Table,
    Tensor,
    Text,
    Unknown,
    Value,
    join,
    join_all,
    members,
    on_device,
    one_of,
    tensors_in,
)

Function_ = Callable[[Frame, Arguments, ast.AST], Value]
Method_ = Callable[[Frame, Value, Arguments, ast.AST], Value]
FUNCTIONS: dict[str, Function_] = {}
METHODS: dict[tuple[type[Value], str], Method_] = {}
MODULE_METHODS: dict[str, Method_] = {}

TUPLE_BASES = {"typing.NamedTuple", "collections.namedtuple"}
ENUM_BASES = {"enum.Enum", "enum.IntEnum", "enum.StrEnum", "enum.Flag", "enum.IntFlag"}


def function(*names: str) -> Callable[[Function_], Function_]:
    def enter(handler: Function_) -> Function_:
        for name in names:
            FUNCTIONS[name] = handler
        return handler

    return enter


def method(kind: type[Value], *names: str) -> Callable[[Method_], Method_]:
    def enter(handler: Method_) -> Method_:
        for name in names:
            METHODS[kind, name] = handler
        return handler

    return enter


def first(arguments: Arguments, position: int = 0, name: str = "") -> Value | None:
    """The argument at a position or of a name."""
    if position < len(arguments.positional):
        return arguments.positional[position]
    return arguments.keyword(name) if name else arguments.more


def device_tensor(value: Value | None) -> Tensor | None:
    """A device tensor among the members of a value itself, not inside its containers."""
    for member in members(value) if value is not None else ():
        if isinstance(member, Tensor) and member.place is Place.DEVICE:
            return member
    return None


@function("builtins.int", "builtins.float", "builtins.complex", "builtins.bool", "builtins.round", "operator.index", "builtins.bin", "builtins.hex", "builtins.divmod", "builtins.chr")
def cast(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    value = first(arguments)
    name = ast.unparse(node.func) if isinstance(node, ast.Call) else "int"
    tensor = device_tensor(value)
    if tensor is not None:
        if name == "round":
            return tensor
        frame.emit(HostCast, node, tensor.sure, builtin=name)
    return _converted(frame, name, value, node)


def _converted(frame: Frame, name: str, value: Value | None, node: ast.AST) -> Value:
    origin = Origin.DATA if any(True for _ in tensors_in(value)) else value.origin if isinstance(value, Number) else Origin.CONFIG
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
    return Number(Kind.INT, None, Origin.SHAPE)


@function("builtins.range")
def range_(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    for value in arguments.values():
        tensor = device_tensor(value)
        if tensor is not None:
            frame.emit(HostArgument, node, tensor.sure, call="range", argument="bound")
    counts = [value.value if isinstance(value, Number) else None for value in arguments.positional]
    if len(counts) == 1 and isinstance(counts[0], int) and 0 <= counts[0] <= 16:
        return Seq("iter", tuple(Number(Kind.INT, i) for i in range(counts[0])))
    return Seq("iter", None, Number(Kind.INT, None, Origin.SHAPE))


@function("builtins.max", "builtins.min", "builtins.sorted")
def extreme(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    name = ast.unparse(node.func) if isinstance(node, ast.Call) else "max"
    single = len(arguments.positional) == 1 and arguments.more is None
    parts = [element(frame, arguments.positional[0], node)] if single else list(arguments.positional)
    if arguments.more is not None:
        parts.append(arguments.more)
    tensor = next((found for found in map(device_tensor, parts) if found is not None), None)
    whole = arguments.positional[0] if arguments.positional else None
    if tensor is not None and not (single and isinstance(whole, Seq) and whole.items is not None and len(whole.items) < 2) and arguments.keyword("key") is None:
        frame.emit(HostCompare, node, tensor.sure, builtin=name)
    value = join_all(parts) if parts else Unknown()
    if name == "sorted":
        return Seq("list", None, value)
    return join_all([member.replace(value=None) if isinstance(member, Number) and len(parts) > 1 else member for member in members(value)])


@function("builtins.any", "builtins.all")
def quantifier(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    value = first(arguments)
    held = element(frame, value, node) if value is not None else Unknown()
    tensor = device_tensor(held)
    if tensor is not None:
        name = ast.unparse(node.func) if isinstance(node, ast.Call) else "any"
        frame.emit(HostCompare, node, tensor.sure, builtin=name)
    return EITHER


@function("builtins.sum", "math.prod", "functools.reduce")
def total(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    value = first(arguments, 1 if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("reduce") else 0)
    held = element(frame, value, node) if value is not None else Unknown()
    return join_all([member.replace(value=None) if isinstance(member, Number) else member for member in members(held)])


@function("builtins.abs", "builtins.pow")
def magnitude(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    value = first(arguments) or Unknown()
    return join_all([member.replace(value=None) if isinstance(member, Number) else member for member in members(value)])


@function("builtins.print", "builtins.str", "builtins.repr", "builtins.format", "builtins.ascii")
def texts(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    name = ast.unparse(node.func) if isinstance(node, ast.Call) else "print"
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


@function("builtins.filter")
def filter_(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    callee, *rest = arguments.positional or (Unknown(),)
    held = element(frame, rest[0], node) if rest else Unknown()
    if not isinstance(callee, Nothing):
        truth(frame, apply(frame, callee, Arguments((held,)), node), node, "filter")
    return Seq("iter", None, held)


@function("builtins.iter", "builtins.reversed", "itertools.chain.from_iterable", "itertools.cycle", "itertools.islice")
def iterate(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    value = first(arguments)
    return Seq("iter", None, element(frame, value, node) if value is not None else Unknown())


@function("itertools.chain")
def chain(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    held = [element(frame, value, node) for value in arguments.values()]
    return Seq("iter", None, join_all(held) if held else Unknown())


@function("builtins.next")
def next_(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    source = node.args[0] if isinstance(node, ast.Call) and node.args else None
    owner = frame.env.get(source.value.id) if isinstance(source, ast.Attribute) and isinstance(source.value, ast.Name) else None
    if source is not None and owner is not None and any(isinstance(each, Instance) and not each.fresh for each in members(owner)):
        frame.emit(HostMutation, node, target=ast.unparse(source), what="iterator")
    held = element(frame, first(arguments) or Unknown(), node)
    default = first(arguments, 1)
    return held if default is None else join(held, default)


@function("builtins.list", "builtins.tuple", "builtins.set", "builtins.frozenset", "collections.deque")
def container(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    name = (ast.unparse(node.func) if isinstance(node, ast.Call) else "list").replace("frozenset", "set").rpartition(".")[2]
    form = name if name in ("list", "tuple", "set") else "list"
    value = first(arguments)
    if value is None:
        return Seq(form, ())
    if isinstance(value, Seq) and value.items is not None:
        return Seq(form, value.items, value.rest)
    return Seq(form, None, element(frame, value, node))


@function("builtins.dict", "collections.OrderedDict", "collections.defaultdict")
def dict_(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    table = Table()
    for value in arguments.positional:
        for member in members(value):
            if isinstance(member, Table):
                for key, entry in member.items:
                    table = with_entry(table, key, entry)
                table = table if member.rest is None else with_entry(table, None, member.rest)
            elif isinstance(member, Seq):
                pair = member.element()
                held = pair.items[1] if isinstance(pair, Seq) and pair.items is not None and len(pair.items) == 2 else Unknown()
                table = with_entry(table, None, held)
    for key, entry in arguments.keywords:
        table = with_entry(table, key, entry)
    return table if arguments.more_keywords is None else with_entry(table, None, arguments.more_keywords)


@function("builtins.isinstance", "builtins.issubclass")
def isinstance_(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    if len(arguments.positional) != 2:
        return EITHER
    inside, outside = split(frame, arguments.positional[0], arguments.positional[1])
    return Bool(Target.NONE if inside is None else Target.BOTH, Target.NONE if outside is None else Target.BOTH)


@function("builtins.hasattr")
def hasattr_(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    owner, name = first(arguments) or Unknown(), first(arguments, 1)
    if not isinstance(name, Text) or name.value is None:
        return EITHER
    if all(isinstance(member, Tensor) for member in members(owner)):
        return TRUE if lookup(f"torch.Tensor.{name.value}") is not None else FALSE
    return EITHER


@function("builtins.getattr")
def getattr_(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    owner, name = first(arguments) or Unknown(), first(arguments, 1)
    default = first(arguments, 2)
    if isinstance(name, Text) and name.value is not None:
        found = attribute(frame, owner, name.value, node)
        return found if default is None else join(found, default)
    pattern = name.key if isinstance(name, Text) else "*"
    held = [_any_attribute(frame, member, pattern) for member in members(owner)]
    return join_all(held if default is None else [*held, default])


def _any_attribute(frame: Frame, owner: Value, pattern: str) -> Value:
    """Some attribute whose name is put together at run time: one made under the same pattern, else any that fits it."""
    if not isinstance(owner, Instance):
        return Unknown() if not isinstance(owner, Opaque) else owner
    record = record_of(frame.machine, owner)
    for key in (pattern, "*"):
        found = record.read(frame.machine, key)
        if found is not None:
            return found
    lasting = [value for name, value in record.items(frame.machine) if fnmatchcase(name, pattern) and isinstance(value, (Tensor, Instance))]
    return join_all(lasting) if lasting else Unknown()


@function("builtins.setattr")
def setattr_(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    if len(arguments.positional) == 3:
        owner, name, value = arguments.positional
        store_attribute(frame, owner, name.key if isinstance(name, Text) else "*", value)
    return Nothing()


@function("builtins.super")
def super_(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    receiver = arguments.positional[1] if len(arguments.positional) == 2 else frame.receiver
    start = arguments.positional[0].decl if arguments.positional and isinstance(arguments.positional[0], ClassValue) else frame.owner
    if receiver is None or start is None:
        return Unknown()
    return SuperValue(receiver, start)


@function("builtins.slice")
def slice_(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    parts = list(arguments.positional)
    if len(parts) == 1:
        parts.insert(0, Nothing())
    parts += [Nothing()] * (3 - len(parts))
    return SliceValue(parts[0], parts[1], parts[2])


@function("builtins.type")
def type_(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    value = first(arguments)
    found = [ClassValue(member.decl) if isinstance(member, Instance) else Unknown() for member in members(value)] if value is not None else []
    return join_all(found) if found else Unknown()


@function("builtins.callable")
def callable_(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    return EITHER


@function("functools.partial", "functools.partialmethod")
def partial(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    if not arguments.positional:
        return Unknown()
    return Partial(arguments.positional[0], arguments.replace(positional=arguments.positional[1:]))


@function("functools.wraps", "functools.update_wrapper")
def wraps(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    return External("graphlint.same")


@function("graphlint.same", "copy.copy", "copy.deepcopy", "functools.cache", "contextlib.contextmanager", "typing.cast_")
def same(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    return first(arguments) or Unknown()


@function("functools.lru_cache")
def lru_cache(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    value = first(arguments)
    return value if isinstance(value, Function) else External("graphlint.same")


@function("typing.cast")
def typing_cast(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    return first(arguments, 1) or Unknown()


@function("dataclasses.replace")
def replace(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    return first(arguments) or Unknown()


def _math(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    for value in arguments.values():
        tensor = device_tensor(value)
        if tensor is not None:
            frame.emit(HostCast, node, tensor.sure, builtin=ast.unparse(node.func) if isinstance(node, ast.Call) else "math")
            break
    origins = [value.origin for value in arguments.values() if isinstance(value, Number)]
    return Number(Kind.FLOAT, None, max([Origin.CONFIG, *origins], key=lambda origin: origin.value))


MATH = "ceil floor sqrt log log2 log10 exp pow sin cos tan atan atan2 hypot fabs isnan isinf isfinite gcd trunc comb erf"
for _name in MATH.split():
    FUNCTIONS[f"math.{_name}"] = _math


@method(Seq, "append", "add", "insert", "appendleft")
def append(frame: Frame, receiver: Value, arguments: Arguments, node: ast.AST) -> Value:
    assert isinstance(receiver, Seq)
    value = arguments.positional[-1] if arguments.positional else Unknown()
    report_growth(frame, node)
    if receiver.items is not None and receiver.rest is None and len(receiver.items) < 16:
        changed = receiver.replace(items=(*receiver.items, value))
    else:
        changed = Seq(receiver.form, None, join(receiver.element(), value))
    write_back(frame, node, changed)
    return Nothing()


@method(Seq, "extend", "update")
def extend(frame: Frame, receiver: Value, arguments: Arguments, node: ast.AST) -> Value:
    assert isinstance(receiver, Seq)
    report_growth(frame, node)
    held = element(frame, first(arguments) or Unknown(), node)
    empty = receiver.items == () and receiver.rest is None
    write_back(frame, node, Seq(receiver.form, None, held if empty else join(receiver.element(), held)))
    return Nothing()


def write_back(frame: Frame, node: ast.AST, changed: Value) -> None:
    """A container changed in place: rebind the variable or attribute it was read from."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return
    owner = node.func.value
    path = path_of(owner)
    if path is None:
        return
    if "." not in path and path not in frame.env and frame.scope.find(path) is not None:
        scope = frame.scope.parent
        while scope is not None and path not in scope.env:
            scope = scope.parent
        if scope is not None:
            scope.env[path] = changed
        return
    frame.env[path] = changed
    if isinstance(owner, ast.Attribute):
        store_attribute(frame, frame.eval(owner.value), owner.attr, changed)


@method(Seq, "pop", "popleft")
def pop(frame: Frame, receiver: Value, arguments: Arguments, node: ast.AST) -> Value:
    assert isinstance(receiver, Seq)
    return receiver.element()


@method(Seq, "index", "count", "numel", "__len__")
def position(frame: Frame, receiver: Value, arguments: Arguments, node: ast.AST) -> Value:
    assert isinstance(receiver, Seq)
    sought = first(arguments)
    tensor = device_tensor(sought) or (on_device(receiver) if sought is not None else None)
    if tensor is not None:
        frame.emit(HostCompare, node, tensor.sure, builtin="index")
    return Number(Kind.INT, None, Origin.SHAPE)


@method(Seq, "sort", "reverse", "clear", "remove")
def rearrange(frame: Frame, receiver: Value, arguments: Arguments, node: ast.AST) -> Value:
    return Nothing()


@method(Seq, "copy", "children", "modules", "union", "difference", "intersection")
def copy(frame: Frame, receiver: Value, arguments: Arguments, node: ast.AST) -> Value:
    return receiver


@method(Table, "keys")
def keys(frame: Frame, receiver: Value, arguments: Arguments, node: ast.AST) -> Value:
    return Seq("iter", None, Text())


@method(Table, "values")
def values(frame: Frame, receiver: Value, arguments: Arguments, node: ast.AST) -> Value:
    assert isinstance(receiver, Table)
    return Seq("iter", None, receiver.element())


@method(Table, "items")
def items(frame: Frame, receiver: Value, arguments: Arguments, node: ast.AST) -> Value:
    assert isinstance(receiver, Table)
    return Seq("iter", None, Seq("tuple", (Text(), receiver.element())))


@method(Table, "get", "pop", "setdefault")
def get(frame: Frame, receiver: Value, arguments: Arguments, node: ast.AST) -> Value:
    assert isinstance(receiver, Table)
    key, default = first(arguments), first(arguments, 1, "default")
    name = key.value if isinstance(key, (Text, Number)) else None
    for known, entry in receiver.items:
        if known == name and name is not None:
            return entry
    found = receiver.element() if name is None else receiver.rest
    if found is None:
        return default if default is not None else Nothing()
    return join(one_of(found), default if default is not None else Nothing())


@method(Table, "update")
def update(frame: Frame, receiver: Value, arguments: Arguments, node: ast.AST) -> Value:
    assert isinstance(receiver, Table)
    changed = receiver
    brought = dict_(frame, arguments, node)
    assert isinstance(brought, Table)
    for key, entry in brought.items:
        changed = with_entry(changed, key, entry)
    write_back(frame, node, changed if brought.rest is None else with_entry(changed, None, brought.rest))
    return Nothing()


@method(Table, "copy")
def copy_table(frame: Frame, receiver: Value, arguments: Arguments, node: ast.AST) -> Value:
    return receiver


@method(Text, "format")
def format_text(frame: Frame, receiver: Value, arguments: Arguments, node: ast.AST) -> Value:
    for value in arguments.values():
        formats(frame, value, node, "format")
    return Text()


@method(Text, "split", "rsplit", "splitlines", "partition", "rpartition")
def split_text(frame: Frame, receiver: Value, arguments: Arguments, node: ast.AST) -> Value:
    return Seq("list", None, Text())


_ = (Confidence, ExternalObject, HostFormat, PLAIN)
