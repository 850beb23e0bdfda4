"""Expressions: the thing each one is, and the acts of computing it."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace

from graphlint.project import Outside
from graphlint.site.acts import Verb
from graphlint.site.calls import call
from graphlint.site.members import attribute
from graphlint.site.names import layer
from graphlint.site.things import Kind, Scope, Slot, Thing
from graphlint.site.walker import Walker
from graphlint.syntax import against_none

BASES = frozenset({"Sequential", "Hardtanh", "Linear", "RNNBase", "RNNCellBase"})
"""Layers of torch that others of torch's are derived from (torch 2.13 sources)."""
VALUES = (Kind.TENSOR, Kind.UNKNOWN, Kind.ANY_ITEM)


def evaluate(walker: Walker, node: ast.expr) -> Thing:
    """The thing that an expression gives, with the acts on the way noted; an unknown thing for kinds without a handler."""
    handler = HANDLERS.get(type(node))
    if handler is None:
        return walker.thing(Kind.UNKNOWN, node)
    return handler(walker, node)


def key_text(index: ast.expr) -> str:
    """The key of a slot for an entry: the constant itself, or a star for any other."""
    if isinstance(index, ast.UnaryOp) and isinstance(index.op, ast.USub) and isinstance(index.operand, ast.Constant):
        return f"[-{index.operand.value!r}]"
    return f"[{index.value!r}]" if isinstance(index, ast.Constant) else "[*]"


def entry(base: Thing, index: ast.expr) -> Slot:
    return Slot(base, key_text(index))


def is_slice(index: ast.expr) -> bool:
    return isinstance(index, ast.Slice) or (isinstance(index, ast.Tuple) and any(is_slice(item) for item in index.elts))


