"""Expressions other than operators and indexing: names, constants, displays, attributes, calls and text."""

from __future__ import annotations

import ast
import builtins

from graphlint.events import HostFormat
from graphlint.interp.agreeing import Facts, agreed
from graphlint.interp.assignment import assign
from graphlint.interp.carried import global_key
from graphlint.interp.conditions import test
from graphlint.interp.dispatch import apply, attribute, count_unknown, element
from graphlint.interp.drifting import drifting
from graphlint.interp.entries import with_entry
from graphlint.interp.frame import EXPRESSIONS, Frame, State, expression
from graphlint.interp.mutation import path_of
from graphlint.interp.specials import texted
from graphlint.interp.told import flag_called, flag_read
from graphlint.project import Assigned
from graphlint.syntax import against_none
from graphlint.values import (
    FALSE,
    TRUE,
    Arguments,
    External,
    ExternalObject,
    Function,
    Instance,
    Kind,
    Nothing,
    Number,
    Opaque,
    Place,
    Seq,
    Table,
    Text,
    Unknown,
    Value,
    join,
    join_all,
    members,
    tensors_in,
)
from graphlint.values.base import memo

BUILTINS = {name: External(f"builtins.{name}") for name in dir(builtins)}
MOST_ITEMS = 64
MOST_PAIRS = 2048
"""Entries of a table that is written out as pairs, of a name and what it stands for."""


CONSTANTS: dict[tuple[type, object], Value] = memo({})
"""Values of constants that were met before."""


@expression(ast.Constant)
def eval_constant(frame: Frame, node: ast.Constant) -> Value:
    key = (type(node.value), node.value)
    found = CONSTANTS.get(key)
    if found is None:
        found = CONSTANTS[key] = _constant(node)
    return found


def _constant(node: ast.Constant) -> Value:
    match node.value:
        case bool(flag):
            return TRUE if flag else FALSE
        case int(number):
            return Number(Kind.INT, number)
        case float(number):
            return Number(Kind.FLOAT, number)
        case str(text):
            return Text(text)
        case None:
            return Nothing()
    return ExternalObject("builtins.Ellipsis") if node.value is Ellipsis else Opaque()


@expression(ast.Name)
def eval_name(frame: Frame, node: ast.Name) -> Value:
    name = node.id
    found = frame.env.get(name)
    if found is not None:
        return found
    found = frame.scope.find(name)
    if found is not None:
        if name in frame.globals:
            frame.touch(global_key(frame.module, name))
        return drifting(frame.machine, frame.module, name, found) if type(found) is Number else found
    if frame.machine.told.flags and (flag := flag_read(frame, node)) is not None:
        return flag
    known = BUILTINS.get(name)
    if known is not None and name not in frame.module.symbols:
        return known
    found = frame.machine.global_(frame.module, name)
    if frame.recording and isinstance(variable := frame.machine.globals.get((frame.module, name)), Assigned):
        frame.touch(global_key(frame.module, name))
        if type(found) is Number:
            return drifting(frame.machine, variable.module, name, found)
    return found or Unknown()


@expression(ast.Attribute)
def eval_attribute(frame: Frame, node: ast.Attribute) -> Value:
    path = path_of(node)
    if path is not None and path in frame.env:
        return frame.env[path]
    if frame.machine.told.flags and (flag := flag_read(frame, node)) is not None:
        return flag
    return attribute(frame, frame.eval(node.value), node.attr, node)


@expression(ast.Call)
def eval_call(frame: Frame, node: ast.Call) -> Value:
    if frame.machine.told.flags and (flag := flag_called(frame, node)) is not None:
        return flag
    if frame.decided and type(node.func) is ast.Name and (facts := agreed(frame, node)) and node.func.id in facts.true:
        return _picked(frame, node, facts)
    callee = frame.eval(node.func)
    return apply(frame, callee, arguments_of(frame, node), node)


def _picked(frame: Frame, node: ast.Call, facts: Facts) -> Value:
    """A call of what a condition picked: once for each answer, with what else that decided."""
    before = frame.save()
    arms = [(known, before.live & on) for known, on in ((facts.true, facts.true_on), (facts.false, facts.false_on))]
    several = all(live for _, live in arms)
    frame.choosing += several
    found, ends = [], []
    for known, live in arms:
        if live:
            frame.restore(State({**before.env, **known}, live))
            found.append(apply(frame, frame.eval(node.func), arguments_of(frame, node), node))
            ends.append(State(frame.env, frame.live))
    frame.choosing -= several
    frame.merge(*ends)
    return join_all(found) if found else Unknown()


