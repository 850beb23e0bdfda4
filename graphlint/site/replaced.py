"""Attributes and entries of which a graph reads what they hold: a record, or a dictionary of tensors, that is replaced.

self.metadata[n] = Metadata(lengths, pages)
if "adapter" in inputs:
    self.adapter = inputs["adapter"]
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from graphlint.events import Event
from graphlint.site.acts import Act, Verb
from graphlint.site.branches import apart, lets_go
from graphlint.site.story import Captured, Story, region, tell
from graphlint.site.things import Kind, Thing
from graphlint.site_events import InputRebound
from graphlint.syntax import last, stands_in, walk
from graphlint.types import Region

HOLDERS = (Kind.INSTANCE, Kind.CONTAINER)
OTHERS = (Kind.CONTAINER, Kind.ANY_ITEM, Kind.UNKNOWN)


def replaced(story: Story, captured: Captured, index: int, act: Act) -> Thing | None:
    """What an act takes out of an attribute or entry, if the graph reads tensors that it holds and goes on reading them."""
    before, slot = act.other, act.slot
    if before is None or slot is None or not isinstance(slot.holder, Thing):
        return None
    if before.kind is Kind.TENSOR and id(before) in captured.reads:
        return before  # something was bound to it before the capture: `partial(step, table=self.table)`
    if before.kind not in HOLDERS:
        return None
    is_like = act.thing.decl is before.decl if before.kind is Kind.INSTANCE else act.thing.kind in OTHERS
    if not is_like or act.thing is before or captured.graph in before.family():
        return None
    read = {id(thing.owner) for each, thing in captured.inputs.items() if each.holder is before and _is_data(thing)}
    if not read or _is_refilled(story, captured, index, read):
        return None
    return before


def entries(story: Story) -> Iterator[tuple[Region, Event]]:
    """Entries that are replaced by whatever is no tensor, where the graph reads tensors inside such an entry."""
    for captured in story.captures:
        inner = [thing for thing in captured.inputs.values() if thing.kind is Kind.CONTAINER]
        for index, act in story.between(captured.end, len(story.acts), Verb.BIND) if inner else ():
            held = [each for each in inner if act.slot is not None and _has(captured, act.slot.holder, each)]
            is_any = act.slot is not None and act.slot.key == "[*]" and act.thing.kind in OTHERS
            if not is_any or not held or not _is_no_tensor(act) or story.next_replay(captured, index) is None:
                continue
            read = {id(thing.owner) for slot, thing in captured.inputs.items() if slot.holder in held and _is_data(thing)}
            since = max((at for at in story.replays(captured) if at < index), default=captured.end)
            if read and not _is_refilled(story, captured, since, read | set(map(id, held))):
                target = ast.unparse(act.node.targets[0]) if isinstance(act.node, ast.Assign) else act.text
                yield region(captured, story.acts), tell(InputRebound, act, target=target, place="entry", is_host=False)


def _has(captured: Captured, holder: object, inner: Thing) -> bool:
    return any(slot.holder is holder and thing is inner for slot, thing in captured.inputs.items())


def _is_no_tensor(act: Act) -> bool:
    """Whether an act stands where a condition says that what it binds is no tensor, and nothing else."""
    around = [
        each
        for each in (walk(act.frame.body) if act.frame.body is not None else ())
        if isinstance(each, ast.If) and (stands_in(each.body, act.node) or stands_in(each.orelse, act.node))
    ]
    said = [(_asks_tensor(each.test), stands_in(each.body, act.node)) for each in around]
    return bool(said) and all(asks is not None and asks is not holds for asks, holds in said)


def _asks_tensor(test: ast.expr) -> bool | None:
    """True for what holds of tensors only, False for its opposite, None for anything else."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            found = _asks_tensor(inner)
            return None if found is None else not found
        case ast.Call(func=ast.Attribute(attr="is_tensor") | ast.Name(id="is_tensor")):
            return True
        case ast.Call(func=ast.Name(id="isinstance"), args=[_, kind]) if last(kind) == "Tensor":
            return True
    return None


def _is_data(thing: Thing) -> bool:
    return thing.kind is Kind.TENSOR or (thing.kind is Kind.UNKNOWN and not thing.is_guess)


def _is_refilled(story: Story, captured: Captured, index: int, read: set[int]) -> bool:
    """Whether the tensors of the capture get data as well before the next replay."""
    replay = story.next_replay(captured, index)
    return replay is None or any(id(act.thing.owner) in read for _, act in story.between(index, replay, Verb.WRITE))


def is_fallback(story: Story, act: Act) -> bool:
    """Whether an act binds what could not be copied into what was there: `old.copy_(new)` on the other side of the `if`."""
    return act.other is not None and any(
        each.verb is Verb.WRITE and each.frame is act.frame and each.thing.owner is act.other.owner and apart(each, act)
        for each in story.acts
    )


def is_given(act: Act) -> bool:
    """Whether an act binds what its function was given, under conditions on what it was given: it does so where it is."""
    body = act.frame.body
    if not isinstance(body, (ast.FunctionDef, ast.AsyncFunctionDef)) or not isinstance(act.node, ast.Assign):
        return False
    given = _root(act.node.value)
    if given not in {each.arg for each in (*body.args.posonlyargs, *body.args.args, *body.args.kwonlyargs)}:
        return False
    around = [each for each in walk(body) if isinstance(each, ast.If) and stands_in(each.body, act.node)]
    return bool(around) and all(_names(each.test) == {given} and not lets_go(each) for each in around)


def _root(value: ast.expr) -> str:
    """The name of which a value is a part, or what a method of it gives: `inputs["mask"].to(device)`."""
    match value:
        case ast.Name(id=name):
            return name
        case ast.Subscript(value=inner) | ast.Attribute(value=inner) | ast.Call(func=ast.Attribute(value=inner)):
            return _root(inner)
    return ""


def _names(node: ast.expr) -> set[str]:
    return {each.id for each in walk(node) if isinstance(each, ast.Name)}
