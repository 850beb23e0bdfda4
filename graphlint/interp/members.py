"""What the methods of a class assign, asked a name at a time: most methods are never read for it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from graphlint.interp.moving import moved_by_way
from graphlint.outline import may_bind, mentions
from graphlint.project import ClassDecl, FunctionDecl, Module, Outside
from graphlint.record import NamedTuple
from graphlint.regions import written
from graphlint.syntax import is_marked, last, nested, stored, walk
from graphlint.values import Instance, Value

if TYPE_CHECKING:
    from graphlint.interp.machine import Machine
    from graphlint.interp.stepped import Keys


ASKING = frozenset({"isinstance", "hasattr", "getattr", "type", "id", "len", "super", "callable", "issubclass"})
"""Functions of Python that write nothing to the object they are given."""

REGISTERING = re.compile(r"\b(register_\w+|add_module|setattr|append|extend|__dict__)\b")
PLAIN = frozenset({"set", "dict", "list", "tuple", "int", "float", "str", "bool", "len", "frozenset", "range"})
"""Types and functions of Python whose results are neither tensors nor objects with attributes."""

MOST_REACHED = 40


class Written(NamedTuple):
    """What is assigned to an attribute, None where that does not stand in one expression, and its annotation."""

    value: ast.expr | None
    hint: ast.expr | None


class Writes(NamedTuple):
    """The attributes a method assigns through its first parameter, and those it moves on: `self.step += 1`."""

    values: dict[str, list[Written]]
    moved: frozenset[str]


class Read:
    """What was read of classes and methods so far, each question once."""

    def __init__(self) -> None:
        self.asked: dict[ast.FunctionDef, Asked] = {}
        self.fleeting: dict[ClassDecl, frozenset[str]] = {}
        self.bindings: dict[FunctionDecl, tuple[frozenset[str], frozenset[str]]] = {}
        self.binders: dict[ClassDecl, dict[str, list[ast.FunctionDef]]] = {}
        self.bound_once: dict[FunctionDecl, dict[str, ast.expr]] = {}
        self.counted: dict[tuple[ClassDecl, str], bool] = {}
        self.derived: dict[tuple[ast.ClassDef, tuple[ClassDecl | Outside, ...]], ClassDecl] = {}
        self.deriving: dict[FunctionDecl, bool] = {}
        self.filled: dict[tuple[ClassDecl, str], bool] = {}
        self.moved: dict[tuple[Module, str], bool] = {}
        self.moving: dict[Module, frozenset[str]] = {}
        self.one_entry: dict[tuple[ClassDecl, str], bool] = {}
        self.optimizers: dict[ClassDecl, bool] = {}
        self.putting: dict[ast.FunctionDef, frozenset[str]] = {}
        self.reaches: dict[tuple[ClassDecl, str], Reach] = {}
        self.registers: dict[ast.FunctionDef, bool] = {}
        self.setters: dict[tuple[ClassDecl, str], bool] = {}
        self.stepped: dict[ClassDecl, Keys] = {}
        self.unmoved: dict[ClassDecl, bool] = {}
        self.used_up: dict[tuple[ClassDecl, str], bool] = {}
        self.widths: dict[FunctionDecl, frozenset[str]] = {}
        self.writers: dict[tuple[ClassDecl, str, bool], list[FunctionDecl]] = {}
        self.writes: dict[ast.FunctionDef, Writes] = {}


def late_writers(machine: Machine, decl: ClassDecl, name: str) -> list[FunctionDecl]:
    """The methods, other than `__init__`, that assign an attribute."""
    known = machine.read.writers.get((decl, name, True))
    if known is None:
        bases = [base for base in machine.project.mro(decl) if isinstance(base, ClassDecl)]
        known = machine.read.writers[(decl, name, True)] = [
            each
            for place, base in enumerate(bases)
            for each in _writers(machine, base, name)
            if not _is_replaced(base, each.name, bases[:place])
        ]
    return known


def _is_replaced(base: ClassDecl, method: str, derived: list[ClassDecl]) -> bool:
    """Whether a class further down has another method of that name, and none of them calls the one that stands here."""
    own = [isinstance(each.members.get(method, (None,))[-1], ast.FunctionDef) for each in derived]
    if True not in own:
        return False
    nearest = len(own) - 1 - own[::-1].index(True)
    return not any(_calls(each, base.name, method, place >= nearest) for place, each in enumerate(derived))


def _calls(owner: ClassDecl, base: str, method: str, is_nearest: bool) -> bool:
    """Whether a class calls `Base.method(...)`, or `super().method(...)` where that may be the one of the base."""
    said = f".{method}("
    if said not in written(owner.module, owner.node):
        return False
    own = [each for each in own_methods(owner) if mentions(each, said) and said in written(owner.module, each)]
    for each in (node for one in own for node in walk(one)):
        match each:
            case ast.Call(func=ast.Attribute(value=ast.Call(), attr=attr)) if attr == method and is_nearest:
                return True
            case ast.Call(func=ast.Attribute(value=called, attr=attr)) if attr == method and last(called) == base:
                return True
    return False


def _writers(machine: Machine, base: ClassDecl, name: str) -> list[FunctionDecl]:
    """Those that stand in one class, which has many others derive from it."""
    key = (base, name, False)
    known = machine.read.writers.get(key)
    if known is None:
        known = machine.read.writers[key] = [
            base.module.function(method, base, method.name)
            for method in _binders(machine, base).get(name, ())
            if method.name != "__init__" and name in writes(machine, method).values
        ]
    return known


def is_property(machine: Machine, decl: ClassDecl, name: str) -> bool:
    """Whether reads and writes of an attribute run code: its objects then hold nothing under that name."""
    found = machine.project.member(decl, name)
    symbols = found[1] if found is not None else []
    return any(isinstance(each, ast.FunctionDef) and is_marked(each, "property") for each in symbols)


def is_of_optimizer(machine: Machine, receiver: Value | None) -> bool:
    """Whether an object is an optimizer of the tree."""
    if type(receiver) is not Instance:
        return False
    known = machine.read.optimizers.get(receiver.decl)
    if known is None:
        bases = machine.project.mro(receiver.decl)
        known = any(isinstance(base, Outside) and base.name.startswith("torch.optim.") for base in bases)
        machine.read.optimizers[receiver.decl] = known
    return known


def is_counter(machine: Machine, decl: ClassDecl, name: str) -> bool:
    """Whether some method moves an attribute on from its own value."""
    return any(isinstance(base, ClassDecl) and _counts(machine, base, name) for base in machine.project.mro(decl))


def is_flipped(machine: Machine, decl: ClassDecl, name: str) -> bool:
    """Whether some method turns a flag into its opposite: `self.even = not self.even`, `self.even ^= True`."""
    bases = [base for base in machine.project.mro(decl) if isinstance(base, ClassDecl)]
    binding = [method for base in bases for method in _binders(machine, base).get(name, ()) if method.name != "__init__"]
    return any(_flips(each, name) for method in binding for each in nested(method.body))


def _flips(node: ast.AST, name: str) -> bool:
    match node:
        case ast.AugAssign(target=ast.Attribute(attr=attr), op=ast.BitXor()):
            return attr == name
        case ast.Assign(targets=[ast.Attribute(attr=attr)], value=ast.UnaryOp(op=ast.Not(), operand=operand)):
            return attr == name and isinstance(operand, ast.Attribute) and operand.attr == name
    return False


def _counts(machine: Machine, base: ClassDecl, name: str) -> bool:
    key = (base, name)
    known = machine.read.counted.get(key)
    if known is None:
        known = machine.read.counted[key] = any(
            name in writes(machine, method).moved for method in _binders(machine, base).get(name, ())
        )
    return known


def _binders(machine: Machine, base: ClassDecl) -> dict[str, list[ast.FunctionDef]]:
    """The methods of a class that may bind an attribute or move it on, by its name."""
    known = machine.read.binders.get(base)
    if known is None:
        known = machine.read.binders[base] = {}
        for method in own_methods(base):
            names = may_bind(method)
            if names is None:
                found = writes(machine, method)
                names = found.moved.union(found.values)
            for name in names:
                known.setdefault(name, []).append(method)
    return known


def sets(machine: Machine, decl: ClassDecl, method: str) -> bool:
    """Whether a method, as any of the bases defines it, assigns or registers something itself."""
    key = (decl, method)
    known = machine.read.setters.get(key)
    if known is None:
        own = [(base, found) for base, found in methods(machine, decl) if found.name == method]
        known = machine.read.setters[key] = any(
            (method != "__init__" and writes(machine, found).values) or registers(machine, base, found)
            for base, found in own
        )
    return known


def registers(machine: Machine, base: ClassDecl, method: ast.FunctionDef) -> bool:
    """Whether a method gives its object parts in other ways than by assignment."""
    known = machine.read.registers.get(method)
    if known is None:
        known = machine.read.registers[method] = REGISTERING.search(written(base.module, method)) is not None
    return known


class Reach(NamedTuple):
    """The methods that a call of one method can run on the same object; `closed` if no other code gets hold of it."""

    methods: tuple[tuple[ClassDecl, ast.FunctionDef], ...]
    closed: bool


def reach(machine: Machine, decl: ClassDecl, method: str) -> Reach:
    """The methods that a method of a class may come to run; worked out once."""
    key = (decl, method)
    known = machine.read.reaches.get(key)
    if known is None:
        known = machine.read.reaches[key] = _reach(machine, decl, method)
    return known


def _reach(machine: Machine, decl: ClassDecl, method: str) -> Reach:
    table: dict[str, list[tuple[ClassDecl, ast.FunctionDef]]] = {}
    for base, node in methods(machine, decl):
        table.setdefault(node.name, []).append((base, node))
    names, closed = [method], True
    found: list[tuple[ClassDecl, ast.FunctionDef]] = []
    for name in names:
        for base, node in table.get(name, ()):
            found.append((base, node))
            asked, told, kept = talk(machine, node)
            followed = [*asked, *(each for each in told if each in table and sets(machine, decl, each))]
            names.extend(each for each in dict.fromkeys(followed) if each in table and each not in names)
            closed = closed and kept and not registers(machine, base, node)
            if len(found) > MOST_REACHED:
                return Reach(tuple(found), False)
    return Reach(tuple(found), closed)


class Asked(NamedTuple):
    """What a method asks its object for, what it tells it to do, and whether it keeps the object to itself."""

    asked: list[str]
    told: list[str]
    kept: bool


def talk(machine: Machine, method: ast.FunctionDef) -> Asked:
    """What a method says to its object; worked out once."""
    known = machine.read.asked.get(method)
    if known is None:
        known = machine.read.asked[method] = _read_asked(method)
    return known


def _read_asked(method: ast.FunctionDef) -> Asked:
    if not method.args.args:
        return Asked([], [], True)
    receiver = method.args.args[0].arg
    asked: list[str] = []
    told: list[str] = []
    uses = 0
    for node in walk(method):
        match node:
            case ast.Name(id=name) if name == receiver:
                uses += 1
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=attr))) if name == receiver:
                told.append(attr)
            case ast.Attribute(value=ast.Name(id=name), attr=attr) if name == receiver:
                asked.append(attr)
                uses -= 1
            case ast.Attribute(value=ast.Call(func=ast.Name(id="super")), attr=attr):
                asked.append(attr)
            case ast.Call(func=ast.Name(id=name), args=args) if name in ASKING:
                uses -= sum(isinstance(each, ast.Name) and each.id == receiver for each in args)
            case ast.Compare(left=left, comparators=others):
                uses -= sum(isinstance(each, ast.Name) and each.id == receiver for each in (left, *others))
    for attr in told:
        asked.remove(attr)
    return Asked(asked, told, uses == 0)


def methods(machine: Machine, decl: ClassDecl) -> Iterator[tuple[ClassDecl, ast.FunctionDef]]:
    """The methods of a class and of its bases, with the class they stand in."""
    for base in machine.project.mro(decl):
        if isinstance(base, ClassDecl):
            for method in own_methods(base):
                yield base, method


def own_methods(base: ClassDecl) -> Iterator[ast.FunctionDef]:
    """The methods that stand in a class, of several under one name the last."""
    for symbols in base.members.values():
        if isinstance(symbols[-1], ast.FunctionDef):
            yield symbols[-1]


def writes(machine: Machine, method: ast.FunctionDef) -> Writes:
    """What a method assigns to attributes of its object, by name; worked out once."""
    known = machine.read.writes.get(method)
    if known is None:
        values: dict[str, list[Written]] = {}
        for name, given in _assigned(method):
            values.setdefault(name, []).append(given)
        known = machine.read.writes[method] = Writes(values, frozenset(_moved(method.body)))
    return known


def may_be_part(base: ClassDecl, value: ast.expr | None) -> bool:
    """Whether an expression in a method may give a tensor or an object, as far as its form says."""
    match value:
        case ast.Constant() | ast.JoinedStr() | ast.Compare() | ast.Dict() | ast.DictComp() | ast.Set() | ast.SetComp():
            return False
        case ast.List() | ast.ListComp():
            return False
        case ast.BoolOp(values=parts):
            return any(may_be_part(base, part) for part in parts)
        case ast.IfExp(body=body, orelse=orelse):
            return may_be_part(base, body) or may_be_part(base, orelse)
        case ast.Call(func=ast.Name(id=name)):
            return name not in PLAIN
        case ast.Call(func=ast.Attribute(value=ast.Name(), attr=name)):
            method = base.members.get(name, [None])[-1]
            hint = method.returns if isinstance(method, ast.FunctionDef) else None
            hint = hint.value if isinstance(hint, ast.Subscript) else hint
            return not isinstance(hint, ast.Name) or hint.id not in PLAIN
    return True


def _assigned(method: ast.FunctionDef) -> Iterator[tuple[str, Written]]:
    if not method.args.args:
        return
    receiver = method.args.args[0].arg
    statements = list(nested(method.body))
    spread = _spread(statements, receiver)
    for statement in statements:
        for target in stored(statement):
            if not isinstance(target, ast.Attribute) or not isinstance(target.value, ast.Name):
                continue
            whole = isinstance(statement, (ast.Assign, ast.AnnAssign)) and target in _targets(statement)
            value = getattr(statement, "value", None) if whole else None
            if target.value.id == receiver or (spread and _gives(target, value, spread)):
                yield target.attr, Written(value, getattr(statement, "annotation", None))


def _spread(statements: list[ast.AST], receiver: str) -> frozenset[str]:
    if not any(isinstance(each, ast.For) for each in statements):
        return frozenset()
    from graphlint.interp.spreading import spread_names  # here because few methods go through the modules below

    return spread_names(statements, receiver)


def _gives(target: ast.Attribute, value: ast.expr | None, spread: frozenset[str]) -> bool:
    from graphlint.interp.spreading import gives

    return gives(target, value, spread)


def _targets(statement: ast.Assign | ast.AnnAssign) -> list[ast.expr]:
    return statement.targets if isinstance(statement, ast.Assign) else [statement.target]


def _moved(body: list[ast.stmt]) -> Iterator[str]:
    statements = list(nested(body))
    yield from moved_by_way(statements)
    for statement in statements:
        match statement:
            case ast.AugAssign(target=ast.Attribute(attr=name)):
                yield name
            case ast.Assign(targets=[ast.Attribute(attr=name)], value=ast.BinOp() as value) if name in _read(value):
                yield name
            case ast.Assign(
                targets=[ast.Attribute(attr=name)], value=ast.Call(func=ast.Name(id="min" | "max"), args=bounds)
            ) if any(isinstance(each, ast.BinOp) and name in _read(each) for each in bounds):
                yield name


def _read(value: ast.expr) -> set[str]:
    return {node.attr for node in walk(value) if isinstance(node, ast.Attribute)}
