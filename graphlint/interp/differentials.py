"""Functions that `torch.func` and `torch.autograd.functional` make of others: what they call, and what comes back.

A derivative has the place of what it is taken of; its rank depends on both.  Documentation of torch 2.13.
"""

from __future__ import annotations

import ast

from graphlint.events import BackwardRun
from graphlint.interp.dispatch import apply
from graphlint.interp.frame import Frame
from graphlint.interp.handlers import first, function, later, made_by
from graphlint.types import Confidence
from graphlint.values import (
    TRUE,
    Arguments,
    Kind,
    Place,
    Seq,
    Table,
    Tensor,
    Unknown,
    Value,
    join_all,
    members,
    tensors_in,
)


def _asked(arguments: Arguments) -> Arguments:
    """The function that is derived, and whether it gives something beside."""
    return Arguments((first(arguments, 0, "func") or Unknown(), first(arguments, 2, "has_aux") or Unknown()))


def _called(frame: Frame, arguments: Arguments, node: ast.AST) -> tuple[Value, Value, tuple[Value, ...]]:
    """What the function gives, the first of its arguments, and what it gives beside."""
    callee, auxiliary, *given = arguments.positional
    value, beside = _apart(apply(frame, callee, arguments.replace(positional=tuple(given)), node), auxiliary)
    frame.emit(BackwardRun, node, Confidence.LIKELY)
    return value, given[0] if given else Unknown(), beside


def _apart(value: Value, auxiliary: Value | None) -> tuple[Value, tuple[Value, ...]]:
    """What a function gives, and what it gives beside where it is said to give two."""
    if auxiliary is TRUE and isinstance(value, Seq) and value.items is not None and len(value.items) == 2:
        return value.items[0], value.items[1:]
    return value, ()


def _with(value: Value, beside: tuple[Value, ...]) -> Value:
    return Seq("tuple", (value, *beside)) if beside else value


@made_by("torch.func.grad", kept=_asked)
def gradient(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    _, start, beside = _called(frame, arguments, node)
    return _with(like(start), beside)


@made_by("torch.func.grad_and_value", kept=_asked)
def gradient_and_value(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    value, start, beside = _called(frame, arguments, node)
    return Seq("tuple", (like(start), _with(value, beside)))


@made_by("torch.func.jacrev", "torch.func.jacfwd", "torch.func.hessian", kept=_asked)
def jacobian(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    _, start, beside = _called(frame, arguments, node)
    return _with(unranked(start), beside)


def like(value: Value) -> Value:
    """A derivative with respect to a value: a tensor, or a tree of tensors, of the same form."""
    return join_all([each.replace(role="") if isinstance(each, Tensor) else each for each in members(value)])


def unranked(value: Value) -> Value:
    """Tensors of any rank where those of a value are."""
    found = [Tensor(each.place, each.kind, None, each.sure) for each in tensors_in(value)]
    return join_all(found) if found else Tensor(Place.UNKNOWN, Kind.ANY, None, Confidence.LIKELY)


def _primals(value: Value | None) -> tuple[Value, ...]:
    if isinstance(value, Seq) and value.items is not None:
        return value.items
    return (Unknown(),) if value is None else (value,)


@function("torch.func.vjp")
def pulled_back(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    """What the function gives, and a function that gives its transposed derivative times what it is given."""
    callee, *primals = arguments.positional or (Unknown(),)
    made = Seq("tuple", tuple(like(each) for each in primals))
    value, beside = _apart(apply(frame, callee, Arguments(tuple(primals)), node), arguments.keyword("has_aux"))
    return Seq("tuple", (value, _product(made), *beside))


@function("torch.func.linearize")
def linearized(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    callee, *primals = arguments.positional or (Unknown(),)
    value = apply(frame, callee, Arguments(tuple(primals)), node)
    return Seq("tuple", (value, _product(like(value))))


def _product(made: Value) -> Value:
    return later("torch.func.vjp", Arguments((made,)))


@function("torch.func.vjp.made")
def multiplied(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    frame.emit(BackwardRun, node, Confidence.LIKELY)
    return arguments.positional[0]


@function("torch.func.jvp")
def pushed_forward(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    callee, primals = first(arguments, 0, "func") or Unknown(), _primals(first(arguments, 1, "primals"))
    value, beside = _apart(apply(frame, callee, Arguments(primals), node), arguments.keyword("has_aux"))
    return Seq("tuple", (value, like(value), *beside))


FUNCTIONAL = "torch.autograd.functional."


def _run(frame: Frame, arguments: Arguments, node: ast.AST) -> tuple[Value, Value]:
    """What the function gives for its inputs, and these."""
    inputs = first(arguments, 1, "inputs") or Unknown()
    value = apply(frame, first(arguments, 0, "func") or Unknown(), Arguments(_primals(inputs)), node)
    frame.emit(BackwardRun, node, Confidence.LIKELY)
    return value, inputs


@function(f"{FUNCTIONAL}jacobian", f"{FUNCTIONAL}hessian")
def derivative(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    return unranked(_run(frame, arguments, node)[1])


@function(f"{FUNCTIONAL}vjp", f"{FUNCTIONAL}vhp", f"{FUNCTIONAL}hvp")
def product(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    value, inputs = _run(frame, arguments, node)
    return Seq("tuple", (value, like(inputs)))


@function(f"{FUNCTIONAL}jvp")
def directional(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    value, _ = _run(frame, arguments, node)
    return Seq("tuple", (value, like(value)))


@function("torch.func.functional_call", "torch.nn.utils.stateless.functional_call")
def functional_call(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    """A module called with other parameters, which lie where its own do."""
    given, named = first(arguments, 2, "args"), first(arguments, 3, "kwargs")
    words = named.items if isinstance(named, Table) else ()
    passed = Arguments(
        () if given is None else _primals(given), tuple((key, each) for key, each in words if isinstance(key, str))
    )
    return apply(frame, first(arguments, 0, "module") or Unknown(), passed, node)
