"""Functions that `torch.compile` runs with CUDA graphs."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from graphlint.captors import class_prefix, functions, region_name
from graphlint.events import Event, FrozenScalar
from graphlint.project import ClassDecl, Module
from graphlint.site.acts import Act, Frame, Verb, span, text
from graphlint.site.counted import body, counted, cut
from graphlint.site.learning import waits
from graphlint.site.names import GRAPH_MODES
from graphlint.site.readout import CAPTURED, ONLY_COMPILED
from graphlint.site.reuse import is_next_round, reuses
from graphlint.site.story import Story, tell
from graphlint.site.things import Kind, Thing
from graphlint.site_events import (
    CompiledClone,
    CompiledDynamic,
    CompiledInputMutated,
    CompiledOverwritten,
    CompiledStaleRead,
)
from graphlint.syntax import walk
from graphlint.types import Region, Target

Told = Iterator[tuple[Region, Event]]


def has_graphs(compiled: Thing) -> bool:
    """Whether `torch.compile` was told to use CUDA graphs."""
    words = {word.arg: word.value for word in compiled.call.keywords} if compiled.call is not None else {}
    mode, backend, options = words.get("mode"), words.get("backend"), words.get("options")
    if isinstance(mode, ast.Constant) and mode.value in GRAPH_MODES:
        return True
    if isinstance(backend, ast.Constant) and backend.value == "cudagraphs":
        return True
    return isinstance(options, ast.Dict) and any(_is_on(key, value) for key, value in zip(options.keys, options.values))


def _is_on(key: ast.expr | None, value: ast.expr) -> bool:
    named = isinstance(key, ast.Constant) and key.value == "triton.cudagraphs"
    return named and isinstance(value, ast.Constant) and value.value is True


def runs_graphs(act: Act) -> bool:
    """Whether an act calls a function that is compiled with CUDA graphs."""
    return act.verb is Verb.CALL and act.thing.kind is Kind.COMPILED and has_graphs(act.thing)


def of_compiled(compiled: Thing, act: Act) -> Region:
    """The region of a compiled function that a site calls."""
    module = compiled.module or act.frame.module
    node = compiled.node if compiled.node is not None else act.node
    return Region(_defined(compiled.base) or _bound(module, node), "compiled", span(module, node))


def _defined(inner: Thing | None) -> str:
    """The name of a function or class of the tree that is compiled; empty for everything else."""
    if inner is not None and inner.function is not None and inner.module is not None:
        return f"{inner.module.name}.{_function(inner)}"
    if inner is not None and inner.decl is not None and inner.kind in (Kind.MODULE, Kind.INSTANCE):
        return f"{inner.decl.module.name}.{inner.decl.name}"
    return ""


def _bound(module: Module, node: ast.AST) -> str:
    """What a file or an object calls that which a call compiles; else the function in which that happens.

    What a library defines is not called by its own name: two files that compile it have a region each.
    """
    line = getattr(node, "lineno", 0)
    around = ((body, owner) for body, owner in functions(module) if body.lineno <= line <= (body.end_lineno or 0))
    body, owner = next(around, (None, None))
    for each in walk(body) if body is not None else module.source.tree.body:
        match each:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if value is node and body is None:
                return f"{module.name}.{name}"
            case ast.Assign(targets=[ast.Attribute(attr=name)], value=value) if value is node and owner is not None:
                return f"{module.name}.{owner.name}.{name}"
    return region_name(module, body, body.name if body is not None else "")


def _function(inner: Thing) -> str:
    assert inner.module is not None and inner.function is not None
    return class_prefix(inner.module, inner.function) + inner.name


def _name(compiled: Thing) -> str:
    """What is compiled, as a message calls it."""
    inner = compiled.base
    if inner is not None and inner.function is not None and inner.module is not None and inner.name:
        return _function(inner)
    given = compiled.call.args[0] if compiled.call is not None and compiled.call.args else None
    return text(compiled.module, given) if given is not None and compiled.module is not None else compiled.name


def seen(story: Story) -> Iterator[Region]:
    """Every function that is compiled with graphs and called."""
    for index, act in enumerate(story.acts):
        if runs_graphs(act):
            yield of_compiled(act.thing, act)
            inner = act.thing.base
            if inner is not None and inner.decl is not None:
                yield forward_of(inner.decl, ONLY_COMPILED)
        elif (
            act.verb is Verb.CALL
            and act.thing.kind is Kind.MODULE
            and act.thing.decl is not None
            and story.is_captured(index)
        ):
            yield forward_of(act.thing.decl, CAPTURED)


def forward_of(decl: ClassDecl, kind: str) -> Region:
    """The region of a class's `forward`, with what a file does to objects of the class as its kind."""
    name = f"{decl.module.name}.{decl.name}.forward"
    return Region(name, kind, span(decl.module, decl.node)._replace(end_line=decl.node.lineno))


def overwritten(story: Story) -> Told:
    """Results that the next call writes over, and where they are read then."""
    for reuse in reuses(story, Kind.COMPILED):
        if not has_graphs(reuse.callee) or waits(story, reuse.again):
            continue
        act = reuse.place
        yield of_compiled(reuse.callee, act), tell(CompiledOverwritten, act, target=act.text, targets=Target.COMPILE)
        if reuse.read is not None:
            yield (
                of_compiled(reuse.callee, reuse.read),
                tell(CompiledStaleRead, reuse.read, target=reuse.read.text, targets=Target.COMPILE),
            )