def arguments_of(frame: Frame, node: ast.Call) -> Arguments:
    """The arguments of a call; `*` and `**` are taken apart as far as their contents are known."""
    positional: list[Value] = []
    more: Value | None = None
    for part in node.args:
        if isinstance(part, ast.Starred):
            spread = frame.eval(part.value)
            if isinstance(spread, Seq) and spread.items is not None and spread.rest is None and more is None:
                positional.extend(spread.items)
            else:
                more = element(frame, spread, part) if more is None else join(more, element(frame, spread, part))
        elif more is not None:
            more = join(more, frame.eval(part))
        else:
            positional.append(frame.eval(part))
    keywords: dict[str, Value] = {}
    more_keywords: Value | None = None
    for keyword in node.keywords:
        value = frame.eval(keyword.value)
        if keyword.arg is not None:
            keywords[keyword.arg] = value
        else:
            more_keywords = _spread(value, keywords, more_keywords)
    return Arguments(tuple(positional), tuple(keywords.items()), more, more_keywords)


def _spread(value: Value, keywords: dict[str, Value], more: Value | None) -> Value | None:
    for member in members(value):
        if isinstance(member, Table):
            for key, entry in member.items:
                if isinstance(key, str):
                    keywords[key] = join(keywords[key], entry) if key in keywords else entry
            rest = member.rest
        elif isinstance(member, Nothing):
            continue
        else:
            rest = Unknown() if isinstance(member, Unknown) else Opaque()
        if rest is not None:
            more = rest if more is None else join(more, rest)
    return more


@expression(ast.Tuple)
def eval_tuple(frame: Frame, node: ast.Tuple) -> Value:
    return _display(frame, node.elts, "tuple")


@expression(ast.List)
def eval_list(frame: Frame, node: ast.List) -> Value:
    return _display(frame, node.elts, "list")


@expression(ast.Set)
def eval_set(frame: Frame, node: ast.Set) -> Value:
    return _display(frame, node.elts, "set")


def _display(frame: Frame, parts: list[ast.expr], form: str) -> Value:
    items: list[Value] = []
    rest: list[Value] = []
    for part in parts:
        if not isinstance(part, ast.Starred):
            (rest if rest else items).append(frame.eval(part))
            continue
        spread = frame.eval(part.value)
        if isinstance(spread, Seq) and spread.items is not None and spread.rest is None and not rest:
            items.extend(spread.items)
        else:
            rest.append(element(frame, spread, part))
    if rest:
        return Seq(form, None, join_all([*items, *rest]))
    most = MOST_PAIRS if all(isinstance(part, ast.Tuple) for part in parts) else MOST_ITEMS
    return Seq(form, tuple(items)) if len(items) <= most else Seq(form, None, join_all(items))


@expression(ast.Dict)
def eval_dict(frame: Frame, node: ast.Dict) -> Value:
    table = Table()
    for key, part in zip(node.keys, node.values):
        value = frame.eval(part)
        if key is None:
            table = _merged(table, value)
            continue
        known = frame.eval(key)
        table = with_entry(table, known.value if isinstance(known, (Text, Number)) else None, value)
    return table


def _merged(table: Table, value: Value) -> Table:
    for member in members(value):
        if isinstance(member, Table):
            for key, entry in member.items:
                table = with_entry(table, key, entry)
            if member.rest is not None:
                table = with_entry(table, None, member.rest)
        elif not isinstance(member, Nothing):
            table = with_entry(table, None, Unknown())
    return table


@expression(ast.ListComp, ast.GeneratorExp, ast.SetComp)
def eval_comprehension(frame: Frame, node: ast.ListComp) -> Value:
    before = frame.save()
    form = {ast.ListComp: "list", ast.SetComp: "set"}.get(type(node), "iter")
    listed = _listed(node)
    given = frame.eval(listed) if listed is not None else None
    if isinstance(given, Seq) and given.items is not None:
        return _without_none(form, given)
    each = _of_each(frame, node) if form != "set" else None
    if each is not None:
        frame.restore(before)
        return Seq(form, tuple(each))
    count = _bind_generators(frame, node.generators)
    value = frame.eval(node.elt) if frame.live else None
    frame.restore(before)
    if value is None:
        return Seq(form, ())
    if count is not None and form == "list" and not node.generators[0].ifs:
        return Seq(form, (value,) * count)
    return Seq(form, None, value)


MOST_EACH = 16
"""Items of a container that are gone through one by one."""


