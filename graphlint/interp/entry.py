"""The arguments of a function that is entered from outside the tree, such as the `forward` that will be captured.

An annotation is believed.  Without one, an argument with a Python number, string or flag as default is such a value, and
any other is a device tensor, unless the body uses it as something else: as a size, a flag, a dictionary, a module.
What the body only hands on is what the functions it is given to use it as.
"""

from __future__ import annotations

import ast
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING

from graphlint.effects.table import lookup
from graphlint.interp.annotations import annotated
from graphlint.interp.binding import defaults, parameters, receiver_missing
from graphlint.interp.handed import handed
from graphlint.interp.naming import is_host
from graphlint.project import ClassDecl, FunctionDecl
from graphlint.syntax import counted, is_size, nested, walk
from graphlint.types import Confidence
from graphlint.values import (
    Bool,
    Instance,
    Kind,
    Nothing,
    Number,
    Opaque,
    Origin,
    Place,
    Seq,
    Table,
    Tensor,
    Text,
    Unknown,
    Value,
    hosted,
    join,
    join_all,
    loosened,
    members,
    or_numbers,
)

if TYPE_CHECKING:
    from graphlint.interp.machine import Machine

SIZES = frozenset({
    "view", "reshape", "expand", "repeat", "zeros", "ones", "empty", "full", "arange", "randn", "rand", "range",
    "new_zeros", "new_ones", "new_empty", "unflatten",
})  # fmt: skip
OF_TENSORS = frozenset({"view", "reshape", "expand", "repeat", "unflatten", "new_zeros", "new_ones", "new_empty"})
"""Those that are methods of a tensor: a function of the same name, other than torch's own, may take anything."""
FILLING = frozenset({"fill_", "masked_fill", "masked_fill_"})
FILLED_WITH = frozenset({"value", "fill_value"})
"""Where a number is put into a tensor: with a tensor on the device most of these wait."""
PYTHON_VALUES = frozenset({"tensor", "as_tensor", "BoolTensor", "FloatTensor", "IntTensor", "LongTensor", "Tensor"})
"""What makes tensors of the Python values in a list."""
HOST_ONLY = frozenset({"numpy", "pin_memory", "is_pinned", "__array__"})
"""Methods that a tensor on the device does not have, or answers with an error."""

ELSEWHERE = frozenset(name for kind in (dict, list, set, str) for name in dir(kind)) | {"values", "indices"}
"""Names that containers and strings have too: using one says nothing for a tensor."""
DEEPEST_HAND = 3
"""Calls along which a parameter is looked after."""


def entry_arguments(
    machine: Machine, decl: FunctionDecl, receiver: Value | None, captured: bool = True
) -> dict[str, Value]:
    """A value for every parameter of a function nobody was seen calling."""
    spec = decl.node.args
    named = [*parameters(decl), *spec.kwonlyargs]
    defaulted = defaults(decl)
    env: dict[str, Value] = {}
    if receiver is not None and named and not receiver_missing(decl):
        env[named.pop(0).arg] = receiver
    uses = Uses(decl) if captured else None
    if uses is not None:
        uses.follow(machine, decl, receiver.decl if isinstance(receiver, Instance) else decl.owner)
    for arg in named:
        env[arg.arg] = _entry(machine, decl, arg, defaulted.get(arg.arg), uses)
    if spec.vararg is not None:
        hint = (
            Unknown()
            if spec.vararg.annotation is None
            else annotated(machine, decl.module, spec.vararg.annotation, decl.owner)
        )
        env[spec.vararg.arg] = Seq("tuple", None, hint)
    if spec.kwarg is not None:
        env[spec.kwarg.arg] = Table((), Unknown())
    return env


def _entry(machine: Machine, decl: FunctionDecl, arg: ast.arg, default: ast.expr | None, uses: Uses | None) -> Value:
    known = Nothing() if default is None else machine.default(decl, default)
    if arg.annotation is not None:
        hint = annotated(machine, decl.module, arg.annotation, decl.owner)
        if not isinstance(hint, Unknown):
            given = hosted(_as_input(hint)) if is_host(arg.arg) or (uses and arg.arg in uses.host) else _as_input(hint)
            return or_numbers(join(given, _open(known))) if default is not None else given
    if default is not None and not isinstance(known, Nothing):
        return _open(known)
    guess = Unknown() if uses is None else uses.guess(arg.arg)
    guess = hosted(guess) if is_host(arg.arg) else guess
    return guess if default is None else join(guess, Nothing())


