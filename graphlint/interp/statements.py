"""Statements: assignments, branches, loops, and what they do to the variables."""

from __future__ import annotations

import ast

from graphlint.interp.agreeing import note_arms
from graphlint.interp.asking import NOTES
from graphlint.interp.assignment import assign, in_place, is_tensor
from graphlint.interp.capturing import step_in, step_out
from graphlint.interp.carried import branch_of
from graphlint.interp.conditions import asserting, test
from graphlint.interp.context import enter, switch, take_switch
from graphlint.interp.decorating import decorate
from graphlint.interp.deferring import defer, put_off
from graphlint.interp.frame import Frame, State, restrict, statement
from graphlint.interp.indexing import store_item
from graphlint.interp.leaving import note_exit
from graphlint.interp.left_behind import doubt_left_behind
from graphlint.interp.memo import BODY, ORELSE, REST
from graphlint.interp.mutation import path_of, report_entry
from graphlint.interp.objects import is_module
from graphlint.interp.once import is_passed_over, keep_done, part_run_once
from graphlint.interp.operators import binary
from graphlint.interp.ranks import note_unpacked
from graphlint.interp.specials import augmented, special
from graphlint.interp.untraced import split
from graphlint.project import imported
from graphlint.syntax import against_none, walk
from graphlint.types import Confidence, Target
from graphlint.values import (
    ClassValue,
    External,
    Function,
    Instance,
    Method,
    Nothing,
    Number,
    Text,
    Unknown,
    Value,
    tensors_in,
)


@statement(ast.Expr)
def run_expression(frame: Frame, node: ast.Expr) -> None:
    if put_off(frame, node.value) or _is_explored_itself(frame, node.value):
        return
    if not switch(frame, node.value):
        frame.eval(node.value)
    if frame.switched:
        take_switch(frame, node.value)


def _is_explored_itself(frame: Frame, node: ast.expr) -> bool:
    """Whether `super().update(...)` stands in an `update` that is run for what it writes: that of the base is run too."""
    if not frame.machine.writes or frame.receiver is not frame.machine.writes[-1][0]:
        return False
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Call(func=ast.Name(id="super")), attr=name)):
            return frame.summary.name == name
    return False


@statement(ast.Assign)
def run_assign(frame: Frame, node: ast.Assign) -> None:
    if defer(frame, node):
        return
    value = frame.eval(node.value)
    for target in node.targets:
        assign(frame, target, value, node)
    note = NOTES.get(type(node.value))
    if note is not None:
        note(frame, node, value)
    elif type(node.targets[-1]) is ast.Tuple:
        note_unpacked(frame, node)


@statement(ast.AnnAssign)
def run_annotated(frame: Frame, node: ast.AnnAssign) -> None:
    if node.value is not None:
        assign(frame, node.target, frame.eval(node.value), node)


@statement(ast.AugAssign)
def run_augmented(frame: Frame, node: ast.AugAssign) -> None:
    target = node.target
    old, given = frame.eval(_loaded(target)), frame.eval(node.value)
    if isinstance(old, Method):
        return  # while it is asked what an attribute may be, this statement says nothing: it keeps what is there
    value = augmented(frame, node.op, old, given, node) if isinstance(old, Instance) else None
    value = binary(frame, node.op, old, given, node) if value is None else value
    # What a base outside the tree holds, and a tensor is added to, is most likely one: it is written in place.
    if is_tensor(old) or (isinstance(target, ast.Attribute) and isinstance(old, Unknown) and any(tensors_in(value, 0))):
        if isinstance(target, ast.Subscript):
            store_item(frame, frame.eval(target.value), frame.eval(target.slice), value, target)
        elif isinstance(target, ast.Name):
            frame.env[target.id] = in_place(old, value)
        return
    if isinstance(target, ast.Subscript) and isinstance(old, Number):
        report_entry(frame, target, node)
    assign(frame, target, value, node, augmented=True)


def _loaded(target: ast.expr) -> ast.expr:
    """The same expression, read instead of written."""
    if isinstance(target, ast.Name):
        new: ast.expr = ast.Name(target.id, ast.Load())
    elif isinstance(target, ast.Attribute):
        new = ast.Attribute(target.value, target.attr, ast.Load())
    elif isinstance(target, ast.Subscript):
        new = ast.Subscript(target.value, target.slice, ast.Load())
    else:
        return target
    return ast.copy_location(new, target)


@statement(ast.Return)
def run_return(frame: Frame, node: ast.Return) -> None:
    value = Nothing() if node.value is None else frame.eval(node.value)
    frame.returns.append(restrict(value, frame.live))
    if frame.stored:
        note_exit(frame)
    frame.live = Target.NONE


@statement(ast.Raise)
def run_raise(frame: Frame, node: ast.Raise) -> None:
    if node.exc is not None and frame.recording:
        # Where this runs, the region has failed already.
        ceiling, frame.ceiling = frame.ceiling, Confidence.POSSIBLE
        frame.eval(node.exc)
        frame.ceiling = ceiling
    frame.live = Target.NONE


