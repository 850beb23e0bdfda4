"""Calls of names outside the tree: what they make, and what they write."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import replace

from graphlint.site.acts import Verb
from graphlint.site.names import CONSTRUCTORS, POOLS, THREADS, layer, optimizer
from graphlint.site.things import Kind, Slot, Thing
from graphlint.site.walker import Walker

Places = Sequence[Thing]
Names = Mapping[str, Thing]


def construct(walker: Walker, name: str, places: Places, names: Names, node: ast.Call) -> Thing:
    """The thing that a call of a dotted name outside the tree gives."""
    kind = CONSTRUCTORS.get(name)
    if kind is not None:
        return _known(walker, kind, name, places, names, node)
    if name == "torch.get_device_module":
        return walker.thing(Kind.OUTSIDE, node, "torch.cuda")  # on the only device that captures
    if optimizer(name):
        return _made(walker, Kind.OPTIMIZER, optimizer(name), places, names, node)
    if "lr_scheduler." in name and places:
        return _made(walker, Kind.SCHEDULER, name, places, names, node, places[0])
    if layer(name):
        return _layer(walker, layer(name), places, names, node)
    if name in ("copy.deepcopy", "torch.clone"):
        return duplicate(walker, places[0], node) if places else walker.thing(Kind.UNKNOWN, node)
    if name == "functools.partial" and places:
        return _partial(places, names)
    if name in THREADS or name in POOLS:
        return _made(walker, Kind.UNKNOWN, name, places, names, node)
    return _operation(walker, name, places, names, node)


def _partial(places: Places, names: Names) -> Thing:
    """A function with some of its arguments; of anything else only that it is called matters."""
    function = places[0]
    if function.kind is not Kind.FUNCTION:
        return function
    known = len([name for name in function.arguments if name.isdigit()])
    more = {str(known + place): thing for place, thing in enumerate(places[1:])}
    return replace(function, arguments={**function.arguments, **more, **names})


def _made(
    walker: Walker, kind: Kind, name: str, places: Places, names: Names, node: ast.Call, base: Thing | None = None
) -> Thing:
    made = walker.thing(kind, node, name, base, node)
    made.arguments = {**{str(place): thing for place, thing in enumerate(places)}, **names}
    return made


def _known(walker: Walker, kind: Kind, name: str, places: Places, names: Names, node: ast.Call) -> Thing:
    first = places[0] if places else None
    walker.act(Verb.CALL, node, _made(walker, Kind.OUTSIDE, name, places, names, node), other=first, call=node)
    if kind is Kind.CAPTURE:
        return _made(walker, kind, name, places, names, node, names.get("cuda_graph", first))
    if kind is Kind.COMPILED:
        made = _made(walker, kind, name, places, names, node, first or names.get("model"))
        made.module = walker.frame.module
        return made
    if kind is Kind.GRAPHED:
        return _graphed(walker, name, places, names, node)
    if kind is Kind.STREAM_BLOCK:
        return _made(walker, kind, name, places, names, node, first or names.get("stream"))
    if kind is Kind.TENSOR:
        walker.read(node, *places, name="argument")
    return _made(walker, kind, name, places, names, node)


def _graphed(walker: Walker, name: str, places: Places, names: Names, node: ast.Call) -> Thing:
    first = places[0] if places else names.get("callables")
    if first is not None and first.kind is Kind.CONTAINER:
        several = walker.thing(Kind.CONTAINER, node)
        for key, callee in first.slots.items():
            several.slots[key] = _made(walker, Kind.GRAPHED, name, places, names, node, callee)
        return several
    return _made(walker, Kind.GRAPHED, name, places, names, node, first)


def _layer(walker: Walker, name: str, places: Places, names: Names, node: ast.Call) -> Thing:
    made = _made(walker, Kind.MODULE, name, places, names, node)
    hold(made, places)
    return made


def hold(made: Thing, places: Places) -> None:
    """Put the modules that a container of modules is made of into it."""
    children = list(places)
    if len(places) == 1 and places[0].kind is Kind.CONTAINER:
        children = list(places[0].slots.values())
    for place, child in enumerate(children):
        if child.kind is Kind.MODULE:
            made.slots[f"[{place}]"] = child


def duplicate(walker: Walker, thing: Thing, node: ast.AST, depth: int = 0) -> Thing:
    """A deep copy: the same kind of thing, with copies of what it holds."""
    made = Thing(thing.kind, node, len(walker.acts), thing.name, thing.decl, None, call=thing.call, made_by=(thing,))
    made.is_training, made.is_frozen, made.module = thing.is_training, thing.is_frozen, thing.module
    made.function, made.scope, made.arguments = thing.function, thing.scope, thing.arguments
    if depth < 6:
        made.slots = {
            key: duplicate(walker, child, node, depth + 1) for key, child in thing.slots.items() if child.function is None
        }
    return made


def _operation(walker: Walker, name: str, places: Places, names: Names, node: ast.Call) -> Thing:
    walker.act(Verb.CALL, node, walker.thing(Kind.OUTSIDE, node, name), call=node)
    for thing in (*places, *names.values()):
        walker.read(node, thing, name=name)
    _writes(walker, name, places, names, node)
    made = walker.thing(Kind.TENSOR if _gives_tensor(name) else Kind.UNKNOWN, node, name)
    made.made_by = tuple(places)
    if name in ("torch.cat", "torch.concat", "torch.hstack", "torch.vstack", "torch.stack"):
        _grow(walker, made, node)
    return made


def _gives_tensor(name: str) -> bool:
    """Whether a function of torch gives a tensor: not what asks (`torch.is_tensor`) or speaks of a device."""
    head, _, last = name.rpartition(".")
    return name.startswith("torch.") and not last.startswith(("is_", "get_", "set_")) and head not in DEVICES


DEVICES = frozenset(
    {"torch.cuda", "torch.xpu", "torch.mps", "torch.cpu", "torch.npu", "torch.accelerator", "torch.backends"}
)


def _writes(walker: Walker, name: str, places: Places, names: Names, node: ast.Call) -> None:
    out = names.get("out")
    if out is not None:
        walker.write(node, out, name=name)
    last = name.rpartition(".")[2]
    if last.endswith("_") and not last.endswith("__") and places and not name.startswith("builtins."):
        walker.write(node, places[0], other=places[1] if len(places) > 1 else None, name=last)
        for item in places[0].slots.values():
            walker.write(node, item, name=last)


def _grow(walker: Walker, made: Thing, node: ast.Call) -> None:
    walker.act(Verb.GROW, node, made)


def argument(thing: Thing, name: str, place: int | None = None) -> Thing | None:
    """A named or positional argument that a thing was made with."""
    known = thing.arguments.get(name)
    return known if known is not None or place is None else thing.arguments.get(str(place))


def constant(thing: Thing | None) -> object:
    """The Python constant a thing is; Ellipsis when it is none or not known."""
    return thing.node.value if thing is not None and isinstance(thing.node, ast.Constant) else ...


__all__ = ["Slot", "argument", "constant", "construct", "duplicate"]