def _open(default: Value) -> Value:
    """A default as one of the values that may be given instead."""
    match default:
        case Number():
            return Number(default.kind, None, Origin.ARGUMENT)
        case Bool() | Text():
            return loosened(default)
        case Seq(items=items) if items is not None:
            return Seq(default.form, None, _open(default.element())) if items else default
        case Tensor(place=Place.HOST):
            # Whoever leaves it out has it on the host; it is there for callers that start from nothing.
            return default.replace(sure=Confidence.POSSIBLE)
    return default


def _as_input(hint: Value) -> Value:
    """What an annotation says as an argument; of `int | Tensor`, either will do, and most callers give the number."""
    return or_numbers(join_all([_given(member) for member in members(hint)]))


def _given(hint: Value) -> Value:
    if isinstance(hint, Seq) and hint.rest is not None:
        return hint.replace(rest=_as_input(hint.rest))
    return hint.replace(role="input") if isinstance(hint, Tensor) else hint


class Uses:
    """How a function's body uses its parameters, read from its syntax once."""

    __slots__ = (
        "called", "first", "handed", "host", "names", "number", "other", "owner", "parts", "receiver", "shape", "symbols",
        "tensor", "truth",
    )  # fmt: skip

    def __init__(self, decl: FunctionDecl) -> None:
        self.owner, self.symbols = decl.owner, decl.module.symbols
        names = self.names = [arg.arg for arg in parameters(decl)]
        self.receiver = names.pop(0) if names and decl.owner is not None else ""
        self.first = names[0] if names else ""
        self.host: set[str] = set()
        self.tensor: set[str] = set()
        self.number: set[str] = set()
        self.other: set[str] = set()
        self.truth: set[str] = set()
        self.called: set[str] = set()
        self.handed: set[str] = set()
        self.shape: set[str] = set()
        self.parts: dict[str, list[str]] = {}
        body = decl.node.body
        anew = rebound(body, {*names}) if isinstance(body, list) else {}
        for statement in body if isinstance(body, list) else [body]:
            for node in walk(statement):
                if anew:
                    self._note_parts(node, anew)
                else:
                    self._note(node)

    def follow(self, machine: Machine, decl: FunctionDecl, owner: ClassDecl | None, depth: int = DEEPEST_HAND) -> None:
        """Look in the functions that are given a parameter for what the body does not say itself."""
        for name in self.names if depth else ():
            given = [] if self._is_told(name) else list(handed(machine, decl, owner, name))
            if any(_uses_as_tensor(machine, callee, parameter, owner, depth - 1) for callee, parameter in given):
                self.handed.add(name)
            elif any(_asks_for_container(callee, parameter) for callee, parameter in given):
                self.other.add(name)

    def _is_told(self, name: str) -> bool:
        return name in self.tensor or name in self.number or self.is_other(name)

    def is_other(self, name: str) -> bool:
        return any(name in found for found in (self.host, self.other, self.truth, self.called))

    def _note_parts(self, node: ast.AST, anew: Mapping[str, list[Stretch]]) -> None:
        """What a node says of the parameters that are still what the caller gave."""
        other = [name for name, stretches in anew.items() if _lies_in(stretches, node)]
        sets = (self.host, self.tensor, self.number, self.other, self.truth, self.called)
        unsaid = [(found, name) for found in sets for name in other if name not in found]
        self._note(node)
        for found, name in unsaid:
            found.discard(name)

    def _note(self, node: ast.AST) -> None:
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr=attr):
                self._attribute(name, attr)
            case ast.Attribute(value=ast.BinOp() as computed, attr=attr) if attr not in ELSEWHERE:
                if lookup(f"torch.Tensor.{attr}") is not None:
                    self.tensor.update(_scaled(computed))
            case ast.Call(func=func, args=args, keywords=words):
                self._call(func, args)
                self._words(words)
            case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test):
                self._truth(test)
            case ast.Assign(targets=[ast.Tuple(elts=parts)], value=ast.Name(id=name)):
                self.parts.setdefault(name, []).extend(each.id for each in parts if isinstance(each, ast.Name))
            case ast.Slice(lower=lower, upper=upper):
                self.number.update(counted(lower), counted(upper))
            case ast.Compare(left=left, comparators=others) if any(is_size(each) for each in (left, *others)):
                self.number.update(name for each in (left, *others) for name in counted(each))
            case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=str())):
                self.other.add(name)
            case ast.Subscript(value=ast.Name(id=name), slice=ast.Tuple()):
                self.tensor.add(name)
            case (
                ast.FormattedValue(value=ast.Name(id=name))
                | ast.Compare(left=ast.Name(id=name), comparators=[ast.Constant(value=str())])
            ):
                self.other.add(name)

    def _attribute(self, name: str, attr: str) -> None:
        if attr in HOST_ONLY:
            self.host.add(name)
        if attr in ELSEWHERE:
            self.other.add(name)
        elif lookup(f"torch.Tensor.{attr}") is not None:
            self.tensor.add(name)

    def _call(self, func: ast.expr, args: list[ast.expr]) -> None:
        last = func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""
        if isinstance(func, ast.Name):
            self.called.add(func.id)
        names = [arg.id for arg in args if isinstance(arg, ast.Name)]
        if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and func.value.id in ("np", "numpy"):
            self.host.update(names)
        if last in PYTHON_VALUES and args and isinstance(args[0], ast.List):
            self.other.update(map(_root, args[0].elts))
        if last in FILLING and args:
            self.number.update(counted(args[-1]))
        sizes = self._sizes(func, last, args)
        self.number.update(name for arg in sizes for name in counted(arg))
        if len(sizes) < len(args) and isinstance(args[0], ast.Name) and self._takes_tensor(func):
            self.tensor.add(args[0].id)

    def _sizes(self, func: ast.expr, last: str, args: list[ast.expr]) -> list[ast.expr]:
        """The arguments of a call that are sizes: all of `x.expand(n)`, and none of `expand(x)`."""
        if last not in SIZES or last not in OF_TENSORS:
            return args if last in SIZES else []
        if not isinstance(func, ast.Attribute):
            return []
        owner = func.value.id if isinstance(func.value, ast.Name) else ""
        is_library = isinstance(self.symbols.get(owner, [None])[-1], (ast.Import, ast.ImportFrom))
        return [] if is_library and owner != "torch" else args[is_library:]

    def _words(self, words: list[ast.keyword]) -> None:
        for word in words:
            if word.arg in FILLED_WITH and isinstance(word.value, ast.Name):
                self.number.add(word.value.id)
            elif word.arg == "size" and isinstance(word.value, ast.Name):
                self.shape.add(word.value.id)
            elif word.arg == "size" and isinstance(word.value, (ast.Tuple, ast.List)):
                self.number.update(name for part in word.value.elts for name in counted(part))

    def _takes_tensor(self, func: ast.expr) -> bool:
        """A call that takes a tensor first: a submodule's, or a function of torch."""
        if not isinstance(func, ast.Attribute) or not isinstance(func.value, ast.Name):
            return False
        if func.value.id == self.receiver:
            return self.owner is not None and func.attr not in self.owner.members
        return func.value.id in ("torch", "F")

    def _truth(self, test: ast.expr) -> None:
        match test:
            case ast.Name(id=name) | ast.UnaryOp(op=ast.Not(), operand=ast.Name(id=name)):
                self.truth.add(name)
            case ast.BoolOp(values=values):
                for value in values:
                    self._truth(value)

    def guess(self, name: str) -> Value:
        """What a parameter without annotation and default must be."""
        if name in self.tensor:
            return Tensor(Place.DEVICE, Kind.ANY, None, Confidence.CERTAIN, "input")
        if name in self.shape or self._is_taken_apart(name):
            return Seq("tuple", None, Number(Kind.INT, None, Origin.ARGUMENT))
        if name in self.number:
            return Number(Kind.INT, None, Origin.ARGUMENT)
        if name in self.called:
            return Unknown()
        if name in self.other or name in self.truth:
            return Unknown() if name in self.other else Opaque()
        sure = Confidence.LIKELY if name == self.first or name in self.handed else Confidence.POSSIBLE
        return Tensor(Place.DEVICE, Kind.ANY, None, sure, "input")

    def _is_taken_apart(self, name: str) -> bool:
        """Whether a parameter is taken apart into sizes: `batch, length, width = shape`."""
        parts = self.parts.get(name, ())
        return self.tensor.isdisjoint(parts) and not self.number.isdisjoint(parts)