@statement(ast.If)
def run_if(frame: Frame, node: ast.If) -> None:
    outcome = test(frame, node.test, "if")
    env, live, ends = frame.env, frame.live, []
    frame.conditional += 1
    unusual = not is_usual(node.test)
    frame.branches += unusual
    outer, opened, ceiling = frame.arm, frame.opened, frame.ceiling
    suspended = None
    once = part_run_once(frame, node)
    standing = not once and _is_standing(frame, node)
    passed = bool(once) and is_passed_over(frame, node)
    done: dict[str, Value] = {}
    shut = "" if outcome.is_static else _shut_part(frame, node)
    on, off = live & outcome.true.live, live & outcome.false.live
    parted = bool(on & off)
    for other, (part, arm, reached) in enumerate(((BODY, outcome.true, on), (ORELSE, outcome.false, off))):
        if not reached:
            continue
        frame.restore(State({**env, **arm.facts}, reached))
        if part in (once, shut):
            frame.ceiling = Confidence.POSSIBLE
        # A branch that this call is sure to take is none: what it binds is bound behind it.
        frame.arm = (*outer, branch_of(node, other, standing)) if parted else outer
        if part != once or not passed:
            frame.run(node.orelse if other else node.body)
        frame.ceiling, frame.arm = ceiling, outer
        ends.append(State(frame.env, frame.live))
        done = frame.env if part == once and not passed and frame.live else done
        if frame.opened is not opened:
            suspended = step_out(frame, opened) or suspended
    if suspended is not None:
        step_in(frame, suspended)
    frame.conditional -= 1
    frame.branches -= unusual
    frame.merge(*ends)
    keep_done(frame, env, done)
    doubt_left_behind(frame, node, env, ends)
    note_arms(frame, node, ends)
    if REST in (once, shut):
        _pass_over_rest(frame, leave=passed and once == REST)


def _pass_over_rest(frame: Frame, leave: bool) -> None:
    """What stands behind in the block is hardly ever run; whoever sets the ceiling of the block around sets it back."""
    frame.ceiling = Confidence.POSSIBLE
    if leave and frame.live:
        run_return(frame, ast.Return(None))


def _shut_part(frame: Frame, node: ast.If) -> str:
    from graphlint.interp.unset import shut_part  # here because most regions ask for what is settled

    return shut_part(frame, node)


def _is_standing(frame: Frame, node: ast.If) -> bool:
    """Whether a condition asks for nothing that one call is given: for modules, text and globals only.

    One that only the first call answers in its way stands for no other: of those, `part_run_once` tells.
    """
    asked = frame.machine.asked.get(node)
    if asked is None:
        asked = frozenset(each.id for each in walk(node.test) if isinstance(each, ast.Name))
        frame.machine.asked[node] = asked
    given = [frame.env[name] for name in asked if name != frame.own and name in frame.env]
    return all(
        isinstance(each, Text) or (isinstance(each, Instance) and is_module(frame.machine, each.decl)) for each in given
    )


def is_usual(test: ast.expr) -> bool:
    """Whether a condition asks for an argument that callers leave out: most of them do."""
    match test:
        case ast.Compare(left=ast.Name()):
            return against_none(test) is True
        case ast.BoolOp(op=ast.And(), values=parts):
            return any(is_usual(part) for part in parts)
    return False


@statement(ast.With, ast.AsyncWith)
def run_with(frame: Frame, node: ast.With) -> None:
    leave = []
    for part in node.items:
        value = frame.eval(part.context_expr)
        entered, undo = enter(frame, value, part.context_expr)
        leave.append(undo)
        if part.optional_vars is not None:
            assign(frame, part.optional_vars, entered, node)
    frame.run(node.body)
    for undo in reversed(leave):
        undo()


@statement(ast.Assert)
def run_assert(frame: Frame, node: ast.Assert) -> None:
    outcome = test(frame, node.test, asserting(node))
    if node.msg is not None and outcome.false.live & frame.live and not outcome.is_static:
        state = frame.save()
        frame.live &= outcome.false.live
        frame.restore(state)
    frame.env.update(outcome.true.facts)
    frame.live &= outcome.true.live


@statement(ast.FunctionDef, ast.AsyncFunctionDef)
def run_function(frame: Frame, node: ast.FunctionDef) -> None:
    decl = frame.module.function(node, None, node.name)
    function: Value = Function(decl, None, frame.scope, None)
    frame.env[node.name] = decorate(frame, node.decorator_list, function)


@statement(ast.ClassDef)
def run_class(frame: Frame, node: ast.ClassDef) -> None:
    split(frame, node, Confidence.CERTAIN, f"class {node.name}", "Dynamo does not trace the making of a class")
    from graphlint.interp.subclassing import decorated, made  # here because few functions make classes

    decl = made(frame, node)
    frame.machine.scopes[decl] = frame.scope
    frame.env[node.name] = decorated(frame, decl) if node.decorator_list else ClassValue(decl)


@statement(ast.Import, ast.ImportFrom)
def run_import(frame: Frame, node: ast.Import | ast.ImportFrom) -> None:
    for alias in node.names:
        name = alias.asname or (alias.name.split(".")[0] if isinstance(node, ast.Import) else alias.name)
        found = imported(frame.module, node, name)
        value = None if found is None else frame.machine.value(frame.machine.project.follow(found, frame.module))
        frame.env[name] = External(alias.name) if value is None else value


@statement(ast.Delete)
def run_delete(frame: Frame, node: ast.Delete) -> None:
    for target in node.targets:
        path = path_of(target)
        if path is not None:
            frame.env.pop(path, None)
        elif isinstance(target, ast.Subscript):
            owner, index = frame.eval(target.value), frame.eval(target.slice)
            special(frame, owner, "__delitem__", (index,), target)


@statement(ast.Global, ast.Nonlocal)
def run_global(frame: Frame, node: ast.Global | ast.Nonlocal) -> None:
    if isinstance(node, ast.Global) or not all(map(frame.scope.ends_with, node.names)):
        frame.globals.update(node.names)


@statement(ast.Pass)
def run_pass(frame: Frame, node: ast.Pass) -> None:
    return