def mutated(story: Story) -> Told:
    """Arguments that a compiled function writes into."""
    for index, call in enumerate(story.acts):
        if call.verb is not Verb.CALL or call.thing.kind is not Kind.COMPILED or not has_graphs(call.thing):
            continue
        given = {id(part.owner) for thing in call.given for part in _parts(thing)}
        for _, act in story.between(index, len(story.acts), Verb.WRITE):
            owner = act.thing.owner
            if is_under(act.frame, call.node) and id(owner) in given and not _is_managed(owner):
                yield (
                    of_compiled(call.thing, act),
                    tell(CompiledInputMutated, act, target=_root(act), targets=Target.COMPILE),
                )


def _parts(thing: Thing) -> list[Thing]:
    """What is given with an argument: of a list of caches, each of them."""
    return thing.family() if thing.kind is Kind.CONTAINER else [thing]


def _root(act: Act) -> str:
    return act.thing.owner.name or act.text


def is_under(frame: Frame, node: ast.AST) -> bool:
    while frame.caller is not None:
        if frame.node is node:
            return True
        frame = frame.caller
    return False


def _is_managed(owner: Thing) -> bool:
    """Whether a tensor's address is fixed for the compiler: a parameter, or a result of such a call."""
    return owner.kind is Kind.PARAMETER or any(thing.kind is Kind.COMPILED for thing in owner.made_by)


def host_scalars(story: Story) -> Told:
    """Numbers that reach a compiled function as tensors on the host."""
    for act in story.acts:
        if act.verb is not Verb.CALL or act.thing.kind is not Kind.COMPILED or not has_graphs(act.thing):
            continue
        if any(_is_host_scalar(thing.owner) for thing in act.given):
            yield of_compiled(act.thing, act), tell(FrozenScalar, act, what="host tensor", targets=Target.COMPILE)


def _is_host_scalar(thing: Thing) -> bool:
    """Whether a thing is `torch.tensor(0.5)`, without a device."""
    made = thing.node
    if thing.name != "torch.tensor" or not isinstance(made, ast.Call) or len(made.args) != 1:
        return False
    return isinstance(made.args[0], ast.Constant) and not any(word.arg in ("device", None) for word in made.keywords)


def dynamic(story: Story) -> Told:
    """Dynamic shapes together with graphs."""
    seen: set[int] = set()
    for act in story.acts:
        for thing in (act.thing, *([act.other] if act.other is not None else [])):
            if thing.kind is Kind.COMPILED and id(thing) not in seen and has_graphs(thing) and _is_dynamic(thing):
                seen.add(id(thing))
                yield (
                    of_compiled(thing, act),
                    tell(CompiledDynamic, act, at=thing.call, call=_name(thing), targets=Target.COMPILE),
                )


def _is_dynamic(compiled: Thing) -> bool:
    words = {word.arg: word.value for word in compiled.call.keywords} if compiled.call is not None else {}
    given = words.get("dynamic")
    return isinstance(given, ast.Constant) and given.value is True


LENGTHENING = ("torch.cat", "torch.concat", "torch.hstack", "torch.vstack", "torch.nn.functional.pad")


def growing(story: Story) -> Told:
    """Arguments that a loop makes longer, or counts on, from one call to the next."""
    earlier: dict[int, tuple[int, Act]] = {}
    for index, act in enumerate(story.acts):
        if act.verb is not Verb.CALL or act.thing.kind is not Kind.COMPILED or not has_graphs(act.thing):
            continue
        since, before = earlier.setdefault(id(act.node), (index, act))
        if before is act or not is_next_round(before, act):
            continue
        longer = [old for new in act.given for old in before.given if _lengthens(new, old)]
        if any(not _starts_again(story, old, since, index) for old in longer):
            yield of_compiled(act.thing, act), tell(CompiledDynamic, act, call=act.text, grows=True, targets=Target.COMPILE)
        elif number := counted(before, act):
            found = tell(CompiledDynamic, act, call=act.text, number=number, targets=Target.COMPILE)
            yield of_compiled(act.thing, act), found
            yield from _cut(story, act, number)


def _cut(story: Story, call: Act, number: str) -> Told:
    """Reads in a compiled function whose length a counted argument decides."""
    inner = next((each for each in story.acts if each.frame.body is body(call)), None)
    for node in cut(call, number) if inner is not None else ():
        written, where = ast.unparse(node), inner or call
        found = tell(CompiledDynamic, where, at=node, call=written, number=number, cuts=True, targets=Target.COMPILE)
        yield of_compiled(call.thing, call), found


def _lengthens(new: Thing, old: Thing) -> bool:
    """Whether a tensor is another one with something behind it."""
    parts = [part for made in new.made_by for part in (made, *made.slots.values())]
    return new.name in LENGTHENING and old in parts


def _starts_again(story: Story, old: Thing, since: int, until: int) -> bool:
    """Whether something else may take the place of a tensor before it is made longer: a batch that was handed out."""
    bound = (each for _, each in story.between(since, until, Verb.BIND) if each.other is old)
    return any(each.thing is not old and not _lengthens(each.thing, old) for each in bound)


def clones(story: Story) -> Told:
    """Copies of a result that are made inside, where they are results again."""
    for index, call in enumerate(story.acts):
        if call.verb is not Verb.CALL or call.thing.kind is not Kind.COMPILED or not has_graphs(call.thing):
            continue
        for _, act in story.between(index, len(story.acts), Verb.RETURN):
            if act.frame.node is call.node and _is_clone(act.node):
                yield of_compiled(call.thing, act), tell(CompiledClone, act, target=act.text, targets=Target.COMPILE)


def _is_clone(node: ast.AST) -> bool:
    value = node.value if isinstance(node, ast.Return) else None
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "clone"
