"""Attributes and globals that a region reads before it writes them: state that one call leaves to the next.

An attribute that every call binds before it reads it is a variable with a long name: a replay computes with what was
bound at capture, as eager code does with what it binds anew.  Only where the old value is read does rebinding go stale.
So it does where an object says for good whether to bind it: replays bind and read it, or only read it, as the capture did.

What a function does to attributes is kept in the order in which it does it, each with the branches and loops it stands
in (`arm`), and calls stand in that order for what is done in them.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from graphlint.interp.moving import both_ends
from graphlint.project import FunctionDecl, Module, Project
from graphlint.record import NamedTuple
from graphlint.syntax import against_none, spelled, stands_in, walk

if TYPE_CHECKING:
    from graphlint.interp.frame import Summary
    from graphlint.values import Instance

Arm = tuple[int, ...]
"""The branches and loops around something, outermost first."""

STANDING = 2
"""The bit of an arm that is entered, or not, by every call alike: the condition asks for nothing that one call is given."""


class Touch(NamedTuple):
    """One attribute read (`is_store` false) or bound, or one call."""

    what: str | Summary
    is_store: bool
    arm: Arm


class Carried(NamedTuple):
    """The attributes that a call reads as an earlier call left them, and those it always binds.

    `chosen` are those that it binds only where its objects say so.
    """

    read: frozenset[str]
    bound: frozenset[str]
    chosen: frozenset[str]


NOTHING = Carried(frozenset(), frozenset(), frozenset())


def branch_of(node: ast.If, other: int, standing: bool) -> int:
    """A branch of an `if` as part of an `Arm`; the two differ in the last bit."""
    return id(node) << 2 | STANDING * standing | other


def loop_of(node: ast.stmt) -> int:
    """A loop as part of an `Arm`."""
    return id(node) << 2 | STANDING


def key_of(owner: Instance, name: str) -> str:
    """An attribute of the objects of one class, as a word."""
    return f"{owner.decl.module.name}.{owner.decl.name}.{name}"


def global_key(module: Module, name: str) -> str:
    """A global variable as a word."""
    return f"{module.name}:{name}"


def carried(summary: Summary) -> Carried:
    """What a call does to attributes, all that it calls included."""
    if summary.carried is None:
        if summary.running:
            return NOTHING
        # A function on its way into itself finds nothing there yet.
        summary.carried = NOTHING
        summary.carried = _carried(summary.touched)
    return summary.carried


def _carried(touched: dict[Touch, None]) -> Carried:
    read: set[str] = set()
    bound: dict[str, list[Arm]] = {}
    for what, is_store, arm in touched:
        if isinstance(what, str):
            if is_store:
                _bind(bound.setdefault(what, []), arm)
            elif not _is_bound(bound.get(what, ()), arm):
                read.add(what)
            continue
        inner = carried(what)
        read |= inner.read.difference(bound)
        read.update(each for each in inner.read.intersection(bound) if not _is_bound(bound[each], arm))
        for each in inner.bound:
            _bind(bound.setdefault(each, []), arm)
        for each in inner.chosen:
            bound.setdefault(each, []).append((*arm, STANDING))
    always = frozenset(name for name, arms in bound.items() if () in arms)
    chosen = frozenset(name for name, arms in bound.items() if any(_is_standing(arm) for arm in arms))
    return Carried(frozenset(read), always, chosen - always)


def _bind(arms: list[Arm], arm: Arm) -> None:
    """Note a binding; one in either branch of an `if` is one behind it."""
    arms.append(arm)
    while arm and (*arm[:-1], arm[-1] ^ 1) in arms:
        arm = arm[:-1]
        arms.append(arm)


def _is_standing(arm: Arm) -> bool:
    return all(each & STANDING for each in arm)


def _is_bound(arms: list[Arm] | tuple[Arm, ...], arm: Arm) -> bool:
    """Whether a binding stands before, in the same branch or in one around, but for conditions that hold for all calls."""
    return any(arm[: len(each)] == each or (each and _goes_with(each, arm)) for each in arms)


def _goes_with(binding: Arm, arm: Arm) -> bool:
    """Whether a binding was made on the way here, if its objects said so."""
    for depth, part in enumerate(binding):
        if depth == len(arm) or part != arm[depth]:
            return (depth == len(arm) or part ^ arm[depth] != 1) and _is_standing(binding[depth:])
    return True


SETTLING = frozenset({
    "bfloat16", "bool", "coalesce", "contiguous", "cuda", "detach", "double", "float", "half", "int", "long",
    "requires_grad_", "to", "type", "type_as",
})  # fmt: skip
"""Methods that give a tensor back as it is once they have been called on it: the warm-up has done that."""


def is_settled(value: ast.expr, text: str) -> bool:
    """Whether the attribute `text` is bound to itself: `self.table = self.table.to(x.device)`."""
    match value:
        case ast.ListComp(elt=part, generators=[ast.comprehension(target=ast.Name(id=name), iter=whole)]):
            return spelled(whole) == text and _is_settled(part, name)
        case ast.IfExp(test=ast.Compare(left=left) as asked) if (absent := against_none(asked)) is not None:
            # `self.mask = make() if self.mask is None else self.mask` fills once.
            kept = value.orelse if absent else value.body
            return spelled(left) == text and is_settled(kept, text)
    return isinstance(value, (ast.Call, ast.Attribute)) and _is_settled(value, text)


def _is_settled(value: ast.expr, text: str) -> bool:
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in SETTLING:
        value = value.func.value
    return spelled(value) == text


PLACED = frozenset({"device", "dtype", "is_contiguous", "is_cuda"})


def is_settled_aside(decl: FunctionDecl, text: str, value: ast.expr | None) -> bool:
    """Whether an attribute is bound to what was read out of it, and is where and what it should be from then on.

    bias = self.bias
    if bias.device != x.device:
        bias = bias.to(x.device)
        self.bias = bias
    """
    if not isinstance(value, ast.Name):
        return False
    bound = [each for each in decl.every(ast.Assign) if any(spelled(to) == value.id for to in each.targets)]
    for branch in decl.every(ast.If):
        if not stands_in(branch.body, value) or not _asks_for_place(branch.test, value.id):
            continue
        within = [each for each in bound if stands_in(branch.body, each)]
        before = [each.value for each in bound if each.lineno < branch.lineno]
        if within and all(_is_settled(each.value, value.id) for each in within) and before:
            return all(spelled(each) == text or _is_own(each, text) for each in before)
    return False


def _asks_for_place(test: ast.expr, name: str) -> bool:
    """Whether a condition asks of a variable only where it is and of which type."""
    parts = list(walk(test))
    places = [
        each for each in parts if isinstance(each, ast.Attribute) and each.attr in PLACED and spelled(each.value) == name
    ]
    return 0 < len(places) == sum(isinstance(each, ast.Name) and each.id == name for each in parts)


def _is_own(value: ast.expr, text: str) -> bool:
    """`self.bias_in_use()`: what the object of an attribute gives of itself."""
    match value:
        case ast.Call(func=ast.Attribute(value=owner), args=[], keywords=[]):
            return spelled(owner) == text.rpartition(".")[0]
    return False


def is_kept(decl: FunctionDecl, text: str, node: ast.AST) -> bool:
    """Whether a function asks before `node` for what `text` holds, and leaves with it: the warm-up has filled it then."""
    names = {text} | {
        name.id
        for each in decl.every(ast.Assign)
        if _holder(each.value) == text
        for name in each.targets
        if isinstance(name, ast.Name)
    }
    asking = decl.every(ast.If)
    if any(_gives_back(each, node, names - {text}, decl) for each in decl.every(ast.Assign)):
        return True
    if any(_lacks(each, node, text) for each in asking):
        return True
    line = getattr(node, "lineno", 0)
    return any(
        each.lineno < line
        and isinstance(each.body[-1], ast.Return)
        and any(_holder(part) in names for part in walk(each.test) if isinstance(part, ast.expr))
        for each in asking
    )


def reads_first(decl: FunctionDecl, target: ast.Subscript) -> bool:
    """Whether a function reads an entry above the line that stores it, or on it, as an earlier call may have left it."""
    text, line = spelled(target), target.lineno
    same = [each for each in decl.every(ast.Subscript) if each.lineno <= line and spelled(each) == text]
    stores = [each for each in same if isinstance(each.ctx, ast.Store) and each.lineno < line]
    reads = [each for each in same if isinstance(each.ctx, ast.Load)]
    return any(not _is_elsewhere(decl, each, target) and not _is_behind(decl, each, stores) for each in reads)


def _is_elsewhere(decl: FunctionDecl, node: ast.AST, other: ast.AST) -> bool:
    """Whether two nodes stand in the two branches of an `if`."""
    return any(stands_in(each.body, node) and stands_in(each.orelse, other) for each in decl.every(ast.If))


def _is_behind(decl: FunctionDecl, node: ast.AST, stores: list[ast.Subscript]) -> bool:
    """Whether one of some stores is made on every way to a node: in its block, or in one around it."""
    blocks = [block for each in decl.every(ast.If) for block in (each.body, each.orelse)]
    blocks += [*(each.body for each in decl.every(ast.For)), *(each.body for each in decl.every(ast.With))]
    blocks += [decl.node.body] if isinstance(decl.node.body, list) else []
    return any(
        isinstance(each, ast.Assign) and any(store in each.targets for store in stores) and stands_in(block[at + 1 :], node)
        for block in blocks
        for at, each in enumerate(block)
    )


def _lacks(each: ast.If, node: ast.AST, text: str) -> bool:
    """Whether an `if` around a store asks, among other things, whether the entry is not there yet."""
    if not stands_in(each.body, node):
        return False
    asked = [part for part in walk(each.test) if isinstance(part, ast.Compare) and isinstance(part.ops[0], ast.NotIn)]
    return any(spelled(part.comparators[0]) == text for part in asked)


def _gives_back(each: ast.Assign, node: ast.AST, names: set[str], decl: FunctionDecl) -> bool:
    """Whether a store puts back what was fetched, which is computed only where there was none."""
    if not isinstance(each.value, ast.Name) or not (each is node or node in each.targets):
        return False
    name = each.value.id
    if name not in names:
        return False
    made = [other for other in decl.every(ast.If) if is_none_asked(other.test, (name,))]
    return all(
        any(stands_in((asking,), other) for asking in made) or bool(_holder(other.value)) or is_settled(other.value, name)
        for other in decl.every(ast.Assign)
        if any(isinstance(to, ast.Name) and to.id == name for to in other.targets)
    )


def is_given_back(project: Project, decl: FunctionDecl, text: str, value: ast.expr, place: int | None = None) -> bool:
    """Whether `text` is bound to what a function gave back for it: `self.n = count(self.n)`, which counts if it is None.

    It may be one of several things that the function gives: `y, self.n = count(x, self.n)`.
    """
    if isinstance(value, ast.Name):
        bound = [each.value for each in decl.every(ast.Assign) if value.id in map(spelled, each.targets)]
        value = bound[0] if len(bound) == 1 else value
    if not isinstance(value, ast.Call):
        return False
    callee = project.dotted(decl.module, value.func)
    if not isinstance(callee, FunctionDecl) or callee.owner is not None:
        return False
    places = zip(callee.signature.named, value.args)
    return any(spelled(given) == text and _gives_back_given(callee, each.arg, place) for each, given in places)


def place_of(node: ast.AST, target: ast.Attribute) -> int | None:
    """At which place a statement binds a target among several; None for a target of its own."""
    several = node.targets[0] if isinstance(node, ast.Assign) else None
    return several.elts.index(target) if isinstance(several, ast.Tuple) and target in several.elts else None


def is_own_again(project: Project, decl: FunctionDecl, target: ast.Attribute, node: ast.AST) -> bool:
    """Whether a method binds to its object what another one returns of it: `self.a, self.b = self.updated(x)`."""
    match node:
        case ast.Assign(targets=[to], value=ast.Call(func=ast.Attribute(value=ast.Name(id=own), attr=method))):
            member = project.member(decl.owner, method) if decl.owner is not None else None
        case _:
            return False
    symbol = member[1][-1] if member is not None else None
    if not isinstance(symbol, ast.FunctionDef) or spelled(target.value) != own or not symbol.args.args:
        return False
    text = f"{symbol.args.args[0].arg}.{target.attr}"
    returned = [each.value for each in walk(symbol) if isinstance(each, ast.Return)]
    return bool(returned) and all(_same_place(to, target, each, text) for each in returned)


def _same_place(to: ast.expr, target: ast.Attribute, given: ast.expr | None, text: str) -> bool:
    """Whether what is given for one of the targets is the attribute `text`."""
    if isinstance(to, ast.Tuple) and isinstance(given, ast.Tuple):
        return any(one is target and spelled(other) == text for one, other in zip(to.elts, given.elts))
    return to is target and given is not None and spelled(given) == text


def _gives_back_given(decl: FunctionDecl, name: str, place: int | None) -> bool:
    """Whether a function returns what it is given for a parameter unless that is None, alone or at one place of a tuple."""
    made = [each for each in decl.every(ast.If) if is_none_asked(each.test, (name,))]
    bound = [each for each in decl.every(ast.Assign) if name in map(spelled, each.targets)]
    returned = [each.value for each in decl.every(ast.Return)]
    if place is not None:
        several = (each.elts if isinstance(each, ast.Tuple) else [] for each in returned)
        returned = [each[place] if place < len(each) else None for each in several]
    given = [each for each in returned if isinstance(each, ast.Name) and each.id == name]
    return bool(given) and len(given) == len(returned) and all(stands_in(made, each) for each in bound)


def is_none_asked(test: ast.expr, names: Collection[str]) -> bool:
    """Whether a condition asks, among other things, if one of these is None."""
    asked = (part.left for part in walk(test) if isinstance(part, ast.Compare) and against_none(part))
    return any(spelled(each) in names for each in asked)


def is_found_empty(decl: FunctionDecl, target: ast.Subscript) -> bool:
    """Whether a function asserts before a store that the entry is None: whoever takes what is stored empties it again."""
    text = spelled(target)
    asked = [each for each in decl.every(ast.Assert) if each.lineno < target.lineno]
    return any(is_none_asked(each.test, (text,)) for each in asked)


def _holder(value: ast.expr) -> str:
    """The state that an expression fetches: `self.x`, `getattr(self, "x", None)`, `self.x.get(key)`, `self.x[key]`."""
    match value:
        case ast.Name(id=name):
            return name
        case ast.Attribute():
            return spelled(value)
        case ast.Call(func=ast.Name(id="getattr"), args=[owner, ast.Constant(value=str(name)), *_]):
            return f"{spelled(owner)}.{name}"
        case ast.Call(func=ast.Attribute(value=owner, attr="get")) | ast.Subscript(value=owner):
            return spelled(owner)
    return ""


def is_put_back(decl: FunctionDecl, text: str) -> bool:
    """Whether a function keeps what an attribute or a global holds, and binds it again: `a = x.a; ...; x.a = a`.

    A context manager keeps it in `__enter__` and binds it again in `__exit__`.
    """
    body = [(each, *pair) for part in both_ends(decl) for each in part.every(ast.Assign) for pair in _pairs(each)]
    named = [(each, to, value) for each, to, value in body if isinstance(value, (ast.Attribute, ast.Name))]
    kept = {spelled(to): each for each, to, value in named if isinstance(to, NAMES) and spelled(value) == text}
    # What changes places with another by one statement is not back.
    return any(spelled(to) == text and kept.get(spelled(value), each) is not each for each, to, value in named)


NAMES = (ast.Name, ast.Attribute)


def _pairs(node: ast.Assign) -> Iterator[tuple[ast.expr, ast.expr]]:
    """What an assignment binds to what: `before, x.a = x.a, after` binds two."""
    for to in node.targets:
        if isinstance(to, ast.Tuple) and isinstance(node.value, ast.Tuple):
            yield from zip(to.elts, node.value.elts)
        else:
            yield to, node.value
