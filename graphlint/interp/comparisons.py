"""Comparisons of abstract values.

What a tensor compares itself with: other tensors and numbers.

With anything else (a string, None, a class, a member of an enumeration) `==` of a tensor gives `NotImplemented`, and Python
falls back to whether both are the same object: nothing is launched and nothing is read.
"""

from __future__ import annotations

import ast
from fnmatch import fnmatchcase

from graphlint.events import HostCompare
from graphlint.interp import specials
from graphlint.interp.asking import looked_at
from graphlint.interp.binding import defaults
from graphlint.interp.conditions import truth
from graphlint.interp.frame import Frame, expression
from graphlint.interp.operators import highest_rank, place_of, surest
from graphlint.interp.untraced import array_among
from graphlint.project import ClassDecl, FunctionDecl, Outside, Project
from graphlint.syntax import COMPARISONS, against_none, last_called, stored
from graphlint.types import Confidence
from graphlint.values import (
    EITHER,
    FALSE,
    MOVING,
    TRUE,
    Bool,
    ClassValue,
    DeviceValue,
    DtypeValue,
    External,
    Function,
    Instance,
    Kind,
    Method,
    ModuleValue,
    Nothing,
    Number,
    Opaque,
    Origin,
    Place,
    Seq,
    SliceValue,
    Table,
    Tensor,
    Text,
    Union,
    Unknown,
    Value,
    join_all,
    members,
    on_device,
)

IDENTITY = (ast.Is, ast.IsNot, ast.In, ast.NotIn)


@expression(ast.Compare)
def eval_compare(frame: Frame, node: ast.Compare) -> Value:
    left = looked_at(frame, node.left) if against_none(node) is not None else frame.eval(node.left)
    result: Value = TRUE
    for position, (op, part) in enumerate(zip(node.ops, node.comparators)):
        right = frame.eval(part)
        if isinstance(left, Instance) and isinstance(right, Instance) and not isinstance(op, IDENTITY):
            _by_fields(frame, left, right, node)
        result = compare(frame, op, left, right, node)
        if position < len(node.ops) - 1:
            # `a < b < c` is `a < b and b < c`: the first comparison is asked for its truth.
            truth(frame, result, node, "a chained comparison")
        left = right
    return result


def compare(frame: Frame, op: ast.cmpop, left: Value, right: Value, node: ast.Compare) -> Value:
    """The value of one comparison."""
    if isinstance(op, (ast.Is, ast.IsNot)):
        return _identity(op, left, right)
    if isinstance(op, (ast.In, ast.NotIn)):
        is_there = False if _is_not_handed(frame, left, right, node) else _among(left, right)
        if is_there is not None:
            return TRUE if is_there is isinstance(op, ast.In) else FALSE
        return _membership(frame, left, right, node)
    if isinstance(left, Union) or isinstance(right, Union):
        return join_all([compare(frame, op, one, other, node) for one in members(left) for other in members(right)])
    if isinstance(left, Instance) or isinstance(right, Instance):
        found = _of_objects(frame, op, left, right, node)
        if found is not None:
            return found
    if isinstance(left, Tensor) or isinstance(right, Tensor):
        project = frame.machine.project
        if not takes(project, left) or not takes(project, right):
            return EITHER
        return Tensor(place_of(left, right), Kind.BOOL, highest_rank(left, right), surest(left, right))
    if isinstance(left, (Seq, Table)) and type(left) is type(right):
        _by_elements(frame, left, right, node)
    found = _constant(op, left, right)
    if found is EITHER and isinstance(left, Number) and left.origin is Origin.SHAPE and left.value is None:
        return _of_given_size(frame, op, node)
    if found is EITHER and any(isinstance(each, Number) and each.origin is Origin.STATE for each in (left, right)):
        # A container that is asked how much it holds is filled in the first calls, and full by the time of the capture.
        return found if any(last_called(each) == "len" for each in (node.left, *node.comparators)) else MOVING
    return found


GIVEN = {
    ast.Gt: (TRUE, 0),
    ast.NotEq: (TRUE, 0),
    ast.GtE: (TRUE, 1),
    ast.Eq: (FALSE, 0),
    ast.LtE: (FALSE, 0),
    ast.Lt: (FALSE, 1),
}
"""What is said of a size that there is by comparing it with the number beside: `n > 0` holds."""


def _of_given_size(frame: Frame, op: ast.cmpop, node: ast.Compare) -> Value:
    """`n if n > 0 else ...` of a parameter that is 0 or less if nobody gives it, and is filled in then: this is a size."""
    answer, bound = GIVEN.get(type(op), (EITHER, 0))
    decl = frame.summary.decl
    match node:
        case ast.Compare(left=ast.Name(id=name), ops=[_], comparators=[ast.Constant(value=int(number))]):
            if decl is not None and number == bound and _is_left_out(defaults(decl).get(name)):
                return answer if _is_filled_in(decl, name, node) else EITHER
    return EITHER


