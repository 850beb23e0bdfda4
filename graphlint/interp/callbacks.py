"""Functions that others call: keys and reducers, functions over trees, work for other threads, hooks and gradients."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager

from graphlint.effects.table import lookup
from graphlint.events import HostCompare
from graphlint.interp.conditions import truth
from graphlint.interp.dispatch import apply, attribute, element
from graphlint.interp.facts import Facts
from graphlint.interp.frame import Frame, Summary
from graphlint.interp.handlers import device_tensor, first, function, method
from graphlint.interp.isinstance import split
from graphlint.interp.raising import raise_effects
from graphlint.interp.torch_calls import call_row
from graphlint.interp.transfers import special
from graphlint.syntax import spelled
from graphlint.types import Confidence, Target
from graphlint.values import (
    EITHER,
    Arguments,
    ClassValue,
    ExternalObject,
    Function,
    Kind,
    Nothing,
    Opaque,
    Place,
    Seq,
    Table,
    Tensor,
    Unknown,
    Value,
    join,
    join_all,
    members,
    tensors_in,
)

GRADIENT = Tensor(Place.DEVICE, Kind.FLOAT, None, Confidence.LIKELY)
"""What a backward pass hands to a hook."""

CONTEXT = ExternalObject("torch.autograd.function.FunctionCtx")


def compared(value: Value) -> Tensor | None:
    """The device tensor that a comparison of such values reads: itself, or what a pair begins with."""
    if isinstance(value, Seq) and value.form == "tuple" and value.items:
        return device_tensor(value.items[0])
    return device_tensor(value)


@function("functools.reduce")
def reduce(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    callee, whole, start = first(arguments), first(arguments, 1), first(arguments, 2, "initial")
    held = element(frame, whole, node) if whole is not None else Unknown()
    made = apply(frame, callee or Unknown(), Arguments((held if start is None else start, held)), node)
    return join(held if start is None else start, made)


@function("itertools.starmap")
def starmap(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    held = element(frame, first(arguments, 1) or Unknown(), node)
    given = Arguments(held.items) if isinstance(held, Seq) and held.items is not None else Arguments((), (), Unknown())
    return Seq("iter", None, apply(frame, first(arguments) or Unknown(), given, node))


@function("builtins.filter", "itertools.takewhile", "itertools.dropwhile", "itertools.filterfalse")
def chosen(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    callee, whole = first(arguments) or Unknown(), first(arguments, 1) or Unknown()
    held = element(frame, whole, node)
    truth(frame, held if isinstance(callee, Nothing) else apply(frame, callee, Arguments((held,)), node), node, "filter")
    return Seq("iter", None, held)


@function("itertools.compress")
def compress(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    """Each selector is asked whether it is true."""
    whole, selectors = first(arguments, 0, "data") or Unknown(), first(arguments, 1, "selectors") or Unknown()
    truth(frame, element(frame, selectors, node), node, "filter")
    return Seq("iter", None, element(frame, whole, node))


@function("json.dumps")
def encoded(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    return _encoded(frame, "json.dumps", arguments, node)


@function("json.dump")
def encoded_to_file(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    return _encoded(frame, "json.dump", arguments, node)


def _encoded(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    """A tensor is no word of JSON's: it is handed to `default`, where there is one."""
    default, given = arguments.keyword("default"), first(arguments, 0, "obj")
    if default is not None:
        for tensor in tensors_in(given):
            apply(frame, default, Arguments((tensor,)), node)
    return call_row(frame, name, arguments, node, None)


@special("random.sample", "random.choices")
def drawn(frame: Frame, facts: Facts, node: ast.AST) -> Value:
    """Several of what there is to choose from."""
    raise_effects(frame, facts, node)
    return Seq("list", None, element(frame, facts.value("population") or Unknown(), node))


@special("random.choice", "secrets.choice")
def picked(frame: Frame, facts: Facts, node: ast.AST) -> Value:
    raise_effects(frame, facts, node)
    return element(frame, facts.value("seq") or facts.value("sequence") or Unknown(), node)


