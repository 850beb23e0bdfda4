"""Making containers and strings, and their methods."""

from __future__ import annotations

import ast

from graphlint.events import HostCompare
from graphlint.interp.callbacks import compared, keyed
from graphlint.interp.comparisons import read_in
from graphlint.interp.deferring import all_parts
from graphlint.interp.dispatch import apply, element
from graphlint.interp.entries import any_entry, other_entry, with_entry, without_entry
from graphlint.interp.expressions import formats
from graphlint.interp.frame import Frame
from graphlint.interp.handlers import device_tensor, first, function, method
from graphlint.interp.mutation import path_of, report_brought, report_growth
from graphlint.interp.objects import store_attribute
from graphlint.interp.torch_calls import call_row
from graphlint.syntax import spelled
from graphlint.types import Confidence
from graphlint.values import (
    Arguments,
    External,
    Function,
    Kind,
    Nothing,
    Number,
    Origin,
    Seq,
    Table,
    Text,
    Unknown,
    Value,
    join,
    join_all,
    loosened,
    members,
    on_device,
    one_of,
    tensors_in,
)


@function("builtins.list", "builtins.tuple", "builtins.set", "builtins.frozenset", "collections.deque")
def container(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    name = (spelled(node.func) if isinstance(node, ast.Call) else "list").replace("frozenset", "set").rpartition(".")[2]
    form = name if name in ("list", "tuple", "set") else "list"
    value = first(arguments)
    if value is None:
        return Seq(form, ())
    if isinstance(value, Seq) and value.items is not None:
        return Seq(form, value.items, value.rest)
    return Seq(form, None, element(frame, value, node))


@function("types.SimpleNamespace")
def namespace(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    call_row(frame, "types.SimpleNamespace", arguments, node, None)
    return parsed(frame, arguments, node)


@function("argparse.Namespace")
def parsed(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    """Attributes that anybody may set: what constants they hold, a configuration decides."""
    return Table(tuple((name, loosened(value)) for name, value in arguments.keywords), Unknown())


@function("collections.ChainMap")
def chained(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    """The first of several dictionaries that has a key."""
    return dict_(frame, arguments.replace(positional=arguments.positional[::-1]), node)


LIST = External("builtins.list")


@function("collections.defaultdict")
def default_dict(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    """What is missing is made by a function."""
    table = dict_(frame, arguments, node)
    factory = first(arguments)
    if factory is LIST and isinstance(table, Table):
        return with_entry(table, None, Seq("list", None, Unknown()))
    if not isinstance(factory, Function) or not isinstance(table, Table):
        return table
    return with_entry(table, None, apply(frame, factory, Arguments(), node))


@function("builtins.dict", "collections.OrderedDict")
def dict_(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    table = Table()
    for value in arguments.positional:
        for member in members(value):
            if isinstance(member, Table):
                for key, entry in member.items:
                    table = with_entry(table, key, entry)
                table = table if member.rest is None else with_entry(table, None, member.rest)
            elif isinstance(member, Seq) and (written := _written_out(member)) is not None:
                table = written if table == Table() else with_entry(table, None, written.element())
            elif isinstance(member, Seq):
                pair = member.element()
                held = (
                    pair.items[1]
                    if isinstance(pair, Seq) and pair.items is not None and len(pair.items) == 2
                    else Unknown()
                )
                table = with_entry(table, None, held)
    if table == Table():
        table = Table(arguments.keywords)
    else:
        for key, entry in arguments.keywords:
            table = with_entry(table, key, entry)
    return table if arguments.more_keywords is None else with_entry(table, None, arguments.more_keywords)


def _written_out(held: Seq) -> Table | None:
    from graphlint.interp.written_out import pairs  # here because few dictionaries are made of lists

    return pairs(held)


@method(Seq, "modules")
def modules_of_list(frame: Frame, receiver: Value, arguments: Arguments, node: ast.AST) -> Value:
    """Of a list of modules, what it holds, one after the other; where hooks are hung on them, what these hold as well."""
    found = all_parts(frame, receiver)
    return receiver if found is None else Seq("iter", None, found)


@method(Seq, "append", "add", "insert", "appendleft")
def append(frame: Frame, receiver: Value, arguments: Arguments, node: ast.AST) -> Value:
    assert isinstance(receiver, Seq)
    value = arguments.positional[-1] if arguments.positional else Unknown()
    if receiver.form != "set" or not _adds_for_good(frame, value, node):
        report_growth(frame, node)
        if next(tensors_in(value, 1), None) is not None:
            from graphlint.interp.shared_lists import note_shared  # here because not every file fills lists with tensors

            note_shared(frame, node)
    if receiver.items is not None and receiver.rest is None and len(receiver.items) < 16:
        changed = receiver.replace(items=(*receiver.items, value))
    else:
        changed = Seq(receiver.form, None, join(receiver.element(), value))
    write_back(frame, node, changed)
    return Nothing()


def _adds_for_good(frame: Frame, value: Value, node: ast.AST) -> bool:
    from graphlint.interp.told_again import adds_for_good  # here because few files keep sets

    return adds_for_good(frame, value, node)


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
    report_growth(frame, node)
    return receiver.element()


@method(Seq, "index")
def index(frame: Frame, receiver: Value, arguments: Arguments, node: ast.AST) -> Value:
    assert isinstance(receiver, Seq)
    return _place_of(first(arguments), receiver) or position(frame, receiver, arguments, node)


@method(Seq, "count", "numel", "__len__")
def position(frame: Frame, receiver: Value, arguments: Arguments, node: ast.AST) -> Value:
    assert isinstance(receiver, Seq)
    sought = first(arguments)
    tensor = read_in(frame.machine.project, sought, receiver) if sought is not None else None
    if tensor is not None:
        frame.emit(HostCompare, node, tensor.sure, builtin="index")
    return Number(Kind.INT, None, Origin.SHAPE)


def _place_of(sought: Value | None, held: Seq) -> Number | None:
    """Where a word stands among words that are all known."""
    if held.rest is not None or not isinstance(sought, Text) or sought.value is None or sought not in (held.items or ()):
        return None
    known = all(isinstance(each, Text) and each.value is not None for each in held.items or ())
    return Number(Kind.INT, (held.items or ()).index(sought), Origin.CONST) if known else None


@method(Seq, "sort")
def sort(frame: Frame, receiver: Value, arguments: Arguments, node: ast.AST) -> Value:
    assert isinstance(receiver, Seq)
    parts = [receiver.element()] if receiver.items is None or len(receiver.items) > 1 else []
    tensor = next((found for found in map(compared, keyed(frame, arguments, parts, node)) if found is not None), None)
    if tensor is not None:
        frame.emit(HostCompare, node, tensor.sure, builtin="sort")
    return Nothing()


@method(Seq, "remove")
def remove(frame: Frame, receiver: Value, arguments: Arguments, node: ast.AST) -> Value:
    """Compares what it holds with what it is to take away, up to the first that is the same."""
    sought, held = device_tensor(first(arguments)), on_device(receiver)
    if sought is not None and held is not None:
        frame.emit(HostCompare, node, min(sought.sure, held.sure, Confidence.LIKELY), builtin="remove")
    return Nothing()


@method(Seq, "reverse", "clear")
def rearrange(frame: Frame, receiver: Value, arguments: Arguments, node: ast.AST) -> Value:
    return Nothing()


@method(Table, "copy")
@method(Seq, "copy", "children", "union", "difference", "intersection")
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
    if receiver.rest is None and receiver.items and all(isinstance(key, str) for key, _ in receiver.items):
        return Seq("iter", tuple(Seq("tuple", (Text(key), entry)) for key, entry in receiver.items))
    return Seq("iter", None, Seq("tuple", (Text(), receiver.element())))


@method(Table, "setdefault")
def set_default(frame: Frame, receiver: Value, arguments: Arguments, node: ast.AST) -> Value:
    """What is there, else the default, which is there from then on."""
    assert isinstance(receiver, Table)
    key, default = first(arguments), first(arguments, 1, "default") or Nothing()
    found = get(frame, receiver, arguments, node)
    name = key.value if isinstance(key, (Text, Number)) else None
    if name is None or all(known != name for known, _ in receiver.items):
        write_back(frame, node, with_entry(receiver, name, default if receiver.rest is None else found))
    return found


@method(Table, "pop")
def take(frame: Frame, receiver: Value, arguments: Arguments, node: ast.AST) -> Value:
    """What stands under a name, which a dictionary that is a variable has no more."""
    found = get(frame, receiver, arguments, node)
    key = first(arguments)
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name))) if isinstance(key, Text) and name in frame.env:
            frame.env[name] = join_all([without_entry(each, key.value) for each in members(frame.env[name])])
    return found


@method(Table, "get")
def get(frame: Frame, receiver: Value, arguments: Arguments, node: ast.AST) -> Value:
    assert isinstance(receiver, Table)
    key, default = first(arguments), first(arguments, 1, "default")
    name = key.value if isinstance(key, (Text, Number)) else None
    for known, entry in receiver.items:
        if known == name and name is not None:
            return entry
    found = any_entry(receiver, key) if name is None else other_entry(receiver)
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
        if next(tensors_in(entry, 1), None) is not None:
            report_brought(frame, node, key)
    write_back(frame, node, changed if brought.rest is None else with_entry(changed, None, brought.rest))
    return Nothing()


@method(Text, "format", "format_map")
def format_text(frame: Frame, receiver: Value, arguments: Arguments, node: ast.AST) -> Value:
    for value in arguments.values():
        formats(frame, value, node, "format")
    return Text()


@method(Text, "split", "rsplit", "splitlines", "partition", "rpartition")
def split_text(frame: Frame, receiver: Value, arguments: Arguments, node: ast.AST) -> Value:
    return Seq("list", None, Text())