def _is_filled_in(decl: FunctionDecl, name: str, asked: ast.Compare) -> bool:
    """Whether a parameter is bound anew where a condition says so."""
    chosen = [each for each in decl.every(ast.Assign) if isinstance(each.value, ast.IfExp) and each.value.test is asked]
    arms = [each for some in decl.every(ast.If) if some.test is asked for each in (*some.body, *some.orelse)]
    return any(isinstance(to, ast.Name) and to.id == name for each in (*chosen, *arms) for to in stored(each))


def _is_left_out(default: ast.expr | None) -> bool:
    """Whether a default says that there is none: 0, -1."""
    match default:
        case ast.Constant(value=0) | ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int())):
            return True
    return False


def _of_objects(frame: Frame, op: ast.cmpop, left: Value, right: Value, node: ast.Compare) -> Value | None:
    """What the method of an object says."""
    found = specials.compared(frame, op, left, right, node)
    return None if isinstance(found, Unknown) else found


def _by_fields(frame: Frame, left: Instance, right: Instance, node: ast.Compare) -> None:
    """Records are compared field by field, and each answer is asked for its truth."""
    held = specials.compared_records(frame, left, right)
    if held is not None:
        frame.emit(HostCompare, node, min(held.sure, Confidence.LIKELY), builtin="==")


def _by_elements(frame: Frame, left: Value, right: Value, node: ast.Compare) -> None:
    """`[x] == [y]` compares one by one, and asks each comparison for its truth.

    Where it is known what is in them: what a hint says are several may as well be one tensor.
    """
    one, other = on_device(left), on_device(right)
    if (
        one is not None
        and other is not None
        and all(isinstance(each, (Seq, Table)) and each.items for each in (left, right))
    ):
        frame.emit(HostCompare, node, min(one.sure, other.sure, Confidence.LIKELY), builtin="==")


def _constant(op: ast.cmpop, left: Value, right: Value) -> Value:
    found = array_among(left, right)
    if found is not None:
        return found
    if isinstance(left, DeviceValue) and isinstance(right, DeviceValue):
        return _same_device(op, left, right)
    flag = _same_truth(isinstance(op, ast.Eq), left, right) if isinstance(op, (ast.Eq, ast.NotEq)) else None
    if flag is not None:
        return flag
    if isinstance(op, (ast.Eq, ast.NotEq)) and _never_alike(left, right):
        return FALSE if isinstance(op, ast.Eq) else TRUE
    one, other = _literal(left), _literal(right)
    if one is None or other is None:
        return Unknown() if isinstance(left, Unknown) and isinstance(right, Unknown) else EITHER
    try:
        return TRUE if COMPARISONS[type(op)](one[0], other[0]) else FALSE
    except TypeError:
        return EITHER


def _same_truth(is_same: bool, left: Value, right: Value) -> Value | None:
    """`flag is True`, `flag != False`: the flag or its opposite; None for any other comparison."""
    flag, wanted = (left, right) if right is TRUE or right is FALSE else (right, left)
    if not isinstance(flag, Bool) or not (wanted is TRUE or wanted is FALSE):
        return None
    return flag if (wanted is TRUE) is is_same else Bool(flag.false_on, flag.true_on, flag.origin)


def _same_device(op: ast.cmpop, left: DeviceValue, right: DeviceValue) -> Value:
    """Whether two devices are the same, where one accelerator is at work."""
    if Place.UNKNOWN in (left.place, right.place):
        return EITHER
    same = (left.place is Place.DEVICE) is (right.place is Place.DEVICE)
    return TRUE if same is isinstance(op, ast.Eq) else FALSE


def _never_alike(left: Value, right: Value) -> bool:
    """Whether a string fits no way of filling in what is not known of the other."""
    if not isinstance(left, Text) or not isinstance(right, Text):
        return False
    known, other = (left, right) if left.value is not None else (right, left)
    return known.value is not None and other.value is None and not fnmatchcase(known.value, other.pattern or "*")


def _literal(value: Value) -> tuple[object] | None:
    """The constant a value is known to be, in a box; only what the code itself spells out is believed."""
    if isinstance(value, Number) and value.value is not None and value.origin is Origin.CONST:
        return (value.value,)
    if isinstance(value, Text) and value.value is not None:
        return (value.value,)
    return None


