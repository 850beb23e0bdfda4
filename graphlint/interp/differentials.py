"""Functions that `torch.func` and `torch.autograd.functional` make of others: what they call, and what comes back.

A derivative has the place of what it is taken of; its rank depends on both.  Documentation of torch 2.13.
"""

from __future__ import annotations

import ast
from functools import partial

from graphlint.events import BackwardRun
from graphlint.interp.dispatch import apply
from graphlint.interp.frame import Frame
from graphlint.interp.handlers import first, function
from graphlint.types import Confidence
from graphlint.values import (
    TRUE,
    Arguments,
    External,
    Kind,
    Partial,
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

MADE = "made"
GRADIENTS = ("torch.func.grad", "torch.func.grad_and_value")
JACOBIANS = ("torch.func.jacrev", "torch.func.jacfwd", "torch.func.hessian")


def _derived(name: str, frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    """A function that is called later; which one made it is in the name of what is called then."""
    return Partial(External(f"{name}.{MADE}"), Arguments((first(arguments, 0, "func") or Unknown(), _auxiliary(arguments))))


for _name in (*GRADIENTS, *JACOBIANS):
    function(_name)(partial(_derived, _name))


def _auxiliary(arguments: Arguments) -> Value:
    """Whether the function gives something beside what is derived."""
    return arguments.keyword("has_aux") or (arguments.positional[2] if len(arguments.positional) > 2 else Unknown())


def _called(frame: Frame, arguments: Arguments, node: ast.AST) -> tuple[Value, Value, Value | None]:
    """What the function gives, the first of its arguments, and what it gives beside."""
    callee, auxiliary, *given = arguments.positional
    value = apply(frame, callee, arguments.replace(positional=tuple(given)), node)
    frame.emit(BackwardRun, node, Confidence.LIKELY)
    start = given[0] if given else Unknown()
    if auxiliary is TRUE and isinstance(value, Seq) and value.items is not None and len(value.items) == 2:
        return value.items[0], start, value.items[1]
    return value, start, None


@function(f"torch.func.grad.{MADE}")
def gradient(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    _, start, beside = _called(frame, arguments, node)
    return like(start) if beside is None else Seq("tuple", (like(start), beside))


@function(f"torch.func.grad_and_value.{MADE}")
def gradient_and_value(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    value, start, beside = _called(frame, arguments, node)
    return Seq("tuple", (like(start), value if beside is None else Seq("tuple", (value, beside))))


@function(*(f"{name}.{MADE}" for name in JACOBIANS))
def jacobian(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    _, start, beside = _called(frame, arguments, node)
    return unranked(start) if beside is None else Seq("tuple", (unranked(start), beside))


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
    return _beside(apply(frame, callee, Arguments(tuple(primals)), node), _product(made), arguments)


@function("torch.func.linearize")
def linearized(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    callee, *primals = arguments.positional or (Unknown(),)
    value = apply(frame, callee, Arguments(tuple(primals)), node)
    return Seq("tuple", (value, _product(like(value))))


def _product(made: Value) -> Value:
    return Partial(External(f"torch.func.vjp.{MADE}"), Arguments((made,)))


def _beside(value: Value, derivative: Value, arguments: Arguments) -> Value:
    """(value, derivative), with what the function gives beside its value behind them."""
    if (
        arguments.keyword("has_aux") is TRUE
        and isinstance(value, Seq)
        and value.items is not None
        and len(value.items) == 2
    ):
        return Seq("tuple", (value.items[0], derivative, value.items[1]))
    return Seq("tuple", (value, derivative))


@function(f"torch.func.vjp.{MADE}")
def multiplied(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    frame.emit(BackwardRun, node, Confidence.LIKELY)
    return arguments.positional[0]


@function("torch.func.jvp")
def pushed_forward(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    value = apply(
        frame, first(arguments, 0, "func") or Unknown(), Arguments(_primals(first(arguments, 1, "primals"))), node
    )
    held = value.items[0] if isinstance(value, Seq) and value.items else value
    return _beside(value, like(held if arguments.keyword("has_aux") is TRUE else value), arguments)


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
