"""Host state that one call moves on for the next, as far as a statement and the function around it show it."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence

from graphlint.project import FunctionDecl
from graphlint.syntax import last, permuted, spelled, stands_in, walk
from graphlint.types import Confidence

OPPOSITE = {ast.Add: ast.Sub, ast.Sub: ast.Add}
TAKING = frozenset({"pop", "popleft", "clear", "remove"})


def is_swap(node: ast.AST) -> bool:
    """Whether a statement exchanges two attributes."""
    parts = permuted(node)
    return len(parts) == 2 and all(isinstance(each, ast.Attribute) for each in parts)


def moves_on(node: ast.AST, text: str) -> bool:
    """Whether state is bound to what is computed of it and something else: `s.mean = s.mean * 0.9 + x`."""
    value = node.value if isinstance(node, (ast.Assign, ast.AnnAssign)) else None
    return isinstance(value, (ast.BinOp, ast.Call)) and any(
        _reads(part, text)
        for part in ast.iter_child_nodes(value)
        if not (isinstance(value, ast.Call) and part is value.func)
    )


def flips(node: ast.AST, text: str) -> bool:
    """Whether state is bound to another value than it had: `s.on = not s.on`, `s.at = "b" if s.at == "a" else "a"`."""
    value = node.value if isinstance(node, (ast.Assign, ast.AnnAssign)) else None
    match value:
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            return _reads(inner, text)
        case ast.IfExp(test=ast.Compare(left=left, ops=[ast.Eq() | ast.NotEq() | ast.Lt() | ast.Gt()])):
            return _reads(left, text)
        case ast.BinOp():
            return _reads(value, text)
        case ast.Call(func=ast.Name(id="min" | "max" | "int" | "round")):
            return any(_reads(part, text) for part in value.args if isinstance(part, ast.BinOp))
    return False


def _reads(node: ast.AST, text: str) -> bool:
    return any(isinstance(each, (ast.Attribute, ast.Name, ast.Subscript)) and spelled(each) == text for each in walk(node))


def is_undone(decl: FunctionDecl, text: str) -> bool:
    """Whether a function takes back what it does: `s.depth += 1` and `s.depth -= 1`, an `append` and a `pop`.

    A context manager does in `__enter__` what it takes back in `__exit__`.
    """
    parts = list(both_ends(decl))
    augmented = (each for part in parts for each in part.every(ast.AugAssign))
    steps = [each for each in augmented if spelled(each.target) == text and type(each.op) in OPPOSITE]
    if any(OPPOSITE[type(one.op)] is type(other.op) and _equal(one, other) for one in steps for other in steps):
        return True
    called = {name for part in parts for name in _called(part, text)}
    if any(_is_window(part, text) for part in parts):
        return False
    return bool(called & TAKING) and bool(called - TAKING)


def _is_window(decl: FunctionDecl, text: str) -> bool:
    """Whether something is taken out only where too much is there: `if len(s.last) > n: s.last.pop(0)`."""
    full = [each for each in decl.every(ast.If) if any(_measures(part, text) for part in walk(each.test))]
    takes = [each for each in decl.every(ast.Call) if full and _takes(each, text)]
    return bool(takes) and all(any(stands_in(asked.body, each) for asked in full) for each in takes)


def _measures(node: ast.AST, text: str) -> bool:
    return isinstance(node, ast.Call) and last(node.func) == "len" and [spelled(each) for each in node.args] == [text]


def _takes(node: ast.Call, text: str) -> bool:
    return isinstance(node.func, ast.Attribute) and node.func.attr in TAKING and spelled(node.func.value) == text


def sure_to_stay(decl: FunctionDecl | None, text: str) -> Confidence:
    """How sure it is that what a function counts is not taken back by it."""
    is_back = decl is not None and (is_undone(decl, text) or _starts_over(decl, text))
    return Confidence.POSSIBLE if is_back else Confidence.CERTAIN


def _starts_over(decl: FunctionDecl, text: str) -> bool:
    """Whether every call of a function binds what it counts to a constant: it counts within the call."""
    body = decl.node.body if isinstance(decl.node.body, list) else []
    bound = [each for each in body if isinstance(each, ast.Assign) and isinstance(each.value, ast.Constant)]
    lines = [each.lineno for each in bound if any(spelled(target) == text for target in each.targets)]
    left = [each.lineno for each in decl.every(ast.Return)] if lines else []
    return any(all(not first < each < line for each in left) for line in lines for first in _counted(decl, text))


def _counted(decl: FunctionDecl, text: str) -> list[int]:
    return [each.lineno for each in decl.every(ast.AugAssign) if spelled(each.target) == text]


ENDS = ("__enter__", "__exit__")


def both_ends(decl: FunctionDecl) -> Iterator[FunctionDecl]:
    """A function, and the other end of the context manager that it is one end of."""
    yield decl
    owner = decl.owner
    for name in ENDS if owner is not None and decl.name in ENDS else ():
        symbol = owner.members.get(name, (None,))[-1] if owner is not None and name != decl.name else None
        if isinstance(symbol, ast.FunctionDef):
            yield decl.module.function(symbol, owner, name)


def _equal(one: ast.AugAssign, other: ast.AugAssign) -> bool:
    return ast.dump(one.value) == ast.dump(other.value)


def _called(decl: FunctionDecl, text: str) -> set[str]:
    """The methods that a function calls on a container."""
    return {
        each.func.attr
        for each in decl.every(ast.Call)
        if isinstance(each.func, ast.Attribute) and spelled(each.func.value) == text
    }


def sets_back(decl: FunctionDecl | None, setter: str) -> bool:
    """Whether a function, or a context manager, fetches a state and sets that again: `get_rng_state`, `set_rng_state`."""
    what = setter.rpartition(".")[2]
    if decl is None or not what.startswith("set_"):
        return False
    parts = list(both_ends(decl))
    fetched = [each for part in parts for each in part.every(ast.Assign) if _calls(each.value, f"get_{what[4:]}")]
    kept = {spelled(name) for each in fetched for name in each.targets}
    calls = (each for part in parts for each in part.every(ast.Call) if _calls(each, what))
    return any(spelled(given) in kept for each in calls for given in each.args)


def _calls(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Call) and last(node.func) == name


def moved_by_way(statements: Sequence[ast.AST]) -> Iterator[str]:
    """The attributes that are bound to a variable which was computed from them, or computed from such a variable.

    One that is bound to a variable that has its old value is put back, and so not moved on.
    """
    stores = list(_bound(statements))
    if not any(_names(value) for _, value in stores):
        return
    held = _held(statements)
    back = {name for name, value in stores if isinstance(value, ast.Name) and held.get(value.id, {}).get(name) is False}
    for name, value in stores:
        if name not in back and _computed_from(value, held).get(name):
            yield name.partition(".")[2]


def _bound(statements: Sequence[ast.AST]) -> Iterator[tuple[str, ast.expr]]:
    """What is bound to a variable or a sum, as it is written: `self.at`."""
    for each in statements:
        match each:
            case ast.Assign(targets=[ast.Attribute(value=ast.Name()) as target], value=ast.Name() | ast.BinOp() as value):
                yield spelled(target), value


def _held(statements: Sequence[ast.AST]) -> dict[str, dict[str, bool]]:
    """By variable: the attributes it was computed from, and whether more than their value is in it."""
    held: dict[str, dict[str, bool]] = {}
    for each in statements:
        match each:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Attribute() | ast.BinOp() as value):
                held.setdefault(name, {}).update(_computed_from(value, held))
    return held


def _computed_from(value: ast.expr, held: dict[str, dict[str, bool]]) -> dict[str, bool]:
    is_more = isinstance(value, ast.BinOp)
    found = {spelled(each): is_more for each in walk(value) if isinstance(each, ast.Attribute)}
    for name in _names(value):
        found.update({attr: is_more or known for attr, known in held.get(name, {}).items()})
    return found


def _names(value: ast.expr) -> list[str]:
    return [each.id for each in walk(value) if isinstance(each, ast.Name)]


NUMBERS = frozenset({"bool", "complex", "float", "int", "Number", "str"})


def is_number_asked(test: ast.expr, names: Collection[str]) -> bool:
    """Whether a condition asks if something still holds the number that it began with: `isinstance(self.v, float)`."""
    match test:
        case ast.Call(func=ast.Name(id="isinstance"), args=[subject, kinds]):
            parts = kinds.elts if isinstance(kinds, ast.Tuple) else [kinds]
            return spelled(subject) in names and all(last(each) in NUMBERS for each in parts)
        case ast.UnaryOp(op=ast.Not(), operand=ast.Call(func=func, args=[subject, *kinds])):
            is_about = last(func) == "is_tensor" or [last(each) for each in (func, *kinds)] == ["isinstance", "Tensor"]
            return is_about and spelled(subject) in names
        case ast.BoolOp(op=ast.And(), values=parts):
            return any(is_number_asked(part, names) for part in parts)
    return False
