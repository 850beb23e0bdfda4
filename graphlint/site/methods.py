"""Methods of things the tree does not define: tensors, modules, graphs, containers, optimizers."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from graphlint.site.acts import Verb
from graphlint.site.construct import constant, duplicate
from graphlint.site.dropped import popped
from graphlint.site.managers import INSIDE, passed_on
from graphlint.site.members import attribute
from graphlint.site.names import FLUENT, MOVING, NOT_IN_PLACE, PUTTING, SIZES, VIEWS
from graphlint.site.things import Kind, Slot, Thing
from graphlint.site.walker import Walker
from graphlint.syntax import last_called

PARAMETERS = frozenset({"parameters", "buffers", "named_parameters", "named_buffers"})
"""Methods that only modules have."""

Places = Sequence[Thing]
Names = Mapping[str, Thing]


def method(walker: Walker, receiver: Thing, name: str, places: Places, names: Names, node: ast.Call) -> Thing:
    """Call a method and give what it returns."""
    act = walker.act(Verb.METHOD, node, receiver, name=name, call=node)
    act.other = places[0] if places else None
    held = passed_on(walker, receiver, name, places, node) if name in INSIDE else None
    if held is not None:
        return held
    if name == "pop" and popped(walker, node, places):
        return walker.thing(Kind.UNKNOWN, node)
    match receiver.kind:
        case Kind.MODULE:
            return _module(walker, receiver, name, places, node)
        case Kind.GRAPH if name in ("capture_begin", "capture_end"):
            return _manual(walker, receiver, name, {"pool": places[0], **names} if places else names, node)
        case Kind.GRAPH if name == "pool":
            return walker.thing(Kind.POOL, node, base=receiver)
        case Kind.CONTAINER:
            return _container(walker, receiver, name, places, names, node)
        case Kind.UNKNOWN if name in PARAMETERS:
            return walker.thing(Kind.PARAMETERS, node, base=receiver)
        case Kind.TENSOR | Kind.UNKNOWN | Kind.ANY_ITEM | Kind.PARAMETER:
            return _tensor(walker, receiver, name, places, node)
        case Kind.STREAM if name == "record_event":
            return places[0] if places else walker.thing(Kind.EVENT, node)
    walker.read(node, *places, *names.values(), name="argument")
    given = walker.thing(Kind.UNKNOWN, node, name if name in MOVING else "")
    if name in MOVING or (receiver.kind is Kind.OPTIMIZER and name == "state_dict"):
        given.made_by = (receiver,)
    return given


def _module(walker: Walker, module: Thing, name: str, places: Places, node: ast.Call) -> Thing:
    if name in ("eval", "train"):
        is_on = name == "train" and constant(places[0] if places else None) is not False
        for part in module.family():
            part.is_training = is_on
    if name == "requires_grad_":
        is_off = constant(places[0] if places else None) is False
        for part in module.family():
            part.is_frozen = is_off
    if name in ("register_buffer", "register_parameter", "add_module") and len(places) > 1:
        key = constant(places[0])
        if isinstance(key, str):
            walker.bind(Slot(module, key), places[1], node)
    if name in PARTS:
        several = walker.thing(Kind.CONTAINER, node, name, module)
        several.slots = {f"[{place}]": _named(walker, part, name, node) for place, part in enumerate(parts(module))}
        return several
    if name == "append" and places:
        module.slots[f"[{len(module.slots)}]"] = places[0]
    if name == "compile" and module.decl is not None:
        # In place: calls of the module run its compiled `forward` from here on.
        forward = attribute(walker, module, "forward", node)
        module.slots["forward"] = walker.thing(Kind.COMPILED, node, "forward", forward, node)
    if name in FLUENT:
        return module
    if name in PARAMETERS or name == "state_dict":
        return walker.thing(Kind.PARAMETERS, node, base=module)
    return walker.thing(Kind.UNKNOWN, node)


PARTS = frozenset({"modules", "children", "named_modules", "named_children"})


def parts(module: Thing) -> list[Thing]:
    """The modules in a module and itself: one of each class first, the tree's own before all, as few rounds are walked."""
    every = [part for part in module.family() if part.kind is Kind.MODULE]
    inner = [part for part in reversed(every) if part is not module]
    first: dict[object, Thing] = {part.decl: part for part in inner if part.decl is not None}
    first.update({part.name: part for part in inner if part.decl is None})
    return [*first.values(), *(part for part in every if not any(part is each for each in first.values()))]


