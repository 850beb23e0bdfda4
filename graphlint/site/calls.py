"""Calls: functions of the tree are walked into, constructors of torch make things, the rest reads its arguments."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from graphlint.project import ClassDecl, Outside
from graphlint.site.acts import Frame, Verb
from graphlint.site.construct import construct, hold
from graphlint.site.dropped import drop
from graphlint.site.marked import run_body
from graphlint.site.members import attribute, inherited
from graphlint.site.methods import method, parts
from graphlint.site.names import CONSTRUCTORS, COPIED, NUMBERS, REFERENCE, SAME
from graphlint.site.ordered import ordered
from graphlint.site.records import AFTER, fill
from graphlint.site.spawning import HANDING, run_by
from graphlint.site.things import Kind, Scope, Slot, Thing
from graphlint.site.walker import DEEPEST, Walker
from graphlint.site.weights import PARAMETERS

SPAWNING = HANDING | {"start"}


@dataclass(frozen=True, slots=True)
class Given:
    """The arguments of a call, evaluated."""

    places: tuple[Thing, ...]
    names: Mapping[str, Thing]

    @property
    def all(self) -> tuple[Thing, ...]:
        return (*self.places, *self.names.values())


def call(walker: Walker, node: ast.Call) -> Thing:
    """Walk one call expression."""
    if isinstance(node.func, ast.Attribute):
        receiver = walker.evaluate(node.func.value)
        if receiver.kind is not Kind.OUTSIDE:
            return _method(walker, receiver, node.func.attr, node)
    function = walker.evaluate(node.func)
    return apply(walker, function, _given(walker, node), node)


def _given(walker: Walker, node: ast.Call) -> Given:
    places: list[Thing] = []
    for arg in node.args:
        thing = walker.evaluate(arg)
        places += _spread(walker, thing, node).values() if isinstance(arg, ast.Starred) else [thing]
    names: dict[str, Thing] = {}
    for word in node.keywords:
        thing = walker.evaluate(word.value)
        if word.arg is not None:
            names[word.arg] = thing
            continue
        parts = _spread(walker, thing, node)
        names.update({key[2:-2] if key[1:2] in "'\"" else "**": part for key, part in parts.items()})
    return Given(tuple(places), names)


def _spread(walker: Walker, thing: Thing, node: ast.Call) -> dict[str, Thing]:
    """What `*` and `**` take out of a container, each looked up; the thing itself where that is not known."""
    entries = {key: part for key, part in thing.slots.items() if key.startswith("[")}
    if thing.kind is not Kind.CONTAINER or not entries:
        return {"": thing}
    for key, part in entries.items():
        walker.act(Verb.LOAD, node, part, slot=Slot(thing, key))
    return entries


def _method(walker: Walker, receiver: Thing, name: str, node: ast.Call) -> Thing:
    if receiver.kind is Kind.COMPILED and receiver.base is not None and name not in ("forward", "__call__"):
        receiver = receiver.base
    own = attribute(walker, receiver, name, node.func) if receiver.decl is not None or name in receiver.slots else None
    if receiver.name == "super" and receiver.kind is Kind.UNKNOWN:
        own = inherited(walker, name, node)
    given = _given(walker, node)
    # What `__init__` was given and keeps is called; a name that nobody binds is a method of a base outside the tree.
    if own is not None and (own.kind is not Kind.UNKNOWN or not own.is_guess):
        return apply(walker, own, given, node)
    if name == "forward" and receiver.kind in (Kind.MODULE, Kind.COMPILED, Kind.GRAPHED):
        return apply(walker, receiver, given, node)
    run = run_by(walker, receiver, name, given.places, given.names) if name in SPAWNING else None
    if run is not None:
        walker.act(Verb.SPAWN, node, receiver, other=run.function, name=name, call=node)
        if run.function.kind is Kind.FUNCTION:
            apply(walker, run.function, Given(run.places, run.names), node)
    if name == "apply" and receiver.kind is Kind.MODULE and given.places and given.places[0].kind is Kind.FUNCTION:
        for part in parts(receiver):
            apply(walker, given.places[0], Given((part,), {}), node)
        return receiver
    return method(walker, receiver, name, given.places, given.names, node)


def apply(walker: Walker, function: Thing, given: Given, node: ast.Call) -> Thing:
    """Call a thing by what it is: a function or module of the tree is walked, a graphed one is noted as called."""
    forward = function.slots.get("forward")
    if forward is not None and _is_put_there(forward):
        # `model.forward = torch.compile(model.forward)`
        function = forward
    match function.kind:
        case Kind.FUNCTION:
            return _function(walker, function, given, node)
        case Kind.CLASS:
            return instance(walker, function, given, node)
        case Kind.MODULE | Kind.INSTANCE:
            return _module(walker, function, given, node)
        case Kind.COMPILED | Kind.GRAPHED:
            return _graphed(walker, function, given, node)
        case Kind.OUTSIDE:
            return _outside(walker, function.name, given, node)
        case Kind.UNKNOWN if function.base is not None and function.base.kind is Kind.GRAPH:
            return method(walker, function.base, function.name, given.places, given.names, node)
    walker.act(Verb.CALL, node, function, call=node)
    walker.read(node, *given.all, name="argument")
    made = walker.thing(Kind.UNKNOWN, node)
    made.made_by = (function, *given.all)
    return made


def _is_put_there(forward: Thing) -> bool:
    """Whether a `forward` is no method of the class, but something that was assigned to it."""
    is_function = forward.kind is Kind.FUNCTION and forward.base is None and forward.decl is None
    return is_function or forward.kind in (Kind.COMPILED, Kind.GRAPHED, Kind.INSTANCE)


def _function(walker: Walker, function: Thing, given: Given, node: ast.Call) -> Thing:
    if function.name.startswith("functools."):
        walker.act(Verb.CACHED, node, function, call=function.call)
    walker.act(Verb.CALL, node, function, call=node)
    if function.arguments:
        given = _with_bound(function, given)
    if function.base is not None and function.kind is Kind.FUNCTION:
        given = Given((function.base, *given.places), given.names)
    return inline(walker, function, given, node)


def _with_bound(function: Thing, given: Given) -> Given:
    """The arguments of a call behind those that `partial` has bound."""
    places = [thing for name, thing in function.arguments.items() if name.isdigit()]
    names = {name: thing for name, thing in function.arguments.items() if not name.isdigit()}
    return Given((*places, *given.places), {**names, **given.names})


def inline(walker: Walker, function: Thing, given: Given, node: ast.AST) -> Thing:
    """Walk the body of a function with these arguments; unknown when it is too deep or already running."""
    body = function.function
    if (
        body is None
        or function.module is None
        or body in walker.running
        or len(walker.running) >= DEEPEST
        or walker.is_spent
    ):
        walker.read(node, *given.all, name="argument")
        return walker.thing(Kind.UNKNOWN, node)
    name = getattr(body, "name", function.name)
    outer, frame, returned = walker.scope, walker.frame, walker.returned
    scope = Scope(function.module, name, len(walker.acts), function.scope)
    _bind(walker, scope, body.args, given, node)
    walker.frame = Frame(function.module, name, node, frame, body)
    walker.scope, walker.returned = scope, []
    walker.running.append(body)
    try:
        if isinstance(body, ast.Lambda):
            return walker.evaluate(body.body)
        run_body(walker, body)
        return _result(walker, node)
    finally:
        walker.running.pop()
        walker.scope, walker.frame, walker.returned = outer, frame, returned


def _result(walker: Walker, node: ast.AST) -> Thing:
    kept = [thing for thing in walker.returned if thing.kind is not Kind.NONE]
    return kept[-1] if kept else walker.thing(Kind.NONE, node)


def _bind(walker: Walker, scope: Scope, parameters: ast.arguments, given: Given, node: ast.AST) -> None:
    positional = [*parameters.posonlyargs, *parameters.args]
    rest = dict(given.names)
    for place, parameter in enumerate(positional):
        known = given.places[place] if place < len(given.places) else _taken(rest, parameter.arg)
        scope.slots[parameter.arg] = known or _default(walker, scope, parameters, parameter, node)
    for parameter in parameters.kwonlyargs:
        scope.slots[parameter.arg] = _taken(rest, parameter.arg) or _default(walker, scope, parameters, parameter, node)
    if parameters.vararg is not None:
        extra = walker.thing(Kind.CONTAINER, node)
        extra.slots = {f"[{place}]": thing for place, thing in enumerate(given.places[len(positional) :])}
        scope.slots[parameters.vararg.arg] = extra
    if parameters.kwarg is not None:
        named = walker.thing(Kind.CONTAINER, node)
        named.slots = {f"[{name!r}]": thing for name, thing in rest.items()}
        scope.slots[parameters.kwarg.arg] = named


def _taken(rest: dict[str, Thing], name: str) -> Thing | None:
    return rest.pop(name) if name in rest else None


def _default(walker: Walker, scope: Scope, parameters: ast.arguments, parameter: ast.arg, node: ast.AST) -> Thing:
    found = default(parameters, parameter)
    if found is not None and _is_plain(found):
        return walker.evaluate(found)
    return walker.standing(scope.module, found) or walker.thing(Kind.UNKNOWN, node, parameter.arg)


def _is_plain(node: ast.expr) -> bool:
    """Whether an expression is a constant, or computed of constants only: `2.0 ** 6`."""
    match node:
        case ast.BinOp(left=left, right=right):
            return _is_plain(left) and _is_plain(right)
        case ast.UnaryOp(operand=inner):
            return _is_plain(inner)
    return isinstance(node, ast.Constant)


def default(parameters: ast.arguments, parameter: ast.arg) -> ast.expr | None:
    """The expression that a parameter is where nobody gives it; None if there is none."""
    positional = [*parameters.posonlyargs, *parameters.args]
    if parameter in positional:
        place = positional.index(parameter) - len(positional) + len(parameters.defaults)
        return parameters.defaults[place] if place >= 0 else None
    if parameter in parameters.kwonlyargs:
        return parameters.kw_defaults[parameters.kwonlyargs.index(parameter)]
    return None


def instance(walker: Walker, cls: Thing, given: Given, node: ast.AST) -> Thing:
    """A new object of a class of the tree, after its `__init__`."""
    decl = cls.decl
    made = walker.thing(Kind.MODULE if decl is not None and is_module(walker, cls) else Kind.INSTANCE, node, cls.name)
    made.decl, made.module = decl, cls.module
    init = attribute(walker, made, "__init__", node)
    if init.kind is Kind.FUNCTION:
        inline(walker, init, Given((made, *given.places), given.names), node)
    elif fill(walker, made, given.places, given.names, node):
        after = attribute(walker, made, AFTER, node)
        if after.kind is Kind.FUNCTION:
            inline(walker, after, Given((made,), {}), node)
    elif made.kind is Kind.MODULE:
        hold(made, given.places)
    elif isinstance(node, ast.Call) and _captures(walker, decl):
        return construct(walker, "torch.cuda.graph", given.places, given.names, node)
    return made


def _captures(walker: Walker, decl: ClassDecl | None) -> bool:
    """Whether a class derives from the context manager that captures."""
    bases = walker.project.mro(decl)[1:] if decl is not None else ()
    return any(isinstance(base, Outside) and CONSTRUCTORS.get(base.name) is Kind.CAPTURE for base in bases)


def is_module(walker: Walker, cls: Thing) -> bool:
    assert cls.decl is not None
    names = [getattr(base, "name", "") for base in walker.project.mro(cls.decl)[1:]]
    return any(name == "torch.nn.Module" or name.startswith("torch.nn.") or name.endswith(".Module") for name in names)


def _module(walker: Walker, module: Thing, given: Given, node: ast.AST) -> Thing:
    called = node if isinstance(node, ast.Call) else None
    walker.act(Verb.CALL, node, module, name="training" if module.is_training else "", call=called)
    if module.decl is not None:
        run = attribute(walker, module, "forward" if module.kind is Kind.MODULE else "__call__", node)
        if run.kind is Kind.FUNCTION:
            return inline(walker, run, Given((module, *given.places), given.names), node)
    walker.read(node, *given.all, name="argument")
    for child in module.slots.values():
        if child.kind is Kind.MODULE:
            _module(walker, child, Given((), {}), node)
    made = walker.thing(Kind.TENSOR, node)
    made.made_by = (module, *given.all)
    return made


def _graphed(walker: Walker, function: Thing, given: Given, node: ast.Call) -> Thing:
    act = walker.act(Verb.CALL, node, function, call=node)
    act.other = walker.thing(Kind.CONTAINER, node)
    act.other.slots = {f"[{place}]": thing for place, thing in enumerate(given.all)}
    if function.base is not None:
        returned = apply(walker, function.base, given, node)
        if function.kind is Kind.COMPILED and any(returned is each for each in given.all):
            return returned  # an argument comes back as the object it is, and no graph owns it
    else:
        walker.read(node, *given.all, name="argument")
    made = walker.thing(Kind.TENSOR, node)
    made.made_by = (function,)
    return made


def _outside(walker: Walker, name: str, given: Given, node: ast.Call) -> Thing:
    if name == "builtins.setattr" and len(given.places) == 3 and (attr := _word(given.places[1])):
        walker.bind(Slot(given.places[0], attr), given.places[2], node)
        return walker.thing(Kind.NONE, node)
    if name == "builtins.setattr" and len(given.places) == 3 and given.places[2].name in PARAMETERS:
        # Whichever name it is, what was there has gone: `for name, p in named: setattr(module, name, nn.Parameter(...))`.
        walker.act(Verb.BIND, node, given.places[2], slot=Slot(given.places[0], "*"))
        return walker.thing(Kind.NONE, node)
    if name == "builtins.delattr" and len(given.places) == 2 and (attr := _word(given.places[1])):
        drop(walker, given.places[0], attr, node)
        return walker.thing(Kind.NONE, node)
    if name == "builtins.getattr" and len(given.places) >= 2 and (attr := _word(given.places[1])):
        return attribute(walker, given.places[0], attr, node)
    if name == "builtins.super":
        return walker.thing(Kind.UNKNOWN, node, "super")
    if name in NUMBERS:
        return walker.thing(Kind.NUMBER, node)
    if name in SAME | REFERENCE and given.places:
        return ordered(walker, name, given.places[0], node)
    if name in COPIED or name in SAME:
        return _copied(walker, given, node)
    return construct(walker, name, given.places, given.names, node)


def _word(thing: Thing) -> str:
    """The text that a thing is, also where a variable or an item of a list holds it; "" where it is none that is known."""
    return thing.node.value if isinstance(thing.node, ast.Constant) and isinstance(thing.node.value, str) else ""


def _copied(walker: Walker, given: Given, node: ast.Call) -> Thing:
    made = walker.thing(Kind.CONTAINER, node)
    for thing in given.places:
        made.slots.update(thing.slots)
    made.slots.update({f"[{name!r}]": thing for name, thing in given.names.items()})
    return made


def keep(walker: Walker, node: ast.AST, container: Thing, things: Sequence[Thing], name: str) -> None:
    """Put things into a container that outlives the moment."""
    for thing in things:
        walker.act(Verb.KEEP, node, thing, other=container, name=name)
        container.slots["[*]"] = thing