def truth(walker: Walker, test: ast.expr) -> bool | None:
    """What a test on `None` or on a constant surely is; None when it can be both."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            known = truth(walker, inner)
            return None if known is None else not known
        case ast.Compare(left=left) if (absent := against_none(test)) is not None:
            known = _is_none(looked_at(walker, left))
            return known if known is None or absent else not known
        case ast.Constant(value=value):
            return bool(value)
        case ast.Call(func=ast.Name(id="isinstance"), args=[asked, kind]):
            return _is_of(walker, walker.evaluate(asked), walker.evaluate(kind))
    thing = walker.evaluate(test)
    if thing.kind is Kind.NONE:
        return False
    return True if thing.kind in (Kind.GRAPH, Kind.MODULE, Kind.INSTANCE) else None


def _is_of(walker: Walker, thing: Thing, kind: Thing) -> bool | None:
    """Whether a module is of a class; None where that is not known."""
    if thing.kind is not Kind.MODULE or kind.kind not in (Kind.CLASS, Kind.OUTSIDE):
        return None
    bases = walker.project.mro(thing.decl) if thing.decl is not None else []
    if kind.decl is not None:
        return kind.decl in bases
    name = layer(kind.name)
    known = [layer(each.name) for each in bases if isinstance(each, Outside)] or [thing.name]
    if name in (*known, "Module"):
        return True
    return None if not name or name in BASES or not all(known) or thing.name.startswith("Lazy") else False


def is_filled(walker: Walker, test: ast.expr) -> bool:
    """Whether `key not in graphs` is asked again of a dictionary that has got an entry for it, or for any key."""
    match test:
        case ast.Compare(left=key, ops=[ast.NotIn()], comparators=[whole]):
            held = looked_at(walker, whole)
            return held.kind is Kind.CONTAINER and isinstance(held.node, ast.Dict) and key_text(key) in held.slots
    return False


def looked_at(walker: Walker, node: ast.expr) -> Thing:
    """What a name or attribute stands for, where nothing of it is asked but whether it is there: that is no reading."""
    before = len(walker.acts)
    thing = walker.evaluate(node)
    if isinstance(node, (ast.Name, ast.Attribute)) and all(act.verb is Verb.LOAD for act in walker.acts[before:]):
        del walker.acts[before:]
    return thing


def _is_none(thing: Thing) -> bool | None:
    if thing.kind is Kind.NONE:
        return True
    return None if thing.kind in (Kind.UNKNOWN, Kind.ANY_ITEM) else False


def _constant(walker: Walker, node: ast.Constant) -> Thing:
    if node.value is None:
        return walker.thing(Kind.NONE, node)
    is_number = isinstance(node.value, (int, float, complex)) and not isinstance(node.value, bool)
    return walker.thing(Kind.NUMBER if is_number else Kind.CONSTANT, node)


def _name(walker: Walker, node: ast.Name) -> Thing:
    return walker.name(node)


def _attribute(walker: Walker, node: ast.Attribute) -> Thing:
    base = walker.evaluate(node.value)
    if base.kind is Kind.OUTSIDE:
        if base.module is None:
            return Thing(Kind.OUTSIDE, node, 0, f"{base.name}.{node.attr}")
        found = walker.project.lookup(base.module, node.attr)
        return walker.resolved(found, node) if found else Thing(Kind.OUTSIDE, node, 0, f"{base.name}.{node.attr}")
    return attribute(walker, base, node.attr, node)


def _subscript(walker: Walker, node: ast.Subscript) -> Thing:
    base = walker.evaluate(node.value)
    walker.evaluate(node.slice)
    if isinstance(node.slice, ast.Constant) or base.kind is Kind.CONTAINER:
        return _entry(walker, base, node)
    if base.kind is Kind.MODULE:
        return next(iter(base.slots.values()), walker.thing(Kind.UNKNOWN, node))
    return walker.thing(Kind.TENSOR if base.kind is Kind.TENSOR else Kind.UNKNOWN, node, name="view", base=base)


def _slice(walker: Walker, node: ast.Slice) -> Thing:
    """The bounds of a slice; outside a capture a variable bounds what is written for each replay."""
    is_captured = walker.layer is not None and any(
        each.thing is not None and each.thing.kind is Kind.CAPTURE for each in walker.layer.all()
    )
    for bound in (node.lower, node.upper):
        if isinstance(bound, (ast.Attribute, ast.Subscript)) or (is_captured and bound is not None):
            walker.evaluate(bound)
    return walker.thing(Kind.UNKNOWN, node)


def _entry(walker: Walker, base: Thing, node: ast.Subscript) -> Thing:
    slot = entry(base, node.slice)
    if is_slice(node.slice):
        return walker.thing(Kind.CONTAINER, node, base=base)
    if slot.key == "[*]" and "[*]" not in base.slots:
        return walker.thing(Kind.ANY_ITEM, node, base=base)
    if slot.key not in base.slots:
        child = base.slots.get("[*]")
        if child is None:
            child = Thing(Kind.UNKNOWN, node, base.born, base=base if base.kind in VALUES else None)
            child.is_argument = base.is_argument
        elif _is_taken(base, child):
            child = _another(child)
        base.slots[slot.key] = child
    thing = base.slots[slot.key]
    walker.act(Verb.LOAD, node, thing, slot=slot)
    return thing


def _is_taken(base: Thing, child: Thing) -> bool:
    """Whether what a comprehension makes of each item stands under another key already: there is one for each of them."""
    is_made = isinstance(base.node, (ast.ListComp, ast.DictComp)) and child.kind in (Kind.TENSOR, Kind.CONTAINER)
    return is_made and any(each is child and key != "[*]" for key, each in base.slots.items())


def _another(thing: Thing) -> Thing:
    """Another thing that was made in the same way."""
    parts = {key: _another(each) for key, each in thing.slots.items() if each.kind in (Kind.TENSOR, Kind.CONTAINER)}
    return replace(thing, slots={**thing.slots, **parts})


def element(walker: Walker, node: ast.expr, source: Thing, round: int, target: ast.AST) -> Thing:
    """What one pass of a loop over `node` binds."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("enumerate", "zip"):
        parts = [
            element(walker, arg, walker.evaluate(arg), round, target)
            for arg in node.args
            if not isinstance(arg, ast.Starred)
        ]
        if node.func.id == "enumerate":
            parts = [walker.thing(Kind.NUMBER, target), *parts[:1]]
        return _container(walker, target, parts)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("items", "values"):
        item = walker.thing(Kind.ANY_ITEM, target, base=walker.evaluate(node.func.value))
        return (
            item if node.func.attr == "values" else _container(walker, target, [walker.thing(Kind.CONSTANT, target), item])
        )
    if source.kind is Kind.PARAMETERS:
        return walker.thing(Kind.PARAMETER, target, base=source.base)
    if source.kind is Kind.NUMBER:
        return walker.thing(Kind.NUMBER, target)
    for key in (f"[{round}]", "[*]"):
        if key in source.slots and source.kind in (Kind.CONTAINER, Kind.MODULE):
            walker.act(Verb.LOAD, target, source.slots[key], slot=Slot(source, key))
            return source.slots[key]
    fresh = walker.thing(Kind.UNKNOWN, target)
    fresh.made_by = (source,)
    return fresh