def _of_each(frame: Frame, node: ast.ListComp) -> list[Value] | None:
    """What `f(v) for v in args` gives for each of several arguments: what is done to tensors is not done to flags."""
    loop = node.generators[0]
    if len(node.generators) > 1 or loop.ifs or not isinstance(loop.target, ast.Name) or not isinstance(loop.iter, ast.Name):
        return None
    given = frame.env.get(loop.iter.id)
    if not isinstance(given, Seq) or given.items is None or given.rest is not None:
        return None
    if len(given.items) > MOST_EACH or len(set(map(type, given.items))) < 2:
        return None
    found: list[Value] = []
    for item in given.items:
        assign(frame, loop.target, item, loop.target)
        found.append(frame.eval(node.elt))
    return found if frame.live else None


def _listed(node: ast.ListComp) -> ast.expr | None:
    """The list in `v for v in [a, b] if v is not None`, where it is written out or a variable."""
    if len(node.generators) != 1 or len(node.generators[0].ifs) != 1:
        return None
    loop = node.generators[0]
    match node.elt, loop.target, loop.ifs[0]:
        case (
            ast.Name(id=name),
            ast.Name(id=bound),
            ast.Compare(left=ast.Name(id=asked)) as kept,
        ) if against_none(kept) is False:
            plain = isinstance(loop.iter, (ast.List, ast.Tuple, ast.Name))
            return loop.iter if plain and name == bound == asked else None
    return None


def _without_none(form: str, given: Seq) -> Seq:
    """What stands in front of everything that may be None stays where it is."""
    items: list[Value] = []
    rest: list[Value] = [] if given.rest is None else [given.rest]
    uncertain = False
    for each in given.items or ():
        kept = [member for member in members(each) if not isinstance(member, Nothing)]
        uncertain = uncertain or (bool(kept) and len(kept) < len(members(each))) or kept == [Unknown()]
        if kept:
            (rest if uncertain else items).append(join_all(kept))
    return Seq(form, tuple(items), join_all(rest) if rest else None)


def _bind_generators(frame: Frame, generators: list[ast.comprehension]) -> int | None:
    """Bind the loop variables; the number of rounds if there is one loop over a container of known length."""
    count = None
    for generator in generators:
        iterated = frame.eval(generator.iter)
        if isinstance(iterated, Seq) and iterated.items is not None and iterated.rest is None and len(generators) == 1:
            count = len(iterated.items)
        assign(frame, generator.target, element(frame, iterated, generator.iter), generator.target)
        for condition in generator.ifs:
            outcome = test(frame, condition, "if")
            frame.restore(State({**frame.env, **outcome.true.facts}, frame.live & outcome.true.live))
    return count


@expression(ast.DictComp)
def eval_dict_comprehension(frame: Frame, node: ast.DictComp) -> Value:
    from graphlint.interp import written_out  # here because not every file turns a dictionary around

    if (turned := written_out.turned(frame, node)) is not None:
        return turned
    before = frame.save()
    _bind_generators(frame, node.generators)
    frame.eval(node.key)
    value = frame.eval(node.value)
    frame.restore(before)
    return Table((), value)


@expression(ast.Lambda)
def eval_lambda(frame: Frame, node: ast.Lambda) -> Value:
    return Function(frame.module.function(node, None, "<lambda>"), None, frame.scope, None)


def formats(frame: Frame, value: Value, node: ast.AST, construct: str) -> None:
    """A value is turned into text; device tensors in it are copied to the host for that."""
    for tensor in tensors_in(value):
        if tensor.place is Place.DEVICE:
            frame.emit(HostFormat, node, tensor.sure, construct=construct)
    for member in members(value):
        if isinstance(member, Instance):
            for part in texted(frame, member, construct, node):
                formats(frame, part, node, construct)


@expression(ast.Starred)
def eval_starred(frame: Frame, node: ast.Starred) -> Value:
    return frame.eval(node.value)


@expression(ast.Await)
def eval_await(frame: Frame, node: ast.Await) -> Value:
    return frame.eval(node.value)


@expression(ast.Yield)
def eval_yield(frame: Frame, node: ast.Yield) -> Value:
    frame.yields.append(Nothing() if node.value is None else frame.eval(node.value))
    return Unknown()


@expression(ast.YieldFrom)
def eval_yield_from(frame: Frame, node: ast.YieldFrom) -> Value:
    frame.yields.append(element(frame, frame.eval(node.value), node))
    return Unknown()


@expression(*(each for each in ast.expr.__subclasses__() if each not in EXPRESSIONS))
def eval_unforeseen(frame: Frame, node: ast.expr) -> Value:
    """A kind of expression that only newer Pythons have, such as a template string: what is in it is evaluated."""
    count_unknown(frame, node)
    for each in ast.iter_child_nodes(node):
        if isinstance(each, ast.expr):
            frame.eval(each)
    return Unknown()