Position = tuple[int, int]
Stretch = tuple[Position, Position]
"""From where to where something holds: lines and columns."""
BEHIND = (1 << 30, 0)
"""A place behind every file."""


def rebound(body: list[ast.stmt], names: set[str]) -> dict[str, list[Stretch]]:
    """Where parameters have values that are not computed of what they were: stretches of the text, in order."""
    found: dict[str, set[Stretch]] = {}
    for block in (body, *_inner_blocks(body)):
        free = set(names)
        for node, behind in pairwise(block):
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=value) if name in free and not _reads(value, name):
                    free.discard(name)
                    found.setdefault(name, set()).add((_begin(behind), _end(block[-1])))
    return {name: _outermost(sorted(stretches)) for name, stretches in found.items()}


def _outermost(stretches: list[Stretch]) -> list[Stretch]:
    """Stretches without those that lie in others: blocks of a file never overlap otherwise."""
    kept: list[Stretch] = []
    for each in stretches:
        if not kept or each[0] > kept[-1][1]:
            kept.append(each)
    return kept


def _lies_in(stretches: list[Stretch], node: ast.AST) -> bool:
    begin = _begin(node)
    last = bisect_right(stretches, (begin, BEHIND)) - 1
    return last >= 0 and begin != (0, 0) and _end(node) <= stretches[last][1]