def _container(walker: Walker, node: ast.AST, items: list[Thing]) -> Thing:
    made = walker.thing(Kind.CONTAINER, node)
    made.slots = {f"[{place}]": item for place, item in enumerate(items)}
    return made


def _sequence(walker: Walker, node: ast.Tuple | ast.List | ast.Set) -> Thing:
    return _container(walker, node, [walker.evaluate(item) for item in node.elts])


def _dict(walker: Walker, node: ast.Dict) -> Thing:
    made = walker.thing(Kind.CONTAINER, node)
    for key, value in zip(node.keys, node.values):
        thing = walker.evaluate(value)
        if key is None:
            made.slots.update(thing.slots)
        else:
            made.slots[key_text(key)] = thing
    return made


def _comparison(walker: Walker, node: ast.Compare) -> Thing:
    if len(node.ops) == 1 and isinstance(node.ops[0], (ast.In, ast.NotIn)):
        return _membership(walker, node)
    if against_none(node) is None:
        return _operation(walker, node)
    looked_at(walker, node.left)
    return walker.thing(Kind.UNKNOWN, node)


def _membership(walker: Walker, node: ast.Compare) -> Thing:
    """`key in cache` looks at keys, not at what a dictionary holds."""
    left, held = walker.evaluate(node.left), walker.evaluate(node.comparators[0])
    walker.read(node, *((left, held) if held.kind is Kind.TENSOR else (left,)), name="operator")
    return walker.thing(Kind.UNKNOWN, node)


def _operation(walker: Walker, node: ast.expr) -> Thing:
    parts = [walker.evaluate(child) for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)]
    walker.read(node, *parts, name="operator")
    is_tensor = any(part.kind is Kind.TENSOR for part in parts)
    is_plain = all(part.kind in (Kind.NUMBER, Kind.CONSTANT, Kind.NONE) for part in parts)
    made = walker.thing(Kind.TENSOR if is_tensor else Kind.NUMBER if is_plain else Kind.UNKNOWN, node)
    made.made_by = tuple(parts)
    return made


def _choice(walker: Walker, node: ast.IfExp) -> Thing:
    known = truth(walker, node.test)
    if known is not None:
        return walker.evaluate(node.body if known else node.orelse)
    first, second = walker.evaluate(node.body), walker.evaluate(node.orelse)
    # Either can be meant; the one of which more is known says more.
    return second if first.kind is Kind.NONE or (first.kind is Kind.UNKNOWN and second.kind is Kind.TENSOR) else first


def _lambda(walker: Walker, node: ast.Lambda) -> Thing:
    thing = walker.thing(Kind.FUNCTION, node, "<lambda>")
    thing.function, thing.scope, thing.module = node, walker.scope, walker.module
    return thing


