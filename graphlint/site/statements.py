"""Bodies of functions, walked in the order in which they run; loops are walked twice, so that a second pass is seen."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from graphlint.project import ClassDecl, Outside, imported
from graphlint.site.acts import Verb
from graphlint.site.calls import Given, inline
from graphlint.site.dropped import drop
from graphlint.site.expressions import element, entry, is_filled, is_generator, is_slice, key_text, looked_at, truth
from graphlint.site.iteration import ROUNDS, advanced, over_call, over_object
from graphlint.site.managers import entered, is_manager, left
from graphlint.site.members import setter
from graphlint.site.mentions import mentions
from graphlint.site.methods import PARTS
from graphlint.site.things import Kind, Slot, Thing
from graphlint.site.walker import Walker
from graphlint.syntax import TRIES

OPENING = frozenset({"capture_begin", "enter_context"})


def run(walker: Walker, body: Sequence[ast.stmt]) -> bool:
    """Walk a body; whether its end cannot be reached."""
    for node in body:
        if walker.is_spent:
            return True
        handler = HANDLERS.get(type(node))
        if handler is not None and handler(walker, node):
            return True
    return False


def assign(walker: Walker, target: ast.expr, value: Thing, node: ast.AST) -> None:
    """Bind or write one target of an assignment."""
    match target:
        case ast.Name(id=name):
            holder = walker.scope.shared.get(name, walker.scope)
            walker.bind(Slot(holder, name), value, node)
        case ast.Attribute(value=inner, attr=attr):
            owner = walker.evaluate(inner)
            function = setter(walker, owner, attr)
            if function is not None:
                inline(walker, function, Given((owner, value), {}), node)
            else:
                walker.bind(Slot(owner, attr), value, node)
        case ast.Subscript(value=inner, slice=index):
            _store(walker, walker.evaluate(inner), index, value, node)
        case ast.Tuple(elts=items) | ast.List(elts=items):
            for place, item in enumerate(items):
                assign(walker, item, _part(walker, value, place, node), node)
        case ast.Starred(value=inner):
            assign(walker, inner, value, node)


def _part(walker: Walker, value: Thing, place: int, node: ast.AST) -> Thing:
    if value.kind is Kind.PARAMETER:
        return value
    known = value.slots.get(f"[{place}]")
    if known is not None:
        return known
    base = value if value.kind in (Kind.TENSOR, Kind.UNKNOWN, Kind.ANY_ITEM) else None
    part = Thing(Kind.UNKNOWN, node, value.born, base=base)
    part.is_argument = value.is_argument
    value.slots[f"[{place}]"] = part
    return part


def _store(walker: Walker, base: Thing, index: ast.expr, value: Thing, node: ast.AST) -> None:
    # Under which key a result is kept is nothing that the graph computes with.
    weigh = looked_at if base.kind is Kind.CONTAINER else Walker.evaluate
    inner = weigh(walker, index) if not isinstance(index, ast.Slice) else None
    if base.kind is Kind.CONTAINER and is_slice(index):
        # Which items a slice replaces is not known.
        walker.bind(Slot(base, "[*]"), value, node)
        return
    is_dict = base.kind in (Kind.CONTAINER, Kind.MODULE) or (
        isinstance(index, ast.Constant) and isinstance(index.value, str)
    )
    if is_dict and not is_slice(index):
        walker.bind(entry(base, index), value, node)
        named = inner.node if inner is not None and isinstance(index, ast.Name) else None
        if isinstance(named, ast.Constant) and value.kind is Kind.CONTAINER:
            # Who asks for a graph and its results by name finds these, and not what the loop puts under the next.
            base.slots[key_text(named)] = value
        return
    if base.kind in (Kind.UNKNOWN, Kind.ANY_ITEM) and isinstance(index, ast.Name) and inner is not None:
        walker.act(Verb.KEEP, node, value, other=base, name="entry")
    walker.write(node, base, other=value, name="=", is_partial=not _is_whole(index))


def _is_whole(index: ast.expr) -> bool:
    if isinstance(index, ast.Slice):
        return index.lower is None and index.upper is None
    return isinstance(index, ast.Constant) and index.value is Ellipsis


def _assign(walker: Walker, node: ast.Assign) -> bool:
    value = walker.evaluate(node.value)
    for target in node.targets:
        assign(walker, target, value, node)
    return False


def _annotated(walker: Walker, node: ast.AnnAssign) -> bool:
    if node.value is not None:
        assign(walker, node.target, walker.evaluate(node.value), node)
    return False


def _augmented(walker: Walker, node: ast.AugAssign) -> bool:
    value = walker.evaluate(node.value)
    before = walker.evaluate(node.target)
    if value.kind is Kind.CONTAINER:
        for thing in value.slots.values():
            walker.act(Verb.KEEP, node, thing, other=before, name="+=")
            if before.kind is Kind.CONTAINER:
                before.slots[f"[{len(before.slots)}]"] = thing
    if before.kind in (Kind.NUMBER, Kind.CONSTANT) and value.kind is not Kind.TENSOR:
        assign(walker, node.target, walker.thing(Kind.NUMBER, node), node)
    else:
        walker.write(node, before, other=value, name="+=")
    return False


def _expression(walker: Walker, node: ast.Expr) -> bool:
    walker.evaluate(node.value)
    return False


def _return(walker: Walker, node: ast.Return) -> bool:
    value = walker.evaluate(node.value) if node.value is not None else walker.thing(Kind.NONE, node)
    walker.returned.append(value)
    walker.act(Verb.RETURN, node, value)
    return True


def _if(walker: Walker, node: ast.If) -> bool:
    known = truth(walker, node.test)
    if known is not None:
        return walker.run(node.body if known else node.orelse)
    if node in walker.captors and is_filled(walker, node.test):
        return walker.run(node.orelse)
    begin = len(walker.acts)
    ended = _either(walker, node)
    if any(act.verb is Verb.ENTER and act.thing.kind is Kind.CAPTURE for act in walker.acts[begin:]):
        walker.captors.add(node)
    return ended


def _either(walker: Walker, node: ast.If) -> bool:
    """Both arms of a condition of which nothing is known."""
    if walker.frame.caller is not None and not node.orelse:
        return _optional(walker, node.body)
    bodies = [node.body, node.orelse]
    if node.orelse and any(mentions(each, OPENING) for each in node.body):
        bodies.reverse()  # the capture that one arm opens goes on behind the `if`, and the other arm is not in it
    ended = [walker.run(each) for each in bodies]
    return all(ended) and bool(node.orelse)


def _optional(walker: Walker, body: Sequence[ast.stmt]) -> bool:
    """A body that a callee may skip: what it binds is forgotten, so that a cache once filled stays what it is."""
    begin = len(walker.acts)
    walker.maybe += 1
    walker.run(body)
    walker.maybe -= 1
    done = walker.acts[begin:]
    if not any(act.thing.kind in (Kind.CAPTURE, Kind.GRAPH) for act in done):
        for act in reversed(done):
            if act.verb is Verb.BIND and act.slot is not None and act.other is not None:
                act.slot.holder.slots[act.slot.key] = act.other
    return False


def _for(walker: Walker, node: ast.For | ast.AsyncFor) -> bool:
    source = Thing(Kind.UNKNOWN, node.iter, len(walker.acts))

    def step(given: Thing | None, round: int) -> None:
        if round and _leaves(node.body):
            return
        walker.enter(node, source, round)
        if given is None:
            given = advanced(walker, node.iter, source) or element(walker, node.iter, source, round, node)
        assign(walker, node.target, given, node.target)
        walker.run(node.body)
        walker.leave(node)

    if not over_call(walker, node, step):
        source = walker.evaluate(node.iter)
        if not over_object(walker, node, source, step):
            for round in range(_rounds(node.iter, source)):
                step(None, round)
    walker.run(node.orelse)
    return False


def _rounds(source: ast.expr, thing: Thing) -> int:
    """How often a loop is walked: over a few objects that are written out or parts of a module, once for each of them."""
    if thing.kind is Kind.CONTAINER and thing.name in PARTS:
        return max(1, min(len(thing.slots), MOST_PARTS))
    if not isinstance(source, (ast.Tuple, ast.List)):
        return ROUNDS
    named = all(isinstance(each, (ast.Name, ast.Attribute)) for each in source.elts)
    return min(len(source.elts), MOST_NAMED if named else ROUNDS)


MOST_NAMED, MOST_PARTS = 4, 6


def _leaves(body: Sequence[ast.stmt]) -> bool:
    """Whether a loop is left at the end of its first round."""
    return isinstance(body[-1], (ast.Return, ast.Break, ast.Raise))


def _while(walker: Walker, node: ast.While) -> bool:
    for round in range(ROUNDS):
        walker.enter(node, None, round)
        walker.evaluate(node.test)
        walker.run(node.body)
        walker.leave(node)
    walker.run(node.orelse)
    return False


def _with(walker: Walker, node: ast.With | ast.AsyncWith) -> bool:
    return _entered(walker, node, 0)


def _entered(walker: Walker, node: ast.With | ast.AsyncWith, place: int) -> bool:
    """Enter the items of a `with` from one on, run its body, and leave them."""
    if place == len(node.items):
        return walker.run(node.body)
    item = node.items[place]
    if is_generator(walker, item.context_expr):
        return _around(walker, node, place)
    thing = walker.evaluate(item.context_expr)
    if item.optional_vars is not None:
        assign(walker, item.optional_vars, thing, node)
    walker.enter(node, thing)
    walker.act(Verb.ENTER, item.context_expr, thing)
    outer = walker.stacked.get(id(thing))
    walker.stacked[id(thing)] = []
    if is_manager(thing):
        given = entered(walker, thing, item.context_expr)
        if item.optional_vars is not None and given is not thing:
            assign(walker, item.optional_vars, given, node)
    ended = _entered(walker, node, place + 1)
    if is_manager(thing):
        left(walker, thing, item.context_expr)
    for inner_node, inner in reversed(walker.stacked.pop(id(thing))):
        walker.act(Verb.LEAVE, inner_node, inner)
        walker.leave(inner_node)
    if outer is not None:
        walker.stacked[id(thing)] = outer
    walker.act(Verb.LEAVE, item.context_expr, thing)
    walker.leave(node)
    return ended


def _around(walker: Walker, node: ast.With | ast.AsyncWith, place: int) -> bool:
    """A context manager of the tree that is a generator: the body runs where it yields."""
    item = node.items[place]
    ended: list[bool] = []
    scope, frame, returned = walker.scope, walker.frame, walker.returned

    def resume(given: Thing) -> None:
        if ended:
            return
        inner = walker.scope, walker.frame, walker.returned
        walker.scope, walker.frame, walker.returned = scope, frame, returned
        if item.optional_vars is not None:
            assign(walker, item.optional_vars, given, node)
        ended.append(_entered(walker, node, place + 1))
        walker.scope, walker.frame, walker.returned = inner

    walker.resumes.append((item.context_expr, resume))
    given = walker.evaluate(item.context_expr)
    walker.resumes.pop()
    if not ended:
        resume(given)
    return ended[0]


def _try(walker: Walker, node: ast.Try) -> bool:
    ended = walker.run(node.body)
    if not ended:
        ended = walker.run(node.orelse)
    for handler in node.handlers:
        ended = walker.run(handler.body) and ended
    return walker.run(node.finalbody) or (ended and bool(node.handlers))


def _delete(walker: Walker, node: ast.Delete) -> bool:
    for target in node.targets:
        if isinstance(target, ast.Name):
            assign(walker, target, walker.thing(Kind.NONE, node), node)
        elif isinstance(target, ast.Attribute):
            drop(walker, walker.evaluate(target.value), target.attr, node)
    return False


def _function(walker: Walker, node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    thing = walker.thing(Kind.FUNCTION, node, node.name)
    thing.function, thing.scope, thing.module = node, walker.scope, walker.module
    walker.scope.slots[node.name] = walker.decorated(thing)
    return False


def _class(walker: Walker, node: ast.ClassDef) -> bool:
    thing = walker.thing(Kind.CLASS, node, node.name)
    bases = _given_bases(walker, node)
    decl = walker.module.class_(node, node.name) if bases is None else ClassDecl(node, walker.module, node.name, bases)
    thing.decl, thing.module = decl, walker.module
    walker.scope.slots[node.name] = thing
    return False


def _given_bases(walker: Walker, node: ast.ClassDef) -> tuple[ClassDecl | Outside, ...] | None:
    """What a class derives from, if a variable of a function says so; None where names of the file do."""
    held = [walker.scope.holder(each.id) for each in node.bases if isinstance(each, ast.Name)]
    if walker.scope.outer is None or not any(each is not None and each.outer is not None for each in held):
        return None
    things = [walker.evaluate(each) for each in node.bases]
    return tuple(
        thing.decl or Outside(thing.name if thing.kind is Kind.OUTSIDE else ast.unparse(base))
        for thing, base in zip(things, node.bases)
    )


def _import(walker: Walker, node: ast.Import | ast.ImportFrom) -> bool:
    for alias in node.names:
        name = alias.asname or alias.name.split(".")[0]
        bound = imported(walker.module, node, name)
        if bound is not None:
            walker.scope.slots[name] = walker.resolved(walker.project.follow(bound, walker.module), node)
    return False


def _shared(walker: Walker, node: ast.Global | ast.Nonlocal) -> bool:
    for name in node.names:
        if isinstance(node, ast.Global):
            walker.scope.shared[name] = walker.module_scope(walker.scope.module)
            continue
        outer = walker.scope.outer.holder(name) if walker.scope.outer is not None else None
        if outer is not None:
            walker.scope.shared[name] = outer
    return False


def _assert(walker: Walker, node: ast.Assert) -> bool:
    walker.evaluate(node.test)
    return False


def _raise(walker: Walker, node: ast.Raise) -> bool:
    return True


def _jump(walker: Walker, node: ast.stmt) -> bool:
    return True


HANDLERS: dict[type[ast.stmt], Callable[..., bool]] = {
    ast.Assign: _assign,
    ast.AnnAssign: _annotated,
    ast.AugAssign: _augmented,
    ast.Expr: _expression,
    ast.Return: _return,
    ast.If: _if,
    ast.For: _for,
    ast.AsyncFor: _for,
    ast.While: _while,
    ast.With: _with,
    ast.AsyncWith: _with,
    **dict.fromkeys(TRIES, _try),
    ast.Delete: _delete,
    ast.FunctionDef: _function,
    ast.AsyncFunctionDef: _function,
    ast.ClassDef: _class,
    ast.Import: _import,
    ast.ImportFrom: _import,
    ast.Global: _shared,
    ast.Nonlocal: _shared,
    ast.Assert: _assert,
    ast.Raise: _raise,
    ast.Break: _jump,
    ast.Continue: _jump,
}