def _identity(op: ast.cmpop, left: Value, right: Value) -> Value:
    flag = _same_truth(isinstance(op, ast.Is), left, right)
    if flag is not None:
        return flag
    pair = (left, right)
    if any(isinstance(value, Nothing) for value in pair):
        other = right if isinstance(left, Nothing) else left
        kinds = {isinstance(member, Nothing) for member in members(other)}
        doubtful = any(isinstance(member, (Unknown, Opaque)) for member in members(other))
        if len(kinds) == 1 and not doubtful:
            same = kinds.pop()
            return TRUE if same is isinstance(op, ast.Is) else FALSE
    if any(isinstance(value, Tensor) for value in pair) and any(isinstance(value, Bool) for value in pair):
        return FALSE if isinstance(op, ast.Is) else TRUE
    return EITHER


def _among(left: Value, right: Value) -> bool | None:
    """Whether a known word is one of known words, or stands in a dictionary that has it; None for everything else."""
    if isinstance(right, Table) and isinstance(left, Text) and left.value is not None:
        return True if any(key == left.value for key, _ in right.items) else None
    if not isinstance(left, Text) or left.value is None or not isinstance(right, Seq) or right.items is None:
        return None
    words = [each.value for each in right.items if isinstance(each, Text) and each.value is not None]
    return left.value in words if len(words) == len(right.items) and right.rest is None else None


def _is_not_handed(frame: Frame, left: Value, right: Value, node: ast.Compare) -> bool:
    """`"mask" in kwargs` of a call that is known to give nothing of that name."""
    spread = frame.decl.node.args.kwarg if frame.decl is not None else None
    if spread is None or not isinstance(right, Table) or right.rest is not None or not isinstance(left, Text):
        return False
    match node.comparators:
        case [ast.Name(id=name)] if name == spread.arg and left.value is not None:
            return all(key != left.value for key, _ in right.items)
    return False


def _membership(frame: Frame, left: Value, right: Value, node: ast.Compare) -> Value:
    """`a in b` compares `a` with every element and asks each result for its truth."""
    for owner in members(right):
        asked = specials.special(frame, owner, "__contains__", (left,), node) if isinstance(owner, Instance) else None
        if asked is not None:
            truth(frame, asked, node, "in")
    culprit = read_in(frame.machine.project, left, right)
    if culprit is not None:
        frame.emit(HostCompare, node, culprit.sure, builtin="in")
    return EITHER


REFUSED = (ClassValue, DeviceValue, DtypeValue, Function, Method, ModuleValue, Nothing, Seq, SliceValue, Table, Text)
"""Kinds of which a tensor makes no tensor (measured with torch 2.13: `==` gives a `bool`)."""

BY_IDENTITY = ("abc.", "enum.", "torch.nn.", "typing.", "builtins.object")
NUMERIC = ("enum.Int", "enum.ReprEnum", "builtins.int", "builtins.float")
"""Bases whose objects are numbers, whatever else they are."""


def takes(project: Project, value: Value) -> bool:
    """Whether comparing a tensor with one of these can give a tensor."""
    return any(_takes(project, member) for member in members(value))


def _takes(project: Project, value: Value) -> bool:
    if isinstance(value, External):
        return not value.name.startswith("builtins.")
    if isinstance(value, Instance):
        return _has_equality(project, value.decl)
    return not isinstance(value, REFUSED)


def _has_equality(project: Project, decl: ClassDecl) -> bool:
    outside = [base.name for base in project.mro(decl) if isinstance(base, Outside)]
    if is_numeric(project, decl) or any(not name.startswith(BY_IDENTITY) for name in outside):
        return True
    return project.member(decl, "__eq__") is not None


def is_numeric(project: Project, decl: ClassDecl) -> bool:
    """Whether the objects of a class are numbers, such as the members of an `IntEnum`."""
    return any(isinstance(base, Outside) and base.name.startswith(NUMERIC) for base in project.mro(decl))


def read_in(project: Project, sought: Value, container: Value) -> Tensor | None:
    """The device tensor whose comparison Python asks for its truth when it looks for a value in a container."""
    parts = members(container)
    inside = [part for part in parts if isinstance(part, Tensor) and part.place is Place.DEVICE]
    subject = on_device(sought) if isinstance(sought, (Tensor, Union)) else None
    held = on_device(container) if not isinstance(container, (Table, Instance)) else None
    culprit = inside[0] if inside else held if held is not None and subject is None else subject
    return culprit if culprit is not None and any(_compares(project, sought, part) for part in parts) else None


def _compares(project: Project, sought: Value, container: Value) -> bool:
    """Whether numbers can end up compared on the device: not by what looks for a hash, and not with strings."""
    if not isinstance(container, Seq):
        # A tensor refuses to look for what is no number: what is asked for a string is something else, by its name only.
        return isinstance(container, Tensor) and not all(isinstance(each, REFUSED) for each in members(sought))
    if container.form == "set" or container.items == () or not takes(project, sought):
        return False
    return any(not isinstance(each, Opaque) and _takes(project, each) for each in members(container.element()))