def _comprehension(walker: Walker, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> Thing:
    outer = walker.scope
    walker.scope = Scope(outer.module, outer.name, len(walker.acts), outer)
    made = walker.thing(Kind.CONTAINER, node)
    value = node.value if isinstance(node, ast.DictComp) else node.elt
    for round in range(2):
        opened = 0
        for part in node.generators:
            source = walker.evaluate(part.iter)
            walker.enter(node, source, round)
            opened += 1
            _bind_all(walker, part.target, element(walker, part.iter, source, round, part.target))
        made.slots["[*]"] = walker.evaluate(value)
        walker.act(Verb.KEEP, node, made.slots["[*]"], other=made, name="comprehension")
        for _ in range(opened):
            walker.leave(node)
    walker.scope = outer
    return made


def _bind_all(walker: Walker, target: ast.expr, value: Thing) -> None:
    if isinstance(target, ast.Name):
        walker.scope.slots[target.id] = value
    elif isinstance(target, (ast.Tuple, ast.List)):
        for place, item in enumerate(target.elts):
            _bind_all(walker, item, value.slots.get(f"[{place}]") or walker.thing(Kind.UNKNOWN, item))


def _format(walker: Walker, node: ast.JoinedStr) -> Thing:
    for part in node.values:
        if isinstance(part, ast.FormattedValue):
            walker.read(node, walker.evaluate(part.value), name="f-string")
    return walker.thing(Kind.CONSTANT, node)


def is_generator(walker: Walker, node: ast.expr) -> bool:
    """Whether an expression calls a function of the tree that `contextlib` makes a context manager of."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, (ast.Name, ast.Attribute)):
        return False
    function = walker.evaluate(node.func)
    body = function.function
    if function.kind is not Kind.FUNCTION or function.module is None or not isinstance(body, ast.FunctionDef):
        return False
    names = [walker.project.dotted(function.module, mark) for mark in body.decorator_list]
    return any(getattr(name, "name", "").startswith("contextlib.") for name in names)


def _yield(walker: Walker, node: ast.Yield) -> Thing:
    value = walker.evaluate(node.value) if node.value is not None else walker.thing(Kind.NONE, node)
    if not _resumed(walker, value) and node.value is not None:
        walker.act(Verb.KEEP, node, value, name="yield")
    return walker.thing(Kind.UNKNOWN, node)


def _yield_from(walker: Walker, node: ast.YieldFrom) -> Thing:
    source = walker.evaluate(node.value)
    for round in range(2):
        if walker.resumes and not _resumed(walker, element(walker, node.value, source, round, node)):
            break
    return source


def _resumed(walker: Walker, value: Thing) -> bool:
    """Run what waits for what the running generator yields; False where nothing does."""
    if not walker.resumes or walker.frame.node is not walker.resumes[-1][0]:
        return False
    call, resume = walker.resumes.pop()
    resume(value)
    walker.resumes.append((call, resume))
    return True


def _inner(walker: Walker, node: ast.Await | ast.Starred) -> Thing:
    return walker.evaluate(node.value)


def _walrus(walker: Walker, node: ast.NamedExpr) -> Thing:
    value = walker.evaluate(node.value)
    walker.bind(Slot(walker.scope, node.target.id), value, node)
    return value


HANDLERS: dict[type[ast.expr], Callable[..., Thing]] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.Subscript: _subscript,
    ast.Slice: _slice,
    ast.Call: call,
    ast.Tuple: _sequence,
    ast.List: _sequence,
    ast.Set: _sequence,
    ast.Dict: _dict,
    ast.BinOp: _operation,
    ast.UnaryOp: _operation,
    ast.BoolOp: _operation,
    ast.Compare: _comparison,
    ast.IfExp: _choice,
    ast.Lambda: _lambda,
    ast.ListComp: _comprehension,
    ast.SetComp: _comprehension,
    ast.GeneratorExp: _comprehension,
    ast.DictComp: _comprehension,
    ast.JoinedStr: _format,
    ast.Yield: _yield,
    ast.Await: _inner,
    ast.Starred: _inner,
    ast.YieldFrom: _yield_from,
    ast.NamedExpr: _walrus,
}

__all__ = ["element", "entry", "evaluate", "is_slice", "key_text", "truth"]