@function("itertools.accumulate")
def accumulate(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    held = element(frame, first(arguments) or Unknown(), node)
    callee = first(arguments, 1, "func")
    return Seq("iter", None, held if callee is None else join(held, apply(frame, callee, Arguments((held, held)), node)))


@function("itertools.groupby")
def groups(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    """Each key is compared with the one before."""
    held, key = element(frame, first(arguments) or Unknown(), node), first(arguments, 1, "key")
    made = held if key is None or isinstance(key, Nothing) else apply(frame, key, Arguments((held,)), node)
    tensor = compared(made)
    if tensor is not None:
        frame.emit(HostCompare, node, min(tensor.sure, Confidence.LIKELY), builtin="groupby")
    return Seq("iter", None, Seq("tuple", (made, Seq("iter", None, held))))


HEAPS = "heappush heappushpop heapreplace heapify heappop merge nlargest nsmallest"
BISECTIONS = ("bisect", "bisect_left", "bisect_right", "insort", "insort_left", "insort_right")


@function(*(f"heapq.{name}" for name in HEAPS.split()), *(f"bisect.{name}" for name in BISECTIONS))
def ordered(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    """A heap or a sorted list compares what it holds with what it is given."""
    key = arguments.keyword("key")
    held = [part for value in arguments.positional for part in _parts(frame, value, node)]
    if key is not None and not isinstance(key, Nothing):
        held = [apply(frame, key, Arguments((part,)), node) for part in held]
    tensor = next((found for found in map(compared, held) if found is not None), None)
    name = spelled(node.func).rpartition(".")[2] if isinstance(node, ast.Call) else "heap"
    if tensor is not None:
        frame.emit(HostCompare, node, min(tensor.sure, Confidence.LIKELY), builtin=name)
    full = f"{'bisect' if name in BISECTIONS else 'heapq'}.{name}"
    if lookup(full) is not None:
        call_row(frame, full, arguments, node, None)
    return join_all(held) if held else Unknown()


def _parts(frame: Frame, value: Value, node: ast.AST) -> list[Value]:
    """What an argument brings to be compared: a list its elements, a pair or anything else itself."""
    if isinstance(value, Seq) and value.form != "tuple":
        return [value.element()] if value.items != () else []
    return [value]


TREES = ("torch.utils._pytree", "torch.utils._cxx_pytree", "torch.utils.pytree", "optree")


@function(*(f"{name}.{word}" for name in TREES for word in ("tree_map", "tree_map_")))
def tree_map(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    callee, tree = first(arguments, 0, "func") or Unknown(), first(arguments, 1, "tree") or Unknown()
    return _mapped(frame, callee, tree, None, node)


@function(*(f"{name}.{word}" for name in TREES for word in ("tree_map_only", "tree_map_only_")))
def tree_map_only(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    kind, callee = first(arguments) or Unknown(), first(arguments, 1, "func") or Unknown()
    return _mapped(frame, callee, first(arguments, 2, "tree") or Unknown(), kind, node)


@function(*(f"{name}.{word}" for name in TREES for word in ("tree_leaves", "tree_iter")))
def tree_leaves(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    leaves = list(_leaves(first(arguments, 0, "tree") or Unknown()))
    return Seq("list", None, join_all(leaves) if leaves else Unknown())


@function(*(f"{name}.{word}" for name in TREES for word in ("tree_all", "tree_any")))
def tree_test(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    callee = first(arguments) or Unknown()
    for leaf in _leaves(first(arguments, 1, "tree") or Unknown()):
        truth(frame, apply(frame, callee, Arguments((leaf,)), node), node, "filter")
    return EITHER


@function(*(f"{name}.tree_flatten" for name in TREES))
def tree_flatten(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    return Seq("tuple", (tree_leaves(frame, arguments, node), Opaque()))


def _leaves(tree: Value, depth: int = 4) -> Iterator[Value]:
    if isinstance(tree, (Seq, Table)) and depth:
        for part in (tree.element(),) if tree.items or tree.rest is not None else ():
            for member in members(part):
                yield from _leaves(member, depth - 1)
    else:
        yield tree


def _mapped(frame: Frame, callee: Value, tree: Value, kind: Value | None, node: ast.AST, depth: int = 4) -> Value:
    """A tree of the same form with the function's results as leaves, of those leaves that are of the kind."""
    if depth and isinstance(tree, (Seq, Table)):
        return _branch(frame, callee, tree, kind, node, depth - 1)
    if len(members(tree)) > 1:
        return join_all([_mapped(frame, callee, each, kind, node, depth) for each in members(tree)])
    if kind is not None and split(frame, tree, kind)[0] is None:
        return tree
    return apply(frame, callee, Arguments((tree,)), node)


def _branch(frame: Frame, callee: Value, tree: Seq | Table, kind: Value | None, node: ast.AST, depth: int) -> Value:
    rest = None if tree.rest is None else _mapped(frame, callee, tree.rest, kind, node, depth)
    if isinstance(tree, Table):
        entries = tuple((key, _mapped(frame, callee, entry, kind, node, depth)) for key, entry in tree.items)
        return Table(entries, rest)
    held = tree.items
    items = None if held is None else tuple(_mapped(frame, callee, each, kind, node, depth) for each in held)
    return Seq(tree.form, items, rest)


@special("concurrent.futures.Executor.submit")
def submit(frame: Frame, facts: Facts, node: ast.AST) -> Value:
    """What another thread does is refused as well: a capture is for the whole process unless told otherwise."""
    raise_effects(frame, facts, node)
    _called_with_the_others(frame, facts, node)
    return ExternalObject("concurrent.futures.Future")


@special("concurrent.futures.Executor.map")
def submit_each(frame: Frame, facts: Facts, node: ast.AST) -> Value:
    raise_effects(frame, facts, node)
    callee, *given = facts.arguments.positional or (Unknown(),)
    return Seq("iter", None, apply(frame, callee, Arguments(tuple(element(frame, each, node) for each in given)), node))


@special("contextlib.ExitStack.callback")
def called_at_exit(frame: Frame, facts: Facts, node: ast.AST) -> Value:
    """Runs when the block ends."""
    return _called_with_the_others(frame, facts, node)


def _called_with_the_others(frame: Frame, facts: Facts, node: ast.AST) -> Value:
    """Run the first argument on the others; gives the first."""
    callee, *given = facts.arguments.positional or (Unknown(),)
    apply(frame, callee, facts.arguments.replace(positional=tuple(given)), node)
    return callee


@special("threading.Thread")
def thread(frame: Frame, facts: Facts, node: ast.AST) -> Value:
    raise_effects(frame, facts, node)
    target, given = facts.value("target"), facts.value("args")
    items = given.items if isinstance(given, Seq) else ()
    if target is not None and not isinstance(target, Nothing):
        apply(frame, target, Arguments(items or (), (), given.rest if isinstance(given, Seq) else None), node)
    return Opaque()


@contextmanager
def in_backward(frame: Frame, node: ast.AST) -> Iterator[None]:
    """What runs in here is run by the backward pass, if the region has one."""
    outer, live = frame.summary, frame.live
    inner = frame.summary = Summary("backward")
    frame.live &= Target.GRAPH
    try:
        yield
    finally:
        frame.summary = outer
        if inner.events or inner.links:
            frame.link(node, inner, gradient=True)
        frame.live = live


@special("torch.Tensor.register_hook", "torch.Tensor.register_post_accumulate_grad_hook")
def register_hook(frame: Frame, facts: Facts, node: ast.AST) -> Value:
    raise_effects(frame, facts, node)
    hook = facts.value("hook")
    if hook is not None:
        with in_backward(frame, node):
            apply(frame, hook, Arguments((GRADIENT,)), node)
    return ExternalObject("torch.utils.hooks.RemovableHandle")


@special("torch.autograd.graph.saved_tensors_hooks")
def saved_tensors_hooks(frame: Frame, facts: Facts, node: ast.AST) -> Value:
    """Every tensor that is saved is packed at once and unpacked by the backward pass."""
    raise_effects(frame, facts, node)
    pack, unpack = facts.value("pack_hook") or Unknown(), facts.value("unpack_hook") or Unknown()
    packed = apply(frame, pack, Arguments((GRADIENT,)), node)
    with in_backward(frame, node):
        apply(frame, unpack, Arguments((packed,)), node)
    return Opaque()


@method(ClassValue, "apply")
def apply_function(frame: Frame, receiver: Value, arguments: Arguments, node: ast.AST) -> Value:
    """`MyFunction.apply(x)` of an autograd function runs its `forward`, and the backward pass its `backward`."""
    assert isinstance(receiver, ClassValue)
    forward = attribute(frame, receiver, "forward", node)
    if not isinstance(forward, Function):
        return Unknown()
    apart = frame.machine.project.member(receiver.decl, "setup_context") is not None
    given = arguments if apart else arguments.replace(positional=(CONTEXT, *arguments.positional))
    value = apply(frame, forward, given, node)
    backward = attribute(frame, receiver, "backward", node)
    if isinstance(backward, Function) and frame.recording:
        with in_backward(frame, node):
            apply(frame, backward, _gradients(backward), node)
    return value


def _gradients(backward: Function) -> Arguments:
    """The context, and a gradient for each result."""
    spec = backward.decl.node.args
    taken = len(spec.posonlyargs) + len(spec.args) - 1
    return Arguments((CONTEXT, *[GRADIENT] * taken), (), GRADIENT if spec.vararg is not None else None)


def keyed(frame: Frame, arguments: Arguments, parts: list[Value], node: ast.AST) -> list[Value]:
    """What `sorted`, `max` and the like compare: the parts, or what their key gives for them."""
    key = arguments.keyword("key")
    if key is None or isinstance(key, Nothing):
        return parts
    return [apply(frame, key, Arguments((part,)), node) for part in parts]
