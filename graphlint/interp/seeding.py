"""Seeds that differ within a region, or from call to call: a generator is refused another seed while it is captured.

The seed that it has by then is the one that the warm-up set last; only that one is accepted (measured: H200, torch 2.11).

torch.manual_seed(self.seed)                               # refused where the layers of a model have seeds of their own
layers = [Layer(seed=100 + i) for i in range(depth)]
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from graphlint.events import ClockRead, Event, HostMutation, HostRandom, LibraryRefused
from graphlint.interp.frame import Frame
from graphlint.interp.raising import SEED_SET
from graphlint.project import Module
from graphlint.record import NamedTuple
from graphlint.syntax import argument, last_called, spelled, stands_in, walk
from graphlint.types import Confidence
from graphlint.values import Number, Origin, Value

REFUSED = "a generator takes no other seed than it has while it is captured"
OBJECTS = "torch.Generator."
"""Methods of generator objects: each has a seed of its own, and most are made for the host, which refuses none."""
DEEPEST = 3
"""Constructors through which a seed is followed."""
LOOPS = (ast.For, ast.AsyncFor)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def reseeds(frame: Frame, given: Value | None, node: ast.AST) -> bool:
    """Whether a call sets a seed that cannot be the one that the last call of the region has set."""
    if isinstance(given, Number) and given.origin is Origin.STATE:
        return True
    seed = next(iter(node.args), None) if isinstance(node, ast.Call) else None
    decl = frame.summary.decl
    if seed is None or decl is None:
        return False
    drawn = (
        (kind, frame.span(each)) for each in walk(seed) for kind in (HostRandom, ClockRead) if isinstance(each, ast.Call)
    )
    if any(each in frame.summary.seen for each in drawn):
        return True
    names = {each.id for each in walk(seed) if isinstance(each, ast.Name)}
    if any(names & _bound(each.target) and stands_in(each.body, node) for each in decl.every(ast.For)):
        return True
    owner = decl.owner
    return owner is not None and any(
        _is_varied(owner.module, owner.name, name, DEEPEST) for name in _parameters(owner.node, seed)
    )


def _parameters(owner: ast.ClassDef, seed: ast.expr) -> set[str]:
    """The parameters of a constructor from which come the attributes that an expression reads."""
    init = _constructor(owner)
    attributes = {each.attr for each in walk(seed) if isinstance(each, ast.Attribute) and isinstance(each.value, ast.Name)}
    if init is None or not attributes:
        return set()
    bound = [
        value
        for each in walk(init)
        if isinstance(each, ast.Assign)
        for target, value in _pairs(each)
        if isinstance(target, ast.Attribute) and target.attr in attributes
    ]
    taken = {arg.arg for arg in (*init.args.args[1:], *init.args.kwonlyargs)}
    return {each.id for value in bound for each in walk(value) if isinstance(each, ast.Name)} & taken


def _pairs(node: ast.Assign) -> Iterator[tuple[ast.expr, ast.expr]]:
    """What an assignment binds to what: `self.p, self.seed = p, seed` two things."""
    for target in node.targets:
        if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple) and len(target.elts) == len(node.value.elts):
            yield from zip(target.elts, node.value.elts)
        else:
            yield target, node.value


def _constructor(owner: ast.ClassDef) -> ast.FunctionDef | None:
    return next((each for each in owner.body if isinstance(each, ast.FunctionDef) and each.name == "__init__"), None)


class Made(NamedTuple):
    """What a constructor is given for one parameter, the loop variables around, and the class that makes the object."""

    given: ast.expr
    loops: frozenset[str]
    maker: ast.ClassDef | None


def _is_varied(module: Module, name: str, parameter: str, depth: int) -> bool:
    """Whether the objects of a class are made with several values for a parameter, as far as its file shows it."""
    classes = {each.name: each for each in module.source.tree.body if isinstance(each, ast.ClassDef)}
    init = _constructor(classes[name]) if name in classes else None
    if init is None:
        return False
    places = [arg.arg for arg in init.args.args[1:]]
    made = list(_made(module.source.tree, name, places, parameter, frozenset(), None))
    if len({spelled(each.given) for each in made}) > 1:
        return True
    return any(_varies(module, each, depth) for each in made)


def _varies(module: Module, made: Made, depth: int) -> bool:
    names = {each.id for each in walk(made.given) if isinstance(each, ast.Name)}
    if names & made.loops:
        return True
    init = _constructor(made.maker) if made.maker is not None else None
    taken = {arg.arg for arg in (*init.args.args[1:], *init.args.kwonlyargs)} if init is not None else set()
    maker = made.maker
    return (
        depth > 0 and maker is not None and any(_is_varied(module, maker.name, name, depth - 1) for name in names & taken)
    )


def _made(
    node: ast.AST, name: str, places: list[str], parameter: str, loops: frozenset[str], maker: ast.ClassDef | None
) -> Iterator[Made]:
    """The calls of a class below a node that give it a parameter."""
    if isinstance(node, ast.ClassDef):
        maker = node
    if isinstance(node, LOOPS):
        loops |= _bound(node.target)
    elif isinstance(node, COMPREHENSIONS):
        loops |= frozenset().union(*(_bound(each.target) for each in node.generators))
    if isinstance(node, ast.Call) and last_called(node) == name:
        given = argument(node, places, parameter)
        if given is not None:
            yield Made(given, loops, maker)
    for child in ast.iter_child_nodes(node):
        yield from _made(child, name, places, parameter, loops, maker)


def _bound(target: ast.expr) -> frozenset[str]:
    return frozenset(each.id for each in walk(target) if isinstance(each, ast.Name))


def reseeded(events: tuple[Event, ...]) -> tuple[Event, ...]:
    """The events of a region, in which one seed after the other is set: none of them is the one that is set last."""
    seeds = [each for each in events if _sets(each)]
    if len({each.text.partition("(")[2] for each in seeds}) < 2:
        return events
    return tuple(_refused(each) if _sets(each) else each for each in events)


def _sets(event: Event) -> bool:
    if not isinstance(event, HostMutation) or event.what != "call" or event.why != SEED_SET:
        return False
    return event.confidence is not Confidence.POSSIBLE and not event.target.startswith(OBJECTS)


def _refused(event: Event) -> Event:
    assert isinstance(event, HostMutation)
    return LibraryRefused(
        span=event.span,
        text=event.text,
        confidence=event.confidence,
        targets=event.targets,
        trail=event.trail,
        call=event.target,
        why=REFUSED,
    )