def _begin(node: ast.AST) -> Position:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def _end(node: ast.AST) -> Position:
    return getattr(node, "end_lineno", 0), getattr(node, "end_col_offset", 0)


def _inner_blocks(body: list[ast.stmt]) -> Iterator[list[ast.stmt]]:
    for node in nested(body):
        for field in ("body", "orelse", "finalbody"):
            block = getattr(node, field, None)
            if type(block) is list and len(block) > 1:
                yield block


def _reads(value: ast.expr, name: str) -> bool:
    return any(isinstance(each, ast.Name) and each.id == name for each in walk(value))


def _uses_as_tensor(machine: Machine, decl: FunctionDecl, name: str, owner: ClassDecl | None, depth: int) -> bool:
    uses = Uses(decl)
    uses.names = [name]
    uses.follow(machine, decl, None if decl.owner is None else owner, depth)
    return (name in uses.tensor or name in uses.handed) and not uses.is_other(name)


def _asks_for_container(decl: FunctionDecl, name: str) -> bool:
    """Whether a function asks if what it is given is a list or the like, and says nothing else of it."""
    return any(_is_asked(each) == name for each in decl.every(ast.Call))


def _is_asked(node: ast.Call) -> str:
    """The name of which a call asks whether it is a container: `isinstance(sizes, list)`."""
    match node:
        case ast.Call(func=ast.Name(id="isinstance"), args=[ast.Name(id=name), ast.Name(id="list" | "tuple" | "dict")]):
            return name
    return ""


def _scaled(node: ast.BinOp) -> Iterator[str]:
    """The name that arithmetic with sizes and constants is about: `(lengths * x.size(1)).cpu()`."""
    match node:
        case ast.BinOp(left=ast.Name(id=name), right=other) | ast.BinOp(left=other, right=ast.Name(id=name)):
            if isinstance(other, ast.Constant) or is_size(other):
                yield name


def _root(node: ast.expr) -> str:
    """The name of what an element is, or is taken from: `rows`, `rows[0]`, `rows[:n]`."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