def _named(walker: Walker, part: Thing, name: str, node: ast.Call) -> Thing:
    """A part, behind its name where a method gives that as well."""
    if not name.startswith("named_"):
        return part
    pair = walker.thing(Kind.CONTAINER, node)
    pair.slots = {"[0]": walker.thing(Kind.CONSTANT, node), "[1]": part}
    return pair


def _manual(walker: Walker, graph: Thing, name: str, names: Names, node: ast.Call) -> Thing:
    """`capture_begin` and `capture_end` open and close what `torch.cuda.graph` does as a block."""
    capture = walker.thing(Kind.CAPTURE, node, "capture_begin", graph, node)
    capture.arguments = dict(names)
    walker.act(Verb.ENTER if name == "capture_begin" else Verb.LEAVE, node, capture)
    return walker.thing(Kind.NONE, node)


def _container(walker: Walker, receiver: Thing, name: str, places: Places, names: Names, node: ast.Call) -> Thing:
    if name in PUTTING:
        for thing in places:
            walker.act(Verb.KEEP, node, thing, other=receiver, name=name)
        if name == "update":
            _update(walker, receiver, places, names, node)
        elif places:
            _put(receiver, name, places)
        return walker.thing(Kind.NONE, node)
    if name in ("get", "pop") and node.args:
        key = constant(places[0])
        known = receiver.slots.get(f"[{key!r}]") or receiver.slots.get("[*]")
        return known or walker.thing(Kind.ANY_ITEM, node, base=receiver)
    if name == "copy":
        made = walker.thing(Kind.CONTAINER, node)
        made.slots = dict(receiver.slots)
        return made
    return walker.thing(Kind.ANY_ITEM, node, base=receiver)


def _update(walker: Walker, receiver: Thing, places: Places, names: Names, node: ast.Call) -> None:
    """`update` binds every entry it is given, as a store would."""
    given = {key: thing for place in places for key, thing in (place.slots or {"[*]": place}).items()}
    given.update({"[*]" if name == "**" else f"[{name!r}]": thing for name, thing in names.items()})
    for key, thing in given.items():
        walker.bind(Slot(receiver, key), thing, node)


def _put(receiver: Thing, name: str, places: Places) -> None:
    if name == "append":
        receiver.slots[f"[{len(receiver.slots)}]"] = places[0]
    else:
        receiver.slots["[*]"] = places[-1]


def _tensor(walker: Walker, receiver: Thing, name: str, places: Places, node: ast.Call) -> Thing:
    if name in SIZES:
        return walker.thing(Kind.NUMBER, node)
    if name in PUTTING and receiver.kind is not Kind.TENSOR:
        for thing in places:
            walker.act(Verb.KEEP, node, thing, other=receiver, name=name)
    if name in VIEWS:
        return walker.thing(Kind.TENSOR, node, base=receiver)
    if name.endswith("_") and not name.endswith("__") and name not in NOT_IN_PLACE:
        walker.read(node, *places, name="argument")
        is_partial = receiver.base is not None and _is_cut(receiver)
        walker.write(node, receiver, other=places[0] if places else None, name=name, is_partial=is_partial)
        return receiver
    walker.read(node, receiver, name=name)
    walker.read(node, *places, name="argument")
    if name == "clone":
        return duplicate(walker, receiver, node, 6)
    made = walker.thing(Kind.TENSOR if receiver.kind is Kind.TENSOR else Kind.UNKNOWN, node, name)
    made.made_by = (receiver, *places)
    return made


def _is_cut(view: Thing) -> bool:
    """Whether a view was made by a subscript that leaves something out, or by `narrow`."""
    node = view.node
    if view.name != "view":
        return isinstance(node, ast.Call) and last_called(node) == "narrow"
    return isinstance(node, ast.Subscript) and not (
        isinstance(node.slice, ast.Slice) and node.slice.lower is node.slice.upper is None
    )
